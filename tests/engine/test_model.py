"""Random histories, restarts among them: the engine does what the model says, step by step."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.engine.rush import Rush
from tests.engine.clock import ManualClock
from tests.engine.model import ATTEMPTS, Model
from tests.engine.script import Act, Alarm, Do, Wish, delivery
from tests.engine.shells import FORGET, SHELLS
from tests.engine.stage import MINUTE, Flaky, Hands, Stage, playing

T = TypeVar("T")
KEYS = ("a", "b")
HISTORIES = {"postgres": 25, "sqlite": 80}
"""A database of its own for each history takes PostgreSQL longer than a file takes SQLite."""
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


@dataclass(frozen=True)
class Advance:
    key: str
    event: Do


@dataclass(frozen=True)
class Deliver:
    events: tuple[tuple[str, Do], ...]


@dataclass(frozen=True)
class Pass:
    time: timedelta


Step = Advance | Deliver | Pass
Session = list[Step]


def some(of: st.SearchStrategy[T], most: int = 2) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(of, max_size=most).map(tuple)


keys = st.sampled_from(KEYS)
waits = st.integers(0, 4).map(lambda minutes: minutes * MINUTE)
effect_ids = st.sampled_from([f"x{number}" for number in range(12)])


# Composites, not `builds`: hypothesis prints nested builds in exponential time, and a failure must be readable.
@st.composite
def acts(draw: st.DrawFn) -> Act:
    return Act(
        id=draw(effect_ids),
        kind="narrow",
        scope=draw(st.sampled_from(["run1", "run2"])),
        coalesce=draw(st.sampled_from(["", "", "publish"])),
        after=draw(st.none() | waits),
    )


@st.composite
def events(draw: st.DrawFn, depth: int) -> Do:
    """Events whose timers and grants bring further events, to a depth."""
    if not depth:
        return Do("leaf")
    slots = draw(some(st.tuples(st.sampled_from(["oven", "van"]), st.sampled_from("hijk"))))
    timers = draw(some(st.tuples(st.sampled_from("tu"), waits)))
    return Do(
        draw(st.sampled_from(["one", "two", "three"])),
        effects=draw(some(acts(), 3)),
        revoke=draw(some(st.sampled_from(["run1", "run2"]), 1)),
        timers=tuple(Alarm(name, after, draw(events(depth - 1))) for name, after in timers),
        cancel=draw(some(st.sampled_from("tu"), 1)),
        acquire=tuple(Wish(slot, holder, draw(events(depth - 1))) for slot, holder in slots),
        release=draw(some(st.sampled_from("hijk"))),
    )


any_event = events(2)
steps = st.one_of(
    st.builds(Advance, keys, any_event),
    st.builds(Deliver, some(st.tuples(keys, any_event), 3)),
    st.builds(Pass, st.integers(1, 6).map(lambda minutes: minutes * MINUTE)),
)
sessions = st.lists(st.lists(steps, max_size=6), min_size=1, max_size=3)


class Comparison:
    """Takes each step with the engine and with the model, and compares all that can be seen."""

    def __init__(self, failures: dict[str, int]) -> None:
        self.clock = ManualClock()
        self.hands = Hands()
        self.hands.errors = {name: [Flaky() for _ in range(count)] for name, count in failures.items()}
        self._model = Model(self.clock.now(), failures)
        self._deliveries = 0

    async def take(self, stage: Stage, step: Step) -> None:
        match step:
            case Advance(key, event):
                self._model.deliver((key, event))
                await stage.engine.advance(key, event, cause="test")
            case Deliver(heard):
                self._model.deliver(*heard)
                self._deliveries += 1
                for _ in range(2):
                    await stage.engine.accept(delivery(f"g{self._deliveries}", *heard))
            case Pass(time):
                end = self._model.now + time
                while (due := self._model.next_due()) is not None and due <= end:
                    self._model.now = due
                    self._model.rest()
                self._model.now = end
                await self.clock.pass_time(stage.engine, time)
        self._model.rest()
        await stage.engine.idle()

    async def compare(self, stage: Stage) -> None:
        model, seen = self._model, await stage.engine.overview()
        assert self.hands.performed == model.performed
        for key in KEYS:
            assert list(await stage.labels(key)) == model.labels.get(key, [])
            assert [entry.kind for entry in await stage.engine.log(key)] == model.labels.get(key, [])
        waiting = [(effect.id, effect.key, effect.due, effect.attempts) for effect in seen.effects]
        assert waiting == [(effect.act.id, effect.key, effect.due, effect.attempts) for effect in model.effects]
        timers = {(timer.key, timer.name): timer.due for timer in seen.timers}
        assert timers == {name: due for name, (due, _, _) in model.timers.items()}
        lines = [
            (slot, key, wish.holder, not place)
            for slot, line in sorted(model.slots.items())
            for place, (key, wish) in enumerate(line)
        ]
        assert [(slot.slot, slot.key, slot.holder, slot.granted) for slot in seen.slots] == lines
        assert (seen.dead, seen.deliveries, seen.stalled) == (0, (), ())


async def compare(shell_name: str, history: Sequence[Session], failures: dict[str, int]) -> None:
    comparison = Comparison(failures)
    with tempfile.TemporaryDirectory() as folder:
        for session in history:
            shell = SHELLS[shell_name](Path(folder))
            async with playing(shell, clock=comparison.clock, hands=comparison.hands) as stage:
                await stage.engine.idle()
                await comparison.compare(stage)
                for step in session:
                    await comparison.take(stage, step)
                    await comparison.compare(stage)
        FORGET[shell_name](Path(folder))


@pytest.mark.parametrize("name", sorted(SHELLS))
def test_the_engine_does_what_the_model_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A second passes between two looks at the watch. What a fast machine delivers within milliseconds is a rush, in
    # which an item is handled at a time, and an effect may be claimed before a timer that is due at the same moment.
    monkeypatch.setattr("bot.engine.shell.Rush", partial(Rush, count().__next__))

    # Without `explain`, which plays a failing history many more times to tell what the assertion tells already.
    @settings(max_examples=HISTORIES[name], deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=PHASES)
    @given(history=sessions, failures=st.dictionaries(effect_ids, st.integers(1, ATTEMPTS), max_size=6))
    def play(history: Sequence[Session], failures: dict[str, int]) -> None:
        asyncio.run(compare(name, history, failures))

    play()
