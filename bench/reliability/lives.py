"""The bot's lives, seen from outside: started in a process of their own, killed, waited for."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


class NotStarted(RuntimeError):
    """A life ended before it listened; the message ends with its last words."""


@dataclass
class Life:
    """`ended` gives the exit code, minus the signal's number where one ended it."""

    pid: int
    ended: asyncio.Future[int]

    def kill(self) -> None:
        """As when the machine goes: nothing of it can tidy up."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class Lives:
    """Made by `opened`. One life at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncIterator[Lives]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.reliability.bot_process"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            yield cls(process)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()

    async def begin(self, environment: Mapping[str, str], log: Path) -> tuple[Life, bool]:
        """A new life, and whether it came to listen: it may be killed before. NotStarted where it ended otherwise."""
        assert self._process.stdin is not None
        life = json.dumps({"environment": dict(environment), "log": str(log)})
        self._process.stdin.write(life.encode() + b"\n")
        begun = Life(int(await self._heard("pid")), asyncio.get_running_loop().create_future())
        word, _, rest = (await self._line()).partition(" ")
        if word == "listening":
            begun.ended = asyncio.ensure_future(self._end())
            return begun, True
        if int(rest) != -signal.SIGKILL:
            raise NotStarted(f"the bot ended with {rest}:\n{tail(log)}")
        begun.ended.set_result(int(rest))
        return begun, False

    async def _end(self) -> int:
        return int(await self._heard("ended"))

    async def _heard(self, wanted: str) -> str:
        word, _, rest = (await self._line()).partition(" ")
        assert word == wanted, f"{word} instead of {wanted}"
        return rest

    async def _line(self) -> str:
        assert self._process.stdout is not None
        line = (await self._process.stdout.readline()).decode().strip()
        if not line:
            raise NotStarted("the process that forks the bot is gone")
        return line


def tail(log: Path, lines: int = 30) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""
