"""A cage's pipes and processes: each descriptor is closed once, as a second close hits another thread's file, and no
process is left behind."""

from __future__ import annotations

import errno
import os
from datetime import timedelta
from io import FileIO
from pathlib import Path

import pytest

from bot.sandbox.execution import Pipe, execute
from bot.sandbox.tail import TailLog


class Watched(FileIO):
    """Notices when something else had closed it before its own close."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "rb")
        self.closed_before: list[bool] = []

    def close(self) -> None:
        if not self.closed:
            try:
                os.fstat(self.fileno())
            except OSError:
                self.closed_before.append(True)
            else:
                self.closed_before.append(False)
        super().close()


async def test_a_pipe_is_read_to_its_end_and_closed_once() -> None:
    read, write = os.pipe()
    watched = Watched(read)
    os.write(write, b"one\ntwo")
    os.close(write)
    with Pipe(watched) as reader:
        assert await reader.readline() == b"one\n"
        assert await reader.read() == b"two"
    assert watched.closed_before == [False]


async def test_a_pipe_that_is_left_early_is_closed_too() -> None:
    read, write = os.pipe()
    watched = Watched(read)
    with Pipe(watched):
        os.write(write, b"one")
    os.close(write)
    assert watched.closed_before == [False]


async def test_a_command_whose_end_could_not_be_seen_is_ended_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def refuse(pid: int) -> int:
        begun.append(pid)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", refuse)
    output = TailLog(tmp_path / "log")
    try:
        with pytest.raises(OSError, match="Too many open files"):
            await execute(lambda _: ["/bin/sleep", "60"], timedelta(minutes=1), output)
    finally:
        output.close()
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)
