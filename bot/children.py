"""Child processes: begun quickly, bounded in time and output, and ended with all that they began.

By subprocess and not the event loop's own way: uvloop forks, which copies the page tables of this process's whole
memory while nothing else happens, and hands every inheritable descriptor on. Popen begins them by vfork.
Source: https://docs.python.org/3/library/subprocess.html#subprocess.Popen
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

CHUNK = 2**16
"""Bytes of a pipe: what it holds."""


class Said(msgspec.Struct):
    """The beginning of what a child wrote to one of its outputs; `whole`: all of it."""

    text: bytes = b""
    whole: bool = True


class Ended(msgspec.Struct, frozen=True):
    """`code` is None where its time was over, and as `subprocess` has it otherwise: negative for a signal."""

    code: int | None
    output: Said
    errors: Said


async def run(
    argv: Sequence[str | bytes],
    *,
    environment: Mapping[str, str],
    seconds: float,
    most_output: int,
    most_errors: int,
    stdin: bytes = b"",
    cwd: Path | None = None,
) -> Ended:
    """Run to its end, for `seconds` at most; afterwards no process of its group is left, nor after a cancellation.

    Of its outputs so many bytes are kept; the rest is taken from it, so that it can end. Raises OSError where it cannot
    be begun.
    """
    with given(stdin) as source:
        process, leader = begin(argv, env=environment, stdin=source, stderr=subprocess.PIPE, cwd=cwd)
    assert process.stdout is not None  # noqa: S101 - they were asked for
    assert process.stderr is not None  # noqa: S101
    output, errors = Said(), Said()
    timed_out = False
    try:
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as both:
            both.create_task(_keep(process.stdout, most_output, output))
            both.create_task(_keep(process.stderr, most_errors, errors))
            await gone(leader)
    except TimeoutError:
        timed_out = True
    finally:
        code = await asyncio.shield(asyncio.ensure_future(_end(process, leader)))
    return Ended(None if timed_out else code, output, errors)


def begin(
    argv: Sequence[str | bytes],
    *,
    env: Mapping[str, str],
    stdin: int,
    stderr: int,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> tuple[subprocess.Popen[bytes], int]:
    """A process with a group of its own and its output in a pipe, and a pidfd of it. `stdin` and `stderr` as for Popen.

    Raises OSError where this machine lets none begin, or where its end could not be seen: then it is ended at once.
    """
    with ExitStack() as unless_begun, ExitStack() as its_own:
        # Where descriptors run out, Python 3.11.2 loses the pipes that it makes itself (python/cpython#87474).
        heard, output = _pipe(unless_begun, its_own)
        complained, errors = _pipe(unless_begun, its_own) if stderr == subprocess.PIPE else (None, stderr)
        process = subprocess.Popen(
            argv,
            env=env,
            stdin=stdin,
            stdout=output,
            stderr=errors,
            cwd=cwd,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        process.stdout, process.stderr = heard, complained
        its_own.close()
        try:
            leader = os.pidfd_open(process.pid)
        except OSError:
            _kill_group(process.pid)
            process.communicate()
            raise
        unless_begun.pop_all()
    return process, leader


@contextmanager
def given(stdin: bytes) -> Iterator[int]:
    """What a child is to read, as a descriptor for `begin`.

    A file in memory: a pipe has to be fed beside the reading, and breaks where the child ends unread.
    """
    if not stdin:
        yield subprocess.DEVNULL
        return
    with os.fdopen(os.memfd_create("stdin"), "wb") as file:
        file.write(stdin)
        file.seek(0)
        yield file.fileno()


async def gone(pidfd: int) -> None:
    """Return when that process has ended, which still is to be waited for."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(pidfd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(pidfd)


class Pipe:
    """`with Pipe(file) as reader`: the reading end of a pipe as a stream; leaving closes the file.

    Not the loop's `connect_read_pipe`: uvloop closes the descriptor and then the file, and in between another thread
    may have been given the same number for a file of its own (uvloop/handles/handle.pyx, `UVSocketHandle._close`).
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader()

    def __enter__(self) -> asyncio.StreamReader:
        os.set_blocking(self._file.fileno(), False)
        self._loop.add_reader(self._file.fileno(), self._readable)
        return self._reader

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._file.fileno())
        self._file.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._file.fileno(), CHUNK)
        except BlockingIOError:
            return
        if data:
            self._reader.feed_data(data)
        else:
            self._loop.remove_reader(self._file.fileno())
            self._reader.feed_eof()


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[IO[bytes], int]:
    """Its reading end, and the number of its writing end; each is closed with what it is handed to."""
    read, write = os.pipe()
    writer.callback(os.close, write)
    return reader.enter_context(os.fdopen(read, "rb")), write


async def _keep(pipe: IO[bytes], most: int, said: Said) -> None:
    parts, size = [], 0
    with Pipe(pipe) as reader:
        try:
            while part := await reader.read(CHUNK):
                if size < most:
                    parts.append(part[: most - size])
                size += len(part)
        finally:
            said.text, said.whole = b"".join(parts), size <= most


async def _end(process: subprocess.Popen[bytes], leader: int) -> int:
    """Before it is waited for, its number is nobody else's. What it was beginning while the first signal went round is
    in the group by the second. The pipes are closed where nobody came to read them."""
    with process:
        _kill_group(process.pid)
        await gone(leader)
        _kill_group(process.pid)
        os.close(leader)
        return process.wait()


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
