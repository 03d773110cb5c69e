"""The schedule of attempts."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.performing import wait_before_retry
from bot.engine.policy import Backoff
from tests.engine.stage import Flaky, seeded

SECOND = timedelta(seconds=1)
STEADY = Backoff(first=SECOND, factor=2, most=timedelta(minutes=1), jitter=0)


def test_waits_double_up_to_the_most() -> None:
    waits = [wait_before_retry(STEADY, attempt, None, seeded(1)) for attempt in range(1, 9)]
    assert [wait / SECOND for wait in waits] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_an_effect_tried_for_ever_does_not_overflow() -> None:
    assert wait_before_retry(STEADY, 100_000, None, seeded(1)) == timedelta(minutes=1)


@given(attempt=st.integers(1, 50), seed=st.integers(), jitter=st.floats(0, 1))
def test_jitter_only_shortens_and_by_no_more_than_its_part(attempt: int, seed: int, jitter: float) -> None:
    full = wait_before_retry(STEADY, attempt, None, seeded(seed))
    shaken = Backoff(first=SECOND, factor=2, most=timedelta(minutes=1), jitter=jitter)
    wait = wait_before_retry(shaken, attempt, None, seeded(seed))
    assert full * (1 - jitter) - timedelta(microseconds=1) <= wait <= full


@given(attempt=st.integers(1, 10), seed=st.integers(), asked=st.timedeltas(timedelta(0), timedelta(hours=2)))
def test_never_sooner_than_the_other_side_asked(attempt: int, seed: int, asked: timedelta) -> None:
    assert wait_before_retry(Backoff(), attempt, Flaky(retry_after=asked), seeded(seed)) >= asked
