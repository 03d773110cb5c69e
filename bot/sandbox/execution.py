"""Starting a caged command, listening to it, and ending it so that nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import timedelta
from typing import IO, Any

import msgspec

from bot.children import CHUNK, Pipe, begin, gone
from bot.sandbox.tail import TailLog
from bot.sandbox.usage import Excess, Usage

_GRACE = 30.0  # seconds for the kernel to end a killed cage's processes


class Ended(msgspec.Struct, frozen=True):
    """`code` is None where the time was over. `signal_byte` is the first byte of output, empty where there was none.
    `excess` says why it was ended, where that was not for its time."""

    code: int | None
    timed_out: bool
    signal_byte: bytes
    excess: Excess | None = None


async def execute(
    command: Callable[[int], list[str]], within: timedelta, output: TailLog, usage: Usage | None = None
) -> Ended:
    """Run `command(status_fd)`, a bwrap command line, for at most `within` and while `usage` lets it; afterwards no
    process of it is left. Raises OSError where this machine lets none begin."""
    process, leader, status = _start(command)
    assert process.stdout is not None  # noqa: S101 — it was asked for
    first = bytearray()
    known: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    watching = asyncio.create_task(_first_process(status, known))
    reading = asyncio.create_task(_pump(process.stdout, output, first))
    ended = asyncio.create_task(_gone(leader, None))
    guarding = asyncio.create_task(_excess(usage, known))
    finishing: asyncio.Future[Any] = asyncio.gather(reading, ended)
    timed_out = False
    try:
        async with asyncio.timeout(within.total_seconds()):
            waiting: set[asyncio.Future[Any]] = {finishing, guarding}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    except TimeoutError:
        timed_out = True
    finally:
        excess = guarding.result() if guarding.done() and not finishing.done() else None
        guarding.cancel()
        await asyncio.wait({guarding})
        # bwrap's end ends the cage's first process, and with that one its whole process namespace.
        if not ended.done():
            os.killpg(process.pid, signal.SIGKILL)
        await ended
        code = process.wait()
        await _gone(await watching, _GRACE)
        with suppress(TimeoutError):
            await asyncio.wait_for(reading, _GRACE)
    return Ended(None if timed_out else code, timed_out, bytes(first), excess)


async def _excess(usage: Usage | None, known: asyncio.Future[int]) -> Excess:
    """Why the command must end now; for as long as there is nothing to say, this does not return."""
    first = await known
    if usage is None:
        never: asyncio.Future[Excess] = asyncio.get_running_loop().create_future()
        return await never
    return await usage.exceeded(first)


def _start(command: Callable[[int], list[str]]) -> tuple[subprocess.Popen[bytes], int, int]:
    """The process, a pidfd of it and the reading end of its status pipe.

    The environment is empty, because the cage's first process shows its own to all others.
    """
    status, inherited = os.pipe()
    with ExitStack() as unless_started:
        unless_started.callback(os.close, status)
        try:
            process, leader = begin(
                command(inherited), env={}, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, pass_fds=(inherited,)
            )
        finally:
            os.close(inherited)
        unless_started.pop_all()
    return process, leader, status


async def _pump(pipe: IO[bytes], output: TailLog, first: bytearray) -> None:
    """Feed all but the first byte, where that is the cage's signal, to `output`."""
    with Pipe(pipe) as reader:
        while data := await reader.read(CHUNK):
            if not first:
                first += data[:1]
                data = data[1:] if data[:1] in b"+-" else data
            output.feed(data)


async def _first_process(status: int, known: asyncio.Future[int]) -> int | None:
    """A pidfd of the cage's first process, from the first of bwrap's status lines, once bwrap has written its last.
    Its id becomes `known` at once."""
    pidfd = None
    with Pipe(os.fdopen(status, "rb")) as reader:
        with suppress(ProcessLookupError, ValueError, KeyError):  # it is gone already, or bwrap never came so far
            pid = json.loads(await reader.readline())["child-pid"]
            pidfd = os.pidfd_open(pid)
            if not known.done():
                known.set_result(pid)
        # bwrap tells the exit code later on, and dies of a closed pipe.
        await reader.read()
    return pidfd


async def _gone(pidfd: int | None, patience: float | None) -> None:
    """Return when that process has ended. The first of a process namespace ends after all others in it have."""
    if pidfd is None:
        return
    try:
        async with asyncio.timeout(patience):
            await gone(pidfd)
    except TimeoutError:
        return  # stuck in the kernel: it runs no code any more
    finally:
        os.close(pidfd)
