"""Clocks: the system's, and the one that tests move."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.engine import clock as system
from bot.engine.clock import SystemClock
from tests.engine.clock import START, ManualClock
from tests.engine.stage import MINUTE

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def test_the_systems_time_is_aware_and_moves_on() -> None:
    clock = SystemClock()
    first, second = clock.now(), clock.now()
    assert first.tzinfo is UTC
    assert LONG_AGO < first <= second


async def test_waiting_ends_at_once_where_the_moment_has_come_or_the_event_is_set() -> None:
    clock, wake = SystemClock(), asyncio.Event()
    await clock.wait(wake, LONG_AGO)
    assert not wake.is_set()
    wake.set()
    await clock.wait(wake, None)
    await clock.wait(wake, clock.now() + timedelta(days=1))


async def test_waiting_ends_when_the_event_is_set_meanwhile() -> None:
    clock, wake = SystemClock(), asyncio.Event()
    asyncio.get_running_loop().call_soon(wake.set)
    await clock.wait(wake, clock.now() + timedelta(days=1))
    assert wake.is_set()


async def test_a_wall_clock_that_was_set_forward_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stepped(SystemClock):
        looks = 0

        def now(self) -> datetime:
            self.looks += 1
            return LONG_AGO + (self.looks - 1) * timedelta(hours=1)

    monkeypatch.setattr(system, "LOOK_AGAIN", timedelta(0))
    clock, wake = Stepped(), asyncio.Event()
    await clock.wait(wake, LONG_AGO + timedelta(hours=3))
    assert clock.looks == 4
    assert not wake.is_set()


async def test_a_manual_clock_stands_still_until_moved() -> None:
    clock, wake = ManualClock(), asyncio.Event()
    waiting = asyncio.create_task(clock.wait(wake, START + MINUTE))
    await asyncio.wait({waiting}, timeout=0)
    clock.advance(MINUTE - timedelta(microseconds=1))
    await asyncio.wait({waiting}, timeout=0)
    assert not waiting.done()
    clock.advance(timedelta(microseconds=1))
    await waiting
    assert clock.now() == START + MINUTE
    with pytest.raises(ValueError, match="does not go back"):
        clock.move_to(START)
