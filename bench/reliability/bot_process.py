"""The bot as it is deployed, with a clock that can be moved, points to die at, and a page that says when it rests.

    python -m bench.reliability.bot_process

reads one line of JSON on its standard input for each life: {"environment": {…}, "log": PATH}. It forks, the child is
`perf-gate serve` in that environment, and lines come back: "pid N", "listening", and "ended N" (minus the signal's
number, where one ended it). The imports alone are shared: a second of start for each of some hundred lives.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import uvloop
from aiohttp import web

import bot.serving
from bench.reliability.hooks import put_points
from bench.reliability.points import Points
from bot.app import App, open_app
from bot.config.environment import load_settings
from bot.config.settings import Settings
from bot.engine.port import Engine
from bot.recovery.rounds import Rounds
from bot.server.listening import Listening

OFFSET, TRACE, AT, ANY_OF = (f"BENCH_{name}" for name in ("OFFSET", "TRACE", "AT", "ANY_OF"))

BEAT = timedelta(milliseconds=200)


class MovedClock:
    """Wall time and an offset, which the page moves on."""

    def __init__(self, offset: timedelta) -> None:
        self._offset = offset
        self._moved = asyncio.Event()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._offset

    def move(self, by: timedelta) -> None:
        self._offset += by
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def wait(self, wake: asyncio.Event, until: datetime | None) -> None:
        while not wake.is_set():
            left = None if until is None else (until - self.now()).total_seconds()
            if left is not None and left <= 0:
                return
            sides = [asyncio.ensure_future(event.wait()) for event in (wake, self._moved)]
            try:
                await asyncio.wait(sides, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for side in sides:
                    side.cancel()


class Rest:
    """When the bot has nothing to do: no effect, no delivery, no timer is due, and no round of recovery is on."""

    def __init__(self) -> None:
        self._rounds = 0
        self._quiet = asyncio.Event()

    def watch(self, make: Callable[[Rounds], Awaitable[None]]) -> Callable[[Rounds], Coroutine[Any, Any, None]]:
        async def making(rounds: Rounds) -> None:
            self._quiet.clear()
            try:
                await make(rounds)
            finally:
                self._rounds += 1
                self._quiet.set()

        return making

    async def come(self, engine: Engine[Any, Any]) -> int:
        """Returns how many rounds were made."""
        while True:
            # The first round comes with the start.
            await self._quiet.wait()
            await engine.idle()
            if self._quiet.is_set():
                return self._rounds


def pages(rest: Rest, clock: MovedClock, engine: Engine[Any, Any]) -> list[web.RouteDef]:
    async def resting(_: web.Request) -> web.Response:
        rounds = await rest.come(engine)
        due = await engine.next_due()
        return web.json_response({"rounds": rounds, "next_due": None if due is None else due.isoformat()})

    async def moving(request: web.Request) -> web.Response:
        clock.move(timedelta(seconds=(await request.json())["by"]))
        return web.json_response({})

    return [web.get("/bench/rest", resting), web.post("/bench/move", moving)]


def _look_often() -> None:
    """Processes that share a database look for the dead every few seconds; a trial has not that much time."""
    from bot.engine.postgres import PostgresEngine, Pulse

    PostgresEngine.open = partial(PostgresEngine.open, pulse=Pulse(beat=BEAT))  # type: ignore[method-assign]


def _live(report: int) -> None:
    """One life: `perf-gate serve` with what is wrapped around it; `report` is the descriptor that hears of it."""
    anywhere = frozenset(name for name in os.environ.get(ANY_OF, "").split("\n") if name)
    if "PERF_GATE_DATABASE_URL" in os.environ:
        _look_often()
    put_points(Points(Path(os.environ[TRACE]), os.environ.get(AT, ""), anywhere))
    settings = load_settings()

    async def serving() -> None:
        clock, rest = MovedClock(timedelta(seconds=float(os.environ[OFFSET]))), Rest()
        Rounds.make = rest.watch(Rounds.make)  # type: ignore[method-assign, assignment]
        starting = Listening.start

        async def started(listening: Listening, host: str, port: int) -> int:
            bound = await starting(listening, host, port)
            os.write(report, b"listening\n")
            return bound

        @asynccontextmanager
        async def opened(settings: Settings) -> AsyncIterator[App]:
            async with open_app(settings, clock) as app:
                app.web.add_routes(pages(rest, clock, app.engine))
                yield app

        # `serve` looks it up in its own module.
        bot.serving.open_app = opened  # type: ignore[attr-defined, assignment]
        Listening.start = started  # type: ignore[method-assign, assignment]
        await bot.serving.serve(settings)

    uvloop.run(serving())


def _child(life: dict[str, Any]) -> NoReturn:
    """Never returns into the parent's loop, whatever happens."""
    status = 1
    try:
        os.setsid()
        report = os.dup(1)
        log = os.open(life["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for descriptor in (1, 2):
            os.dup2(log, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(life["environment"])
        _live(report)
        status = 0
    finally:
        sys.stderr.flush()
        if status:
            import traceback

            traceback.print_exc()
        os._exit(status)


def main() -> None:
    for line in sys.stdin:
        life = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(life)
        print(f"pid {pid}", flush=True)
        _, ended = os.waitpid(pid, 0)
        print(f"ended {os.waitstatus_to_exitcode(ended)}", flush=True)


if __name__ == "__main__":
    main()
