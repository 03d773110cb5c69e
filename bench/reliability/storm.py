"""One storm: the main job while GitHub, Iris, the bucket and the deliveries fail in every way that is known of them.

In this process, on a clock that the storm moves: hours pass in a second, and what hangs is outlived at once.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from bench.reliability.folders import make
from bench.reliability.plain import plain
from bench.reliability.weather import Weather
from tests.conversations.heard import SENTINEL
from tests.conversations.reports import STAGES
from tests.conversations.world import CONFIG, World, world

BUCKET = "marin-us-central1"
MOST_STEPS = 400
"""Things that come due until a step of the story is given up as lost."""
ROUND = timedelta(minutes=5)
FAR = timedelta(days=1)
OUTLIVED = timedelta(minutes=21)
"""Longer than any effect that asks GitHub or Iris may take."""


class Lost(Exception):
    """The story does not go on; the message says where it stands."""


@dataclass
class Told:
    """What a storm left. `virtual` is how long the story took on its own clock."""

    comments: Counter[str]
    reactions: list[list[str]]
    submissions: int
    faults: Counter[str]
    violations: list[str]
    dead: int
    virtual: timedelta


@dataclass
class Storm:
    """`seed` None: the calm run."""

    scene: World
    weather: Weather | None
    next_round: datetime = field(init=False)
    _under_way: bool = False
    _shards: int = 0

    def __post_init__(self) -> None:
        self.next_round = self.scene.clock.now() + ROUND

    async def play(self) -> None:
        await self._says("@perf-gate", lambda: self._sees("Proposed max_gate"))
        await self._says("@perf-gate status", lambda: self._sees("<!-- perf-gate:reply"))
        await self._says("@perf-gate go", lambda: bool(self.scene.iris.jobs) and self._stands("watching the ferry"))
        self._changes()
        self._under_way = True
        self._ferry_moves()
        await self._until(lambda: self._stands("| 5m 00s | done |"), "the first look at the ferry")
        self._changes()
        self._under_way = False
        self.scene.iris.finish(STAGES)
        await self._until(lambda: self._stands("**Verdict:** ✅ pass"), "the verdict")
        await self._says("@perf-gate stop", lambda: self._sees("no run to stop"))
        if self.weather is not None:
            self.weather.ends()
        await self._until(self._nothing_open, "the end of all that is open")

    # ---- the story's steps

    async def _says(self, body: str, then: Callable[[], bool]) -> None:
        self._changes()
        await self.scene.sim.comment(self.scene.repository, self.scene.pull.number, "rev", body)
        await self._until(then, f"the answer to {body}")

    def _changes(self) -> None:
        if self.weather is not None:
            self.weather.changes()

    def _sees(self, text: str) -> bool:
        return any(text in comment.body for comment in self.scene.comments())

    def _stands(self, text: str) -> bool:
        return any(text in comment.body for comment in self.scene.comments() if comment.body.startswith(SENTINEL))

    def _nothing_open(self) -> bool:
        return not self._open

    # ---- time

    async def _until(self, holds: Callable[[], bool], what: str) -> None:
        clock = self.scene.clock
        for _ in range(MOST_STEPS):
            await self._rest()
            if holds():
                return
            self._ferry_moves()
            due = await self.scene.app.engine.next_due()
            near = due if due is not None and due - clock.now() < FAR else None
            clock.move_to(max(clock.now(), min(near or self.next_round, self.next_round)))
            if self.weather is not None:
                await self.weather.passes()
            if clock.now() >= self.next_round:
                self.next_round = clock.now() + ROUND
                await self._round()
        raise Lost(f"waiting for {what} at {clock.now()}: {[c.body[:300] for c in self.scene.comments()]}")

    def _ferry_moves(self) -> None:
        """A ferry that is under way has just begun a stage and is further at every look: no stall, nothing too slow."""
        if self._under_way and not self.scene.iris.last.finished:
            self._shards += 1
            iris = self.scene.iris
            iris.last.work = None
            iris.at_work("normalize", {"download": STAGES["download"]}, done=self._shards, total=10 * MOST_STEPS)

    async def _round(self) -> None:
        """Its requests have no deadline but the client's own, in real seconds: nothing hangs meanwhile."""
        with self.weather.answering() if self.weather is not None else nullcontext():
            await self.scene.app.rounds.make()

    async def _rest(self) -> None:
        await self._outliving(self.scene.settle())
        overview = await self.scene.app.engine.overview()
        self._open = bool(overview.effects or overview.timers or overview.deliveries or overview.slots)

    async def _outliving(self, acting: Awaitable[None]) -> None:
        """Until it is done; what hangs is outlived."""
        task = asyncio.ensure_future(acting)
        while not task.done():
            if self.weather is None:
                await task
                return
            hanging = asyncio.ensure_future(self.weather.hangs())
            await asyncio.wait((task, hanging), return_when=asyncio.FIRST_COMPLETED)
            if hanging.done() and not task.done():
                self.scene.clock.advance(OUTLIVED)
            hanging.cancel()
            with suppress(asyncio.CancelledError):
                await hanging
        await task


