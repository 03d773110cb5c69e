"""Laws that hold for every pair: worse numbers never give a milder verdict, and nothing a report holds raises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.verdict.model import Judgement
from tests.verdict.pairs import STAGES, clean_report
from tests.verdict.story import baseline, buckets, judged, treatment

ROWS = {"pass": 0, "warn": 1, "fail": 2}
# Contention turns a warning into inconclusive when MORE stages slow down: the two are equally bad.
VERDICTS = {"pass": 0, "warn": 1, "inconclusive": 1, "fail": 2}

seconds = st.integers(1, 2000)
factors = st.sampled_from([Fraction(n, 100) for n in (50, 99, 100, 101, 104, 105, 106, 109, 110, 111, 115, 116, 200)])


@st.composite
def measured(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two healthy runs with any durations above 0, some near the limits of each other."""
    names = draw(st.lists(st.sampled_from(STAGES), min_size=1, unique=True))
    ours = {name: draw(seconds) * 100 for name in names}
    theirs = {name: int(value * draw(factors)) for name, value in ours.items()}
    return (
        baseline(stage_wall_seconds=ours, wall_seconds_total=20000),
        treatment(
            stage_wall_seconds=theirs,
            wall_seconds_total=int(20000 * draw(factors)),
            peak_worker_memory_mb=int(14000 * draw(factors)),
            sum_task_wall_seconds_total=int(40000 * draw(factors)),
        ),
    )


def worse(report: dict[str, Any], where: str, by: int) -> dict[str, Any]:
    if where in report["stage_wall_seconds"]:
        slower = report["stage_wall_seconds"] | {where: report["stage_wall_seconds"][where] + by}
        return {**report, "stage_wall_seconds": slower}
    return {**report, where: report[where] + by}


def rows(result: Judgement) -> dict[str, int]:
    every = {"wall_seconds_total": result.total, "peak_worker_memory_mb": result.memory, **result.stages}
    return {name: ROWS[row.verdict] for name, row in every.items()}


@settings(max_examples=600, deadline=None)
@given(measured(), st.data())
def test_a_worse_treatment_is_never_judged_milder(
    pair: tuple[dict[str, Any], dict[str, Any]], data: st.DataObject
) -> None:
    ours, theirs = pair
    where = data.draw(st.sampled_from([*theirs["stage_wall_seconds"], "wall_seconds_total", "peak_worker_memory_mb"]))
    before = judged(ours, theirs)
    after = judged(ours, worse(theirs, where, data.draw(st.integers(1, 30000))))
    assert VERDICTS[after.verdict] >= VERDICTS[before.verdict]
    was, now = rows(before), rows(after)
    assert now[where] >= was[where]
    assert {name: grade for name, grade in now.items() if name != where} == {
        name: grade for name, grade in was.items() if name != where
    }


@settings(max_examples=300, deadline=None)
@given(measured(), st.sampled_from(["oom", "scheduling_timeout", "application_failure", "other", "failed_shards"]))
def test_one_more_failure_always_fails(pair: tuple[dict[str, Any], dict[str, Any]], failure: str) -> None:
    ours, theirs = pair
    more = {"failed_shards": 1} if failure == "failed_shards" else {"infra_failures": buckets(**{failure: 1})}
    assert judged(ours, {**theirs, **more}).verdict == "fail"


@settings(max_examples=300, deadline=None)
@given(measured(), st.integers(1, 5))
def test_churn_is_inconclusive_whatever_the_durations_say(
    pair: tuple[dict[str, Any], dict[str, Any]], preemptions: int
) -> None:
    ours, theirs = pair
    assert judged(ours, {**theirs, "preemption_count": preemptions}).verdict == "inconclusive"


@settings(max_examples=200, deadline=None)
@given(measured())
def test_a_run_that_repeats_its_baseline_passes(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, _ = pair
    result = judged(ours, {**ours, "iris_job_id": "/bot/again"})
    assert (result.verdict, set(rows(result).values())) == ("pass", {0})


@settings(max_examples=200, deadline=None)
@given(measured(), st.sampled_from([1, 3, 7, 1000]))
def test_the_unit_of_time_does_not_matter(pair: tuple[dict[str, Any], dict[str, Any]], scale: int) -> None:
    def scaled(report: dict[str, Any]) -> dict[str, Any]:
        longer = {name: value * scale for name, value in report["stage_wall_seconds"].items()}
        return {**report, "stage_wall_seconds": longer, "wall_seconds_total": report["wall_seconds_total"] * scale}

    ours, theirs = pair
    before, after = judged(ours, theirs), judged(scaled(ours), scaled(theirs))
    assert (before.verdict, rows(before)) == (after.verdict, rows(after))
    assert before.total.delta == after.total.delta


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
wild = st.dictionaries(st.sampled_from(list(clean_report(""))), anything, max_size=6) | anything


@settings(max_examples=500, deadline=None)
@given(wild, wild)
def test_no_two_values_raise_and_every_verdict_has_its_reason(ours: Any, theirs: Any) -> None:
    result = judged(ours, theirs)
    assert result.reasons
    for row in (result.total, result.memory, *result.stages.values()):
        assert (row.delta is None) is (row.verdict == "—")
        assert row.delta is None or row.delta.is_finite()
