"""Health as a pure function: what was remembered, what is seen now, the gate's limits, the time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bot.watching.health import ended, examine, unseen, wants_threads
from bot.watching.look import Look, Shards, Step, Threads, WorkerFailure
from bot.watching.vitals import Health, Limits, TroubleKind, Vitals

NOW = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)
LIMITS = Limits(stall=1800, wall=3600, baseline={"normalize": 900.0}, fail_percent=10)
ZOMBIE = Threads("/bot/c", 9, pool=2, idle=2, waits_for_stage=False, loops=True)


def after(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def shards(done: int, total: int = 64, **changes: Any) -> Shards:
    one = Shards("zephyr-normalize-0-p0-a0", "stage0-Map", done, total, 2, total - done - 2, 2, 2, 0)
    return replace(one, **changes)


def look(done: int = 1, **changes: Any) -> Look:
    """A ferry at work on normalize."""
    seen = Look("running", NOW, (Step("normalize", "running", 60.0),), 1, 2, shards=(shards(done),))
    return replace(seen, **changes)


def story(*looks: tuple[float, Look], limits: Limits = LIMITS) -> Vitals:
    """The vitals after these looks, each at so many minutes; all survive storage."""
    vitals = Vitals()
    for minutes, seen in looks:
        vitals = examine(vitals, seen, limits, after(minutes))
        assert msgspec.json.decode(msgspec.json.encode(vitals), type=Vitals) == vitals
    return vitals


@pytest.mark.parametrize(
    ("seen", "health"),
    [
        (look(), Health.progressing),
        (Look("pending", reasons=("Waiting for scale-up",)), Health.queued),
        (Look("building"), Health.queued),
        (Look("running", NOW), Health.starting),
        (look(workers=0, workers_waiting=2, reasons=("no room",)), Health.queued),
        (Look("pending", reasons=("TIER_BLOCKED by production",)), Health.resource_exhausted),
        (look(workers=0, workers_waiting=2, reasons=("Quota_Exceeded",)), Health.resource_exhausted),
        (look(failure=WorkerFailure("ValueError", 3, "/bot/w")), Health.workers_failing),
        (look(failure=WorkerFailure("ValueError", 2, "/bot/w")), Health.progressing),
        (look(threads=ZOMBIE), Health.progressing),
    ],
)
def test_one_look(seen: Look, health: Health) -> None:
    vitals = story((0, seen))
    assert vitals.health is health
    assert vitals.since == NOW


def test_a_zombie_is_one_where_nothing_moved_for_half_the_limit() -> None:
    """At the beginning and the end of its pipeline every healthy coordinator's threads look the same for seconds."""
    assert story((0, look()), (14, look(threads=ZOMBIE))).health is Health.progressing
    assert story((0, look()), (15, look(2, threads=ZOMBIE))).health is Health.progressing
    zombie = story((0, look()), (15, look(threads=ZOMBIE)))
    assert zombie.health is Health.zombie
    assert [one.kind for one in zombie.current] == [TroubleKind.zombie]


def test_a_stall_begins_at_the_limit_and_not_before() -> None:
    assert story((0, look()), (29.9, look())).health is Health.progressing
    stalled = story((0, look()), (30, look()))
    assert stalled.health is Health.stalled
    assert stalled.evidence[0].startswith("No shard has been done since 08:00 UTC (the limit is 30 min)")


@pytest.mark.parametrize(
    "further",
    [
        look(2),
        look(1, steps=(Step("normalize", "done", 900.0), Step("tokenize", "running", 1.0))),
        look(1, shards=(shards(0, stage="stage1-Reduce"),)),
        look(1, shards=(shards(1), shards(0, pipeline="zephyr-normalize-0-p1-a0"))),
    ],
)
def test_whatever_is_further_ends_a_stall(further: Look) -> None:
    vitals = story((0, look()), (30, look()), (40, further))
    assert vitals.health is Health.progressing
    assert [(one.since, one.until) for one in vitals.troubles] == [(after(30), after(40))]


def test_shards_given_back_by_dead_workers_are_no_progress_when_done_again() -> None:
    assert story((0, look(9)), (15, look(4)), (30, look(8))).health is Health.stalled
    assert story((0, look(9)), (15, look(4)), (30, look(10))).health is Health.progressing


def test_time_in_a_queue_is_no_part_of_a_stall() -> None:
    waiting = look(workers=0, workers_waiting=2)
    assert story((0, look()), (10, waiting), (60, waiting), (80, look())).health is Health.progressing


