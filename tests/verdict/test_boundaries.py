"""A boundary belongs to the milder side, and one unit in the last place beyond it does not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.config.schema import Band, Thresholds
from tests.verdict.story import baseline, buckets, exactly, judged, stages, treatment

# (baseline, treatment, verdict of the row); 0.1 + 0.2 style doubles would misjudge several of them.
WALL_LIMITS = [
    ("2000", "2100", "pass"),
    ("2000", "2100.0000000000000000000000000001", "warn"),
    ("2000", "2200", "warn"),
    ("2000", "2200.0000000000000000000000000001", "fail"),
    ("0.3", "0.315", "pass"),
    ("0.3", "0.33", "warn"),
    ("1.1", "1.155", "pass"),
    ("1.1", "1.21", "warn"),
    ("1e-7", "1.1e-7", "warn"),
    ("1e300", "1.1E300", "warn"),
    ("3", "3.15", "pass"),
    ("7", "7.7", "warn"),
    ("2000", "1", "pass"),
]


@pytest.mark.parametrize(("before", "after", "expected"), WALL_LIMITS)
def test_the_total(before: str, after: str, expected: str) -> None:
    result = judged(
        baseline(wall_seconds_total=exactly(before)),
        treatment(wall_seconds_total=exactly(after)),
    )
    assert (result.total.verdict, result.verdict) == (expected, expected)


@pytest.mark.parametrize(("before", "after", "expected"), WALL_LIMITS)
def test_a_stage(before: str, after: str, expected: str) -> None:
    result = judged(
        baseline(stage_wall_seconds=stages(minhash=exactly(before))),
        treatment(stage_wall_seconds=stages(minhash=exactly(after))),
    )
    assert (result.stages["minhash"].verdict, result.verdict) == (expected, expected)


@pytest.mark.parametrize(
    ("after", "expected"),
    [("14700", "pass"), ("14700.001", "warn"), ("16100", "warn"), ("16100.001", "fail"), ("0", "pass")],
)
def test_memory_fails_only_above_fifteen_percent(after: str, expected: str) -> None:
    result = judged(baseline(), treatment(peak_worker_memory_mb=exactly(after)))
    assert (result.memory.verdict, result.verdict) == (expected, expected)


def test_a_difference_in_the_five_thousandth_digit_still_counts() -> None:
    hair = exactly("2100." + "0" * 5000 + "1")
    assert judged(baseline(), treatment(wall_seconds_total=hair)).verdict == "warn"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (0, 0, "pass"),
        (0, 1, "inconclusive"),
        (None, 1, "inconclusive"),
        (1, 4, "pass"),
        (1, 5, "inconclusive"),
        (2, None, "pass"),
        (5, 8, "pass"),
        (5, 9, "inconclusive"),
        (5, 0, "pass"),
    ],
)
def test_preemptions_churn_above_three_more_or_from_none(before: Any, after: Any, expected: str) -> None:
    assert judged(baseline(preemption_count=before), treatment(preemption_count=after)).verdict == expected


def slower_by(*percents: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stages of 100 s and the same stages slower by these percentages; the total stays within its limit."""
    names = ["normalize", "minhash", "fuzzy_dups", "tokenize"][: len(percents)]
    after = {name: exactly(str(Decimal(100) + Decimal(percent))) for name, percent in zip(names, percents, strict=True)}
    return baseline(stage_wall_seconds=dict.fromkeys(names, 100)), treatment(stage_wall_seconds=after)


@pytest.mark.parametrize(
    ("percents", "expected"),
    [
        (("3", "5", "8"), "inconclusive"),
        (("3", "5", "8.0001"), "warn"),
        (("2.9999", "5", "8"), "warn"),
        (("5", "6"), "warn"),
        (("6", "6", "6"), "inconclusive"),
        (("6", "6", "6", "6"), "inconclusive"),
        (("6", "6", "0.9999", "6"), "warn"),
        (("5.5", "3", "0"), "warn"),
        (("5.1", "0.1", "0.2"), "inconclusive"),
        (("5.1", "0.1", "-0.2"), "warn"),
        (("5", "5", "5"), "pass"),
    ],
)
def test_contention_needs_three_stages_all_slower_within_five_points(percents: tuple[str, ...], expected: str) -> None:
    assert judged(*slower_by(*percents)).verdict == expected


def test_the_total_alone_may_warn_of_contention() -> None:
    ours, theirs = slower_by("1", "2", "3")
    theirs["wall_seconds_total"] = 2150
    assert judged(ours, theirs).verdict == "inconclusive"


def test_cached_stages_do_not_make_up_the_three() -> None:
    ours, theirs = slower_by("6", "6", "6")
    for report in (ours, theirs):
        report["cached_steps"] = ["minhash"]
    assert judged(ours, theirs).verdict == "warn"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (40000, 40800, "inconclusive"),
        (40000, exactly("40800.0001"), "warn"),
        (40000, 0, "inconclusive"),
        (0, 0, "warn"),
        (None, 40000, "warn"),
        (40000, None, "warn"),
    ],
)
def test_a_slowdown_without_more_work_is_contention(before: Any, after: Any, expected: str) -> None:
    result = judged(
        baseline(sum_task_wall_seconds_total=before),
        treatment(sum_task_wall_seconds_total=after, wall_seconds_total=2150),
    )
    assert result.verdict == expected


@pytest.mark.parametrize("bucket", ["oom", "scheduling_timeout", "application_failure", "other"])
def test_one_more_of_a_failing_bucket_fails_and_one_fewer_does_not(bucket: str) -> None:
    two = baseline(infra_failures=buckets(**{bucket: 2}))
    for count, expected in ((1, "pass"), (2, "pass"), (3, "fail"), (None, "pass")):
        assert judged(two, treatment(infra_failures=buckets(**{bucket: count}))).verdict == expected


@pytest.mark.parametrize(("before", "after", "expected"), [(1, 1, "pass"), (1, 2, "fail"), (None, 1, "fail")])
def test_failed_shards(before: Any, after: Any, expected: str) -> None:
    assert judged(baseline(failed_shards=before), treatment(failed_shards=after)).verdict == expected


def test_a_repository_may_set_other_limits() -> None:
    demo = Thresholds(stage=Band(warn_percent=Decimal(40), fail_percent=Decimal(80)))
    for seconds, expected in ((280, "pass"), (281, "warn"), (360, "warn"), (361, "fail")):
        slower = treatment(stage_wall_seconds=stages(normalize=seconds))
        assert judged(baseline(), slower, demo).verdict == expected
