"""Percent, expected end and the next look: stage by stage against the baseline's times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.watching.look import Step
from bot.watching.outlook import USUAL_SPREAD, Outlook, Usual, outlook, usual
from bot.watching.queue import Ahead, Queue, queue

NOW = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)
KNOWN = Usual({"download": 300.0, "normalize": 900.0, "tokenize": 1200.0}, 2400.0)


def at(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def of(*steps: tuple[str, str, float], known: Usual = KNOWN) -> Outlook:
    found = outlook([Step(*step) for step in steps], known, NOW, NOW)
    assert found is not None
    return found


def test_the_beginning_is_the_baselines_whole_time() -> None:
    assert of() == Outlook(0, at(40), at(28), at(52))


def test_half_way_at_the_usual_pace() -> None:
    found = of(("download", "done", 300.0), ("normalize", "running", 450.0), ("tokenize", "waiting", 0.0))
    assert (found.percent, found.end) == (31, at(28))


def test_a_slow_day_so_far_makes_the_rest_later_by_as_much_as_is_known_of_it() -> None:
    usual_day = of(("download", "done", 300.0), ("normalize", "done", 900.0))
    slow_day = of(("download", "done", 360.0), ("normalize", "done", 1080.0))
    assert (usual_day.percent, usual_day.end) == (50, at(20))
    assert (slow_day.percent, slow_day.end) == (50, at(22))


def test_a_late_stage_is_nearly_done_and_the_range_says_how_late_it_is() -> None:
    found = of(("download", "done", 300.0), ("normalize", "running", 2700.0))
    assert found.percent == 46
    assert found.latest - found.end > timedelta(seconds=1800)
    assert found.end - found.earliest < timedelta(minutes=15)


def test_a_failed_stage_is_over() -> None:
    assert of(("download", "failed", 300.0), ("normalize", "waiting", 0.0)).percent == 12


def test_never_all_of_it_before_the_end() -> None:
    assert of(*((name, "done", seconds) for name, seconds in KNOWN.stages.items())).percent == 99


def test_what_the_launcher_does_around_the_stages_counts() -> None:
    assert of(known=Usual(KNOWN.stages, 3000.0)).end == at(50)


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert outlook([], None, NOW, NOW) is None
    assert outlook([], KNOWN, None, NOW) is None
    assert outlook([Step("quality", "running", 5.0)], KNOWN, NOW, NOW) is None
    assert usual({}, 100.0, []) is None


@pytest.mark.parametrize(
    ("history", "spread"),
    [
        ([], USUAL_SPREAD),
        ([2400.0, None, 2500.0, 2300.0], USUAL_SPREAD),
        ([2400.0, 2400.0, 2400.0, 2400.0], 0.10),
        ([1000.0, 2000.0, 4000.0, 8000.0], 0.60),
    ],
)
def test_the_range_is_the_tiers_own_noise_where_there_is_a_history(history: list[float | None], spread: float) -> None:
    known = usual(KNOWN.stages, 2400.0, history)
    assert known is not None
    assert known.spread == pytest.approx(spread)


def test_the_two_runs_of_equal_code_on_record_lie_in_each_others_range() -> None:
    known = usual({"all": 9107.9}, 9107.9, [])
    assert known is not None
    assert 9107.9 * (1 + known.spread) > 11605.4


@pytest.mark.parametrize(
    ("told", "news"),
    [
        (None, True),
        (Outlook(30, at(40), at(28), at(52)), False),
        (Outlook(39, at(52), at(40), at(64)), False),
        (Outlook(29, at(40), at(28), at(52)), True),
        (Outlook(30, at(53), at(41), at(65)), True),
    ],
)
def test_another_tenth_or_an_end_out_of_reach_is_news(told: Outlook | None, news: bool) -> None:
    assert Outlook(30, at(40), at(28), at(52)).differs(told) is news


def test_the_turn_comes_after_the_holder_and_all_that_wait() -> None:
    holder, waits = Ahead(5199, at(-10), at(30), 2400.0), Ahead(5200, takes=2400.0)
    assert queue([holder], NOW) == Queue((holder,), at(30))
    assert queue([holder, waits], NOW) == Queue((holder, waits), at(70))
    assert queue([holder, waits], NOW).position == 2


@pytest.mark.parametrize(
    "ahead", [[], [Ahead(1, at(-90), at(-5), 60.0)], [Ahead(1)], [Ahead(1, at(0), at(9)), Ahead(2)]]
)
def test_a_start_that_nobody_can_know_is_not_told(ahead: list[Ahead]) -> None:
    assert queue(ahead, NOW).starts_at is None


def test_another_order_or_another_start_is_news() -> None:
    told = queue([Ahead(1, at(0), at(30))], NOW)
    assert told.differs(None)
    assert not queue([Ahead(1, at(0), at(40))], NOW).differs(told)
    assert queue([Ahead(1, at(0), at(41))], NOW).differs(told)
    assert queue([Ahead(1)], NOW).differs(told)
    assert queue([Ahead(2, at(0), at(30))], NOW).differs(told)
