"""Moments are known to the next life and to whoever shares the store."""

from __future__ import annotations

from datetime import timedelta

from tests.engine.clock import ManualClock
from tests.engine.stage import MINUTE, Shell, playing


async def test_the_later_moment_stays_and_is_known_to_the_next_life(shell: Shell) -> None:
    async with playing(shell) as stage:
        late = stage.clock.now() + 5 * MINUTE
        assert await stage.engine.remembered("silence") is None
        await stage.engine.remember("silence", late)
        await stage.engine.remember("silence", late - MINUTE)
    async with playing(shell, clock=stage.clock) as stage:
        assert await stage.engine.remembered("silence") == late
        assert await stage.engine.remembered("another") is None


async def test_a_moment_that_lies_too_far_ahead_gives_way(shell: Shell) -> None:
    async with playing(shell) as stage:
        soon, limit = stage.clock.now() + MINUTE, stage.clock.now() + 60 * MINUTE
        await stage.engine.remember("silence", limit + MINUTE)
        await stage.engine.remember("silence", soon, not_after=limit)
        assert await stage.engine.remembered("silence") == soon
        await stage.engine.remember("silence", soon - MINUTE, not_after=limit)
        assert await stage.engine.remembered("silence") == soon, "what may be believed stays"


async def test_a_turn_is_taken_once_within_its_time(shell: Shell) -> None:
    async with playing(shell) as stage:
        assert await stage.engine.take_turn("round", 5 * MINUTE)
        stage.clock.advance(5 * MINUTE - timedelta(microseconds=1))
        assert not await stage.engine.take_turn("round", 5 * MINUTE)
        assert await stage.engine.take_turn("another", 5 * MINUTE)
        stage.clock.advance(timedelta(microseconds=1))
        assert await stage.engine.take_turn("round", 5 * MINUTE)
        assert not await stage.engine.take_turn("round", 5 * MINUTE)


async def test_a_turn_that_a_wrong_clock_took_in_the_far_future_keeps_nobody_waiting(shell: Shell) -> None:
    async with playing(shell) as stage:
        right = stage.clock.now()
        stage.clock.advance(timedelta(days=365))
        assert await stage.engine.take_turn("round", 5 * MINUTE)
    async with playing(shell, clock=ManualClock(right)) as stage:
        assert await stage.engine.take_turn("round", 5 * MINUTE)
        assert not await stage.engine.take_turn("round", 5 * MINUTE), "and this one counts"


async def test_a_clock_a_little_ahead_takes_no_turn_from_the_others(shell: Shell) -> None:
    async with playing(shell) as stage:
        right = stage.clock.now()
        stage.clock.advance(MINUTE)
        assert await stage.engine.take_turn("round", 5 * MINUTE)
    async with playing(shell, clock=ManualClock(right)) as stage:
        assert not await stage.engine.take_turn("round", 5 * MINUTE)
