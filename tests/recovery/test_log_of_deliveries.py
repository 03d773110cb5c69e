"""The log of deliveries over many rounds: what one round leaves out, a later one remembers."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.engine.views import Overview
from bot.github.adapter import GitHub
from bot.github.model import HookDelivery
from bot.github.responses import AnswerFault
from bot.recovery.missed import KEPT, MOST_A_ROUND, MOST_ATTEMPTS
from bot.recovery.rounds import GateEngine, Rounds
from tests.engine.clock import ManualClock

EVERY = timedelta(minutes=5)


class Log:
    """GitHub's log and the bot's inbox: a repeated delivery arrives, but for those that are refused every time."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._ids = count(1)
        self.attempts: list[HookDelivery] = []
        self.heard: set[str] = set()
        self.refused: set[str] = set()
        self.broken: set[str] = set()
        self.starts: list[datetime] = []

    def failed(self, guid: str, at: datetime | None = None) -> None:
        now = at or self._clock.now()
        self.attempts.append(HookDelivery(next(self._ids), guid, now, False, "issue_comment", 502))

    async def since(self, start: datetime) -> list[HookDelivery]:
        self.starts.append(start)
        return [one for one in reversed(self.attempts) if one.delivered_at >= start]

    async def redeliver(self, delivery_id: int) -> bool:
        (one,) = [one for one in self.attempts if one.id == delivery_id]
        if one.guid in self.broken:
            raise AnswerFault(500, "GitHub had trouble of its own", "HTTP 500", retryable=True)
        status = 401 if one.guid in self.refused else 202
        self.attempts.append(HookDelivery(next(self._ids), one.guid, self._clock.now(), True, one.event, status))
        if status == 202:
            self.heard.add(one.guid)
        return True

    def tries(self, guid: str) -> int:
        return sum(one.guid == guid for one in self.attempts)


class Engine:
    def __init__(self, log: Log) -> None:
        self._log = log

    async def unheard(self, guids: Collection[str]) -> frozenset[str]:
        return frozenset(guids) - self._log.heard

    async def overview(self) -> Overview:
        return Overview((), (), (), (), ())


def rounds() -> tuple[ManualClock, Log, Rounds]:
    clock = ManualClock()
    log = Log(clock)
    github: Any = SimpleNamespace(deliveries=log)
    return clock, log, Rounds(cast(GitHub, github), cast(GateEngine, Engine(log)), clock, "perf-gate")


async def pass_rounds(clock: ManualClock, made: Rounds, number: int) -> None:
    for _ in range(number):
        await made.make()
        clock.advance(EVERY)


async def refused_for(hours: int) -> tuple[ManualClock, Log, Rounds]:
    """One delivery, for so long and at every attempt."""
    clock, log, made = rounds()
    log.failed("g")
    log.refused.add("g")
    await pass_rounds(clock, made, hours * 12)
    return clock, log, made


async def test_after_a_long_outage_all_that_was_missed_is_asked_for_in_as_many_rounds_as_it_takes() -> None:
    clock, log, made = rounds()
    for number in range(4 * MOST_A_ROUND - 10):
        log.failed(f"g{number}", clock.now() - timedelta(days=2) + timedelta(minutes=number))
    await pass_rounds(clock, made, 4)
    assert len(log.heard) == 4 * MOST_A_ROUND - 10


async def test_a_delivery_that_is_refused_every_time_is_given_up_and_that_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, log, _ = await refused_for(hours=71)
    assert log.tries("g") == MOST_ATTEMPTS
    assert caplog.text.count("not asked for again") == 1


async def test_what_was_refused_for_two_days_comes_within_the_hour_once_it_is_taken_again() -> None:
    """A wrong secret or a full disk of a weekend: the bot is up all the while, and uses up attempts by asking."""
    clock, log, made = await refused_for(hours=48)
    log.refused.clear()
    await pass_rounds(clock, made, 12)
    assert log.heard == {"g"}


async def test_who_mends_and_starts_anew_does_not_wait_for_the_next_attempt() -> None:
    clock, log, _ = await refused_for(hours=24)
    log.refused.clear()
    github: Any = SimpleNamespace(deliveries=log)
    clock.advance(timedelta(minutes=1))
    await Rounds(cast(GitHub, github), cast(GateEngine, Engine(log)), clock, "perf-gate").make()
    assert log.heard == {"g"}


async def test_what_is_settled_is_read_of_no_more_than_the_last_hour() -> None:
    clock, log, made = rounds()
    log.failed("g")
    await pass_rounds(clock, made, 30)
    assert log.heard == {"g"}
    assert log.starts[0] == clock.now() - 30 * EVERY - KEPT
    assert log.starts[-1] >= clock.now() - timedelta(hours=2)


async def test_one_that_github_cannot_repeat_holds_up_no_other() -> None:
    clock, log, made = rounds()
    for guid in ("broken", "a", "b"):
        log.failed(guid, clock.now() - timedelta(minutes=10))
    log.broken.add("broken")
    await pass_rounds(clock, made, 2)
    assert log.heard == {"a", "b"}
    log.broken.clear()
    await pass_rounds(clock, made, 1)
    assert log.heard == {"broken", "a", "b"}
