"""Several processes, one round of recovery: their number costs no requests, and none of them is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from bot.engine.port import StoreError
from bot.engine.views import Overview
from bot.recovery.missed import FIRST_WAIT
from bot.recovery.rounds import GateEngine, Rounds
from tests.conversations.world import World, world

EVERY = timedelta(minutes=5)


class Store:
    """The engine's own; the calls named in `away` find that its store does not answer."""

    def __init__(self, engine: GateEngine, away: set[str]) -> None:
        self._engine = engine
        self._away = away

    def __getattr__(self, name: str) -> Any:
        if name in self._away:
            return self._nobody
        return getattr(self._engine, name)

    async def _nobody(self) -> Overview:
        raise StoreError("the store does not answer", transient=True)


class Process(Rounds):
    """Its rounds, and what it heard when it asked for its turn, as a test can wait for them."""

    def __init__(self, scene: World) -> None:
        self.away: set[str] = set()
        engine = cast(GateEngine, Store(scene.app.engine, self.away))
        super().__init__(scene.app.rooms.github, engine, scene.clock, "perf-gate")
        self.rounds: asyncio.Queue[None] = asyncio.Queue()
        self.turns: asyncio.Queue[bool] = asyncio.Queue()

    async def make(self) -> None:
        await super().make()
        self.rounds.put_nowait(None)

    async def _ours(self, every: timedelta) -> bool:
        ours = await super()._ours(every)
        self.turns.put_nowait(ours)
        return ours

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """It makes its first round, whoever else made one."""
        keeping = asyncio.create_task(self.keep(EVERY))
        await self.turns.get()
        await self.rounds.get()
        yield
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


async def test_of_two_processes_one_makes_each_round_and_the_other_goes_on_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        one, other = Process(scene), Process(scene)
        async with one.living():
            async with other.living():
                for _ in range(3):
                    scene.clock.advance(EVERY)
                    ours, theirs = await one.turns.get(), await other.turns.get()
                    assert ours != theirs
                    await (one if ours else other).rounds.get()
                    assert one.ended_at is not None
                    assert scene.clock.now() - one.ended_at < 2 * EVERY, "a round that another makes is a round"
            scene.clock.advance(EVERY)
            assert await one.turns.get()
            await one.rounds.get()


async def test_what_was_said_during_a_restart_is_looked_for_soon_after_it(tmp_path: Path) -> None:
    """The first round comes too early for it: a delivery of this minute may still be under way."""
    async with world(tmp_path) as scene:
        scene.sim.lose_deliveries(event="issue_comment")
        await scene.says("rev", "@perf-gate")
        process = Process(scene)
        async with process.living():
            scene.clock.advance(FIRST_WAIT + timedelta(seconds=20))
            assert await process.turns.get()
            await process.rounds.get()
            await scene.settle()
            assert "waiting for an answer" in scene.canonical()
            assert "assessment" in scene.reply()


async def test_a_store_that_is_away_for_a_round_ends_no_process(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        process = Process(scene)
        process.away.add("overview")
        async with process.living():
            process.away.clear()
            scene.clock.advance(EVERY)
            assert await process.turns.get()
            await process.rounds.get()
