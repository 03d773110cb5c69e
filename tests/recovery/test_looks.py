"""Which pull requests a round looks at, where it cannot look at all of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from bot.engine.port import StoreError
from bot.engine.views import Overview, TimerView
from bot.gating.model import PullRequest
from bot.github.adapter import GitHub
from bot.recovery.rounds import MOST_LOOKED_AT, GateEngine, Rounds
from tests.engine.clock import START, ManualClock


class Engine:
    """Live pull requests by key; those in `away` cannot be looked at, as where their installation is suspended."""

    def __init__(self, keys: list[str], away: set[str]) -> None:
        self._keys = keys
        self._away = away
        self.looked: list[str] = []

    async def overview(self) -> Overview:
        return Overview((), (), tuple(TimerView(key, "check", START) for key in self._keys), (), ())

    async def read(self, key: str) -> PullRequest | None:
        self.looked.append(key)
        if key in self._away:
            raise StoreError("away", transient=True)
        return None


async def test_many_that_cannot_be_looked_at_do_not_keep_the_others_waiting() -> None:
    keys = [f"{number:03}" for number in range(MOST_LOOKED_AT + 5)]
    engine = Engine(keys, set(keys[:MOST_LOOKED_AT]))
    github: Any = None
    clock = ManualClock()
    rounds = Rounds(cast(GitHub, github), cast(GateEngine, engine), clock, "perf-gate")
    for _ in range(2):
        await rounds._look_around(clock.now())
        clock.advance(timedelta(minutes=5))
    assert set(engine.looked) == set(keys)
