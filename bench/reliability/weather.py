"""The weather of a storm: which faults come when, seeded; each is one that GitHub, Iris, a bucket or a network has."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from simulator.faults import Fault
from tests.conversations.world import World

COMMENTS, PULLS = "*/issues/*/comments", "*/pulls/*"
# Name → what the simulator is told; `times` is drawn where it is a pair.
GITHUB: dict[str, dict[str, Any]] = {
    "500": {"kind": "status", "status": 500, "times": (1, 3)},
    "502": {"kind": "status", "status": 502, "times": (1, 3)},
    "503": {"kind": "status", "status": 503, "times": (1, 3)},
    "503 to git": {"kind": "status", "status": 503, "path": "*.git/*", "times": (1, 2)},
    "503 to the bucket": {"kind": "status", "status": 503, "path": "/storage/*", "times": (1, 2)},
    "503 to an artifact": {"kind": "status", "status": 503, "path": "*/artifacts/*", "times": (1, 2)},
    "502 after a write": {"kind": "status_after", "method": "POST", "path": COMMENTS, "times": (1, 2)},
    "502 after an edit": {"kind": "status_after", "method": "PATCH", "times": (1, 2)},
    "connection lost before": {"kind": "drop", "times": (1, 3)},
    "connection lost after a write": {"kind": "drop_after", "method": "POST", "path": COMMENTS, "times": (1, 2)},
    "connection lost after an edit": {"kind": "drop_after", "method": "PATCH", "times": (1, 2)},
    "no answer": {"kind": "hold", "path": COMMENTS, "times": (1, 1)},
    "no answer to a read": {"kind": "hold", "method": "GET", "path": PULLS, "times": (1, 1)},
    "403 primary limit": {"kind": "primary_limit", "status": 403, "times": (1, 1)},
    "429 primary limit": {"kind": "primary_limit", "status": 429, "times": (1, 1)},
    "403 secondary limit": {"kind": "secondary_limit", "status": 403, "seconds": 90, "times": (1, 2)},
    "429 secondary limit": {"kind": "secondary_limit", "status": 429, "seconds": 30, "times": (1, 2)},
    "secondary limit, untold": {"kind": "secondary_limit", "status": 403, "times": (1, 1)},
    "404 after the webhook": {
        "kind": "status",
        "method": "GET",
        "path": PULLS,
        "status": 404,
        "message": "Not Found",
        "times": (1, 4),
    },
    "stale listing": {"kind": "stale", "method": "GET", "path": COMMENTS, "times": (1, 3)},
    "301 or 307": {"kind": "moved", "path": "/repos/*", "times": (1, 3)},
}


@dataclass
class Weather:
    """`changes` before each step of the story, `passes` as time does."""

    scene: World
    random: Random
    _faults: list[tuple[str, Fault]] = field(default_factory=list)
    _others: Counter[str] = field(default_factory=Counter)
    _outlived: set[int] = field(default_factory=set)
    _iris_back: datetime | None = None
    _held_until: datetime | None = None

    def changes(self) -> None:
        """Up to four new troubles, one at most with the deliveries and one with Iris."""
        for name in self.random.sample(sorted(GITHUB), self.random.randint(0, 3)):
            self._github(name)
        if self.random.random() < 0.5:
            self.random.choice([self._lose, self._duplicate, self._delay])()
        if self.random.random() < 0.5:
            self.random.choice([self._iris_errs, self._iris_hangs, self._iris_leaves, self._answer_lost])()
        if self.random.random() < 0.2:
            self._expire()

    async def passes(self) -> None:
        """What lasts for a time is over when it is."""
        now = self.scene.clock.now()
        if self._iris_back is not None and now >= self._iris_back:
            self.scene.iris.silent, self._iris_back = False, None
        if self._held_until is not None and now >= self._held_until:
            self._held_until = None
            await self.scene.sim.release_deliveries(reverse=True)

    async def hangs(self) -> None:
        """Return when somebody waits for an answer that will not come."""
        iris = asyncio.ensure_future(self.scene.iris.hanging.wait())
        github = asyncio.ensure_future(self.scene.sim.wait_for(lambda: bool(self._waiting())))
        try:
            await asyncio.wait((iris, github), return_when=asyncio.FIRST_COMPLETED)
            self.scene.iris.hanging.clear()
            self._outlived |= {fault.id for fault in self._waiting()}
        finally:
            iris.cancel()
            github.cancel()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """GitHub answers everything meanwhile, if only with an error."""
        silent = [(fault, fault.times) for _, fault in self._faults if fault.kind == "hold"]
        for fault, _ in silent:
            fault.times = 0
        yield
        for fault, times in silent:
            fault.times = times

    def ends(self) -> None:
        """What has not come by now comes no more; what lasts goes on until it is over."""
        for _, fault in self._faults:
            fault.times = 0

    def met(self) -> Counter[str]:
        """Faults that somebody met, by name."""
        met = Counter(self._others)
        for name, fault in self._faults:
            met[name] += fault.hits
        return +met

    # ---- troubles

    def _waiting(self) -> list[Fault]:
        return [f for _, f in self._faults if f.kind == "hold" and f.hits and f.id not in self._outlived]

    def _github(self, name: str) -> None:
        details = dict(GITHUB[name])
        details["times"] = self.random.randint(*details["times"])
        self._faults.append((name, self.scene.sim.fault(**details)))

    def _expire(self) -> None:
        self._others["expired token"] += len(self.scene.sim.world.tokens)
        self.scene.sim.world.tokens.clear()

    def _lose(self) -> None:
        self._others["lost delivery"] += 1
        self.scene.sim.lose_deliveries()

    def _duplicate(self) -> None:
        self._others["doubled delivery"] += 2
        self.scene.sim.duplicate_deliveries(2)

    def _delay(self) -> None:
        """Late, and the newest first."""
        self._others["late deliveries, reversed"] += 1
        self.scene.sim.hold_deliveries()
        self._held_until = self.scene.clock.now() + timedelta(minutes=self.random.randint(1, 20))

    def _iris_errs(self) -> None:
        statuses = [self.random.choice((500, 502, 503)) for _ in range(self.random.randint(1, 4))]
        self._others["Iris error"] += len(statuses)
        self.scene.iris.errors += statuses

    def _iris_hangs(self) -> None:
        self._others["Iris hangs"] += 1
        self.scene.iris.hangs += 1

    def _iris_leaves(self) -> None:
        self._others["Iris unreachable for an hour"] += 1
        self.scene.iris.silent = True
        self._iris_back = self.scene.clock.now() + timedelta(hours=1)

    def _answer_lost(self) -> None:
        self._others["Iris' answer to a submission lost"] += 1
        self.scene.iris.lose_answers += 1
