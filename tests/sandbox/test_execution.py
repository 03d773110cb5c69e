"""A cage's pipes and processes: each descriptor is closed once, as a second close hits another thread's file, and no
process is left behind."""

from __future__ import annotations

import errno
import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.sandbox.execution import execute
from bot.sandbox.tail import TailLog


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
