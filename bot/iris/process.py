"""One child process, bounded in time and output; its whole group ends with it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import msgspec

from bot import journal

LARGEST_OUTPUT = 32 * 1024 * 1024
_CHUNK = 64 * 1024


class Cage(Protocol):
    """Wraps a command so that it sees `tree` read-only, `writable`, its tools and the network, and nothing else."""

    def __call__(
        self, argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
    ) -> list[str]: ...


class Finished(msgspec.Struct, frozen=True):
    """`exit_code` is None when the time was over and the process group was killed."""

    exit_code: int | None
    stdout: str
    stderr: str

    @property
    def timed_out(self) -> bool:
        return self.exit_code is None

    def last_words(self, lines: int = 3, characters: int = 500) -> str:
        """The end of what it complained of, on one line."""
        said = [line.strip() for line in (self.stderr or self.stdout).splitlines() if line.strip()]
        return " ".join(said[-lines:])[-characters:]


async def run(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], within: timedelta, called: str
) -> Finished:
    """Run to the end or for as long as `within`; `called` names it in the journal. Raises OSError when the program
    cannot be started."""
    with journal.child(called) as ran:
        finished = await _run(argv, cwd, environment, within)
        ran.ended(finished.exit_code, "\n".join(part for part in (finished.stdout, finished.stderr) if part))
        return finished


async def _run(argv: Sequence[str], cwd: Path, environment: Mapping[str, str], within: timedelta) -> Finished:
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=dict(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    reading = asyncio.gather(_read(process.stdout), _read(process.stderr))
    exit_code: int | None = None
    stdout, stderr = b"", b""
    try:
        async with asyncio.timeout(within.total_seconds()):
            stdout, stderr = await reading
            exit_code = await process.wait()
    except TimeoutError:
        exit_code = None
    finally:
        # Also on cancellation; a child that outlives its parent would go on submitting.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return Finished(exit_code, stdout.decode(errors="replace"), stderr.decode(errors="replace"))


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    """All of a stream, of which more than LARGEST_OUTPUT is dropped."""
    kept = bytearray()
    while stream is not None and (chunk := await stream.read(_CHUNK)):
        kept += chunk[: LARGEST_OUTPUT - len(kept)]
    return bytes(kept)