@dataclass
class Storms:
    """`differing` storms ended with other comments or reactions than the calm run, `lost` ones did not end."""

    runs: int = 0
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    dead: int = 0
    violations: int = 0
    virtual: timedelta = timedelta()
    faults: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        wrong = f"{self.lost} lost, {self.doubled} doubled, {self.differing} differing, {self.violations} violations"
        return f"{self.runs} storms, {self.faults.total()} faults, {wrong}"


async def storms(folder: Path, seeds: Iterable[int], tell: Callable[[Storms], None] = lambda _: None) -> Storms:
    """Play one for each seed, and compare each with the calm run; `tell` hears of every 25th."""
    calm, tally = await storm(folder / "calm", None), Storms()
    for seed in seeds:
        if tally.runs and tally.runs % 25 == 0:
            tell(tally)
        tally.runs += 1
        try:
            told = await storm(folder / f"seed-{seed}", seed)
        except Lost as lost:
            tally.lost += 1
            tally.problems.append(f"storm {seed}: {lost}")
            continue
        tally.doubled += told.submissions - calm.submissions
        tally.dead += told.dead
        tally.violations += len(told.violations)
        tally.virtual += told.virtual
        tally.faults += told.faults
        tally.problems += [f"storm {seed}: {violation}" for violation in told.violations]
        if (told.comments, told.reactions) != (calm.comments, calm.reactions):
            tally.differing += 1
            said = sorted((told.comments - calm.comments).elements())
            missing = sorted((calm.comments - told.comments).elements())
            tally.problems.append(f"storm {seed}: reactions {told.reactions}, said {said}, missing {missing}")
    return tally


async def storm(folder: Path, seed: int | None) -> Told:
    """Play one, calm without a seed. Raises Lost."""
    make(folder)
    async with world(folder, config=CONFIG, perf_reports=f"gs://{BUCKET}/reports", paced=True) as scene:
        # As google-cloud-storage wants to be told.
        os.environ["STORAGE_EMULATOR_HOST"] = scene.sim.storage_url
        scene.sim.create_bucket(BUCKET)
        await scene.scheduled_run()
        weather = None if seed is None else Weather(scene, Random(seed))
        playing, began = Storm(scene, weather), scene.clock.now()
        try:
            await playing.play()
            # The scene's own last look would only say that there are some.
            violations = list(scene.sim.world.violations)
            scene.sim.world.violations.clear()
            return Told(
                comments=Counter(plain(comment.body) for comment in scene.comments()),
                reactions=[
                    sorted(reaction.content for reaction in comment.reactions)
                    for comment in scene.sim.comments(scene.repository, scene.pull.number, by="rev")
                ],
                submissions=scene.iris.submissions if weather is None else len(scene.iris.jobs),
                faults=Counter() if weather is None else weather.met(),
                violations=violations,
                dead=(await scene.app.engine.overview()).dead,
                virtual=scene.clock.now() - began,
            )
        finally:
            del os.environ["STORAGE_EMULATOR_HOST"]
            scene.sim.clear_faults()
            scene.new_comments()
