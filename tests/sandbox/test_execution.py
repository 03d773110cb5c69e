"""Reading a cage's pipes: each descriptor is closed once. Twice, and the second close hits another thread's file."""

from __future__ import annotations

import os
from io import FileIO

from bot.sandbox.execution import Pipe


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
