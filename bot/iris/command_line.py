"""Iris through its command line, where a cluster is reached only by a config (the program opens the tunnel).

Every call costs seconds, nearly all of them imports: HTTP is preferred wherever an address is known.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence

from bot.faults import Fault
from bot.iris import process
from bot.iris.controller import NotFound
from bot.iris.environment import child_environment
from bot.iris.process import Finished
from bot.iris.records import Json
from bot.iris.settings import IrisSettings

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
# The last line of the traceback that the program ends with; the controller's own words, since it drops the code.
_NOT_FOUND = re.compile(r"^connectrpc\.errors\.ConnectError: Job \S+ not found\s*$", re.MULTILINE)
_AT_ONCE = 2


class CommandLineTransport:
    """Calls the controller with `iris rpc controller METHOD --json BODY`."""

    def __init__(self, settings: IrisSettings) -> None:
        self._settings = settings
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def call(self, method: str, body: Json) -> Json:
        command = _HUMP.sub(lambda m: "-" + m[1].lower(), method).lower()
        done = await self._iris("rpc", "controller", command, "--json", json.dumps(body))
        if done.exit_code == 0:
            try:
                answer = json.loads(done.stdout)
            except ValueError as error:
                raise Fault("Iris gave an answer that cannot be read", f"{method}: {error}", retryable=True) from error
            if isinstance(answer, dict):
                return answer
            raise Fault("Iris gave an answer that cannot be read", f"{method}: no object", retryable=True)
        if _NOT_FOUND.search(done.stderr):
            raise NotFound(method)
        raise Fault("Iris could not answer", f"{method}: {_why(done)}", retryable=True)

    async def logs(self, job_id: str, substring: str, most_lines: int) -> Sequence[str]:
        # The program cannot filter, and workers flood: more lines are fetched than are wanted.
        done = await self._iris("job", "logs", job_id, "--tail", "--max-lines", "2000")
        if done.exit_code != 0:
            raise Fault("Iris' logs could not be read", _why(done), retryable=True)
        return [line for line in done.stdout.splitlines() if substring in line][-most_lines:]

    async def task_log(self, task_id: str, most_lines: int) -> Sequence[str]:
        return await self.logs(task_id.rpartition("/")[0], "", most_lines)

    async def _iris(self, *arguments: str) -> Finished:
        settings = self._settings
        settings.home.mkdir(parents=True, exist_ok=True)
        argv = [str(settings.command), *settings.connection_flags, *arguments]
        async with self._slots:
            try:
                return await process.run(
                    argv,
                    cwd=settings.home,
                    environment=child_environment(settings),
                    within=settings.command_timeout,
                    called=" ".join(["iris", *arguments]),
                )
            except OSError as error:
                raise Fault("the iris program cannot be started", f"{settings.command}: {error}") from error


def _why(done: Finished) -> str:
    return "no answer in time" if done.timed_out else f"exit {done.exit_code}: {done.last_words()}"
