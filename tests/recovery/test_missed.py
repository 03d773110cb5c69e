"""Which deliveries are asked for again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.github.model import HookDelivery
from bot.recovery.missed import MOST_A_ROUND, MOST_ATTEMPTS, missed

NOW = datetime(2026, 6, 20, 12, 0, tzinfo=UTC)


def attempt(
    guid: str, *, ago: float = 60, number: int = 1, status: int = 502, event: str = "issue_comment"
) -> HookDelivery:
    return HookDelivery(number, guid, NOW - timedelta(minutes=ago), number > 1, event, status)


def again(*log: HookDelivery, unheard: set[str] | None = None) -> list[int]:
    found = missed(log, {one.guid for one in log} if unheard is None else unheard, NOW)
    return [one.id for one in found.again]


def test_a_delivery_that_the_inbox_does_not_know_is_asked_for_again_oldest_first() -> None:
    assert again(attempt("b", ago=10, number=2), attempt("a", ago=20, number=1)) == [1, 2]


def test_what_was_stored_although_its_answer_was_lost_is_left_alone() -> None:
    assert again(attempt("a"), attempt("b", number=2), unheard={"b"}) == [2]


def test_what_github_believes_delivered_is_asked_for_where_the_inbox_is_older_than_it() -> None:
    assert again(attempt("a", status=202)) == [1]


def test_what_could_change_no_run_is_not_asked_for() -> None:
    assert again(attempt("a", event="ping"), attempt("b", event="check_run")) == []


def test_the_latest_attempt_is_repeated_and_each_waits_twice_as_long() -> None:
    tries = [attempt("a", ago=40, number=1), attempt("a", ago=30, number=2), attempt("a", ago=3, number=3)]
    assert again(*tries) == []
    assert again(*tries[:2], attempt("a", ago=4, number=3)) == [3]


def test_one_that_fails_for_ever_is_given_up_and_counted() -> None:
    log = [attempt("a", ago=600 - number, number=number) for number in range(1, MOST_ATTEMPTS + 1)]
    found = missed(log, {"a"}, NOW)
    assert (found.again, found.given_up) == ((), 1)


def test_a_round_leaves_room_for_the_comments() -> None:
    log = [attempt(f"g{number}", ago=2000 - number, number=number) for number in range(1, 500)]
    assert again(*log) == list(range(1, MOST_A_ROUND + 1))