def test_without_logs_nothing_is_called_stuck() -> None:
    blind = look(shards=(), sees_logs=False)
    assert story((0, look()), (60, blind)).health is Health.progressing
    assert story((0, look()), (60, blind), (70, look())).health is Health.stalled


def test_a_ferry_whose_parts_never_appear_stalls() -> None:
    vitals = story((0, Look("running", NOW)), (31, Look("running", NOW)))
    assert vitals.health is Health.stalled
    assert "0 coordinators run with 0 workers" in vitals.evidence[0]


def test_stragglers_are_those_of_two_looks_in_a_row() -> None:
    tail = look(shards=(shards(62, in_flight=2, queued=0),))
    assert story((0, tail)).health is Health.progressing
    assert (
        story((0, tail), (10, replace(tail, shards=(shards(63, in_flight=1, queued=0),)))).health is Health.straggling
    )
    assert story((0, tail), (10, look(shards=(shards(5),)))).health is Health.progressing
    # Of four shards two are no tail.
    few = look(shards=(shards(2, total=4, in_flight=2, queued=0),))
    assert story((0, few), (10, few)).health is Health.progressing


def test_a_silent_controller_is_noted_after_a_while_and_proves_nothing() -> None:
    before = story((0, look()))
    assert unseen(before, after(5)).health is Health.progressing
    silent = unseen(unseen(before, after(5)), after(20))
    assert (silent.health, silent.since) == (Health.unreachable, after(5))
    assert silent.evidence == ("Iris' controller has not answered since 08:05 UTC; the ferry runs on without it.",)
    back = examine(silent, look(2), LIMITS, after(40))
    assert (back.health, back.unseen_since, back.troubles) == (Health.progressing, None, ())


def test_trouble_goes_on_through_silence() -> None:
    stalled = story((0, look()), (30, look()))
    assert unseen(unseen(stalled, after(35)), after(60)).current == stalled.current


def test_a_thread_dump_is_wanted_when_nothing_moved_for_half_the_limit() -> None:
    vitals = story((0, look()))
    assert not wants_threads(vitals, look(), 1800, after(14))
    assert wants_threads(vitals, look(), 1800, after(15))
    assert not wants_threads(vitals, look(2), 1800, after(15))
    assert not wants_threads(vitals, look(coordinators=0), 1800, after(15))
    assert not wants_threads(vitals, look(workers=0, workers_waiting=1), 1800, after(15))


def slow(seconds: float, state: str = "running") -> Look:
    return look(2, steps=(Step("normalize", state, seconds),))


def test_a_stage_is_slow_beyond_its_fail_limit_and_a_late_start() -> None:
    # 900 s and 10 %, and a minute for the start of its jobs.
    assert story((0, slow(1050))).troubles == ()
    (trouble,) = story((0, slow(1051)), limits=replace(LIMITS, remaining=1500.0)).troubles
    assert (trouble.kind, trouble.what, trouble.until) == (TroubleKind.slow_stage, "normalize", None)
    assert trouble.evidence == (
        "`normalize` has taken 17m 31s; its baseline took 15m 00s, and beyond 16m 30s (+10 %) a stage fails its gate, "
        "unless churn of the cluster makes the run inconclusive.",
        "`@perf-gate stop` would save about 25 min; nothing is stopped unasked.",
    )
    (done,) = story((0, slow(1051, "done"))).troubles
    assert done.evidence[0].startswith("`normalize` took 17m 31s")


@pytest.mark.parametrize(
    "limits",
    [
        replace(LIMITS, excluded=("normalize",)),
        replace(LIMITS, fail_percent=None),
        replace(LIMITS, baseline={"normalize": 0.0}),
        replace(LIMITS, baseline={}),
    ],
)
def test_what_does_not_count_is_never_slow(limits: Limits) -> None:
    assert story((0, slow(9000)), limits=limits).troubles == ()


def test_past_twice_the_wall_time() -> None:
    assert [one.kind for one in story((0, look(1)), (120, look(2))).troubles] == []
    assert [one.kind for one in story((0, look(1)), (120.1, look(2))).troubles] == [TroubleKind.overdue]


def test_with_the_ferry_all_trouble_ends() -> None:
    over = ended(story((0, look()), (30, look())), after(33))
    assert over.current == ()
    assert [one.until for one in over.troubles] == [after(33)]
