"""What counts as a comparison and what is shown as "—", with the footnote that says why; flags that refuse nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bot.verdict.model import Row
from tests.verdict.story import Report, baseline, buckets, judged, stages, treatment


def without(report: Report, *names: str) -> Report:
    kept = {name: seconds for name, seconds in report["stage_wall_seconds"].items() if name not in names}
    return {**report, "stage_wall_seconds": kept}


@pytest.mark.parametrize(
    ("ours", "theirs", "why", "total_counts"),
    [
        (baseline(cached_steps=["minhash"]), treatment(), "cached in the baseline", False),
        (baseline(), treatment(cached_steps=["minhash"]), "cached in the treatment", False),
        (
            baseline(cached_steps=["minhash"]),
            treatment(cached_steps=["minhash"]),
            "cached in both reports",
            True,
        ),
        (baseline(stage_wall_seconds=stages(minhash=0)), treatment(), "0 in the baseline", True),
        (baseline(), treatment(stage_wall_seconds=stages(minhash=0)), "0 in the treatment", True),
        (baseline(stage_wall_seconds=stages(minhash=None)), treatment(), "missing in the baseline", False),
        (baseline(), treatment(stage_wall_seconds=stages(minhash=None)), "missing in the treatment", False),
        (
            baseline(stage_wall_seconds=stages(minhash=None)),
            treatment(stage_wall_seconds=stages(minhash=None)),
            "missing in the baseline",
            True,
        ),
        (without(baseline(), "minhash"), treatment(), "missing in the baseline", False),
        (baseline(), without(treatment(), "minhash"), "missing in the treatment", False),
    ],
)
def test_a_stage_that_does_not_count(ours: Report, theirs: Report, why: str, total_counts: bool) -> None:
    # Twice as slow wherever both have seconds: were the row counted, the pair would fail.
    if theirs["stage_wall_seconds"].get("minhash"):
        theirs = {**theirs, "stage_wall_seconds": {**theirs["stage_wall_seconds"], "minhash": 600}}
    result = judged(ours, theirs)
    row = result.stages["minhash"]
    assert (row.verdict, row.delta, result.verdict) == ("—", None, "pass")
    assert f"stage_wall_seconds.minhash: — (not counted), {why}." in result.footnotes
    assert (result.total.delta is not None) is total_counts
    assert any(note.startswith("wall_seconds_total: —") for note in result.footnotes) is not total_counts


def test_an_excluded_stage_counts_neither_itself_nor_in_the_total() -> None:
    slow = treatment(stage_wall_seconds=stages(download=900), wall_seconds_total=2800)
    assert judged(baseline(), slow).verdict == "fail"
    result = judged(baseline(), slow, excluded=frozenset({"download"}))
    assert (result.verdict, result.total.verdict, result.stages["download"].verdict) == ("pass", "—", "—")
    assert result.stages["download"].treatment == 900
    assert "wall_seconds_total: — (not counted), holds the excluded stage download." in result.footnotes


def test_the_total_can_be_excluded_by_itself() -> None:
    result = judged(baseline(), treatment(wall_seconds_total=9000), excluded=frozenset({"total"}))
    assert (result.verdict, result.total) == ("pass", Row(Decimal(2000), Decimal(9000)))
    assert "wall_seconds_total: — (not counted), excluded." in result.footnotes


def test_an_exclusion_that_names_nothing_is_flagged_and_leaves_the_total_alone() -> None:
    result = judged(baseline(), treatment(), excluded=frozenset({"downlaod"}))
    assert result.total.verdict == "pass"
    assert "Excluded, but in neither report: downlaod." in result.flags


@pytest.mark.parametrize(("before", "after"), [(0, 9), (None, 9), (2000, 0), (2000, None)])
def test_a_total_of_nothing_does_not_count(before: Any, after: Any) -> None:
    result = judged(baseline(wall_seconds_total=before), treatment(wall_seconds_total=after))
    assert (result.total.verdict, result.total.delta, result.verdict) == ("—", None, "pass")


@pytest.mark.parametrize(("before", "after", "verdict"), [(0, 9, "—"), (None, 9, "—"), (9, None, "—"), (9, 0, "pass")])
def test_memory_counts_from_any_measured_baseline(before: Any, after: Any, verdict: str) -> None:
    result = judged(baseline(peak_worker_memory_mb=before), treatment(peak_worker_memory_mb=after))
    assert (result.memory.verdict, result.verdict) == (verdict, "pass")
    assert (result.memory.delta is None) is (verdict == "—")


def test_memory_alone_is_no_comparison() -> None:
    ours, theirs = {"peak_worker_memory_mb": 1}, {"peak_worker_memory_mb": 9}
    assert judged(ours, theirs).verdict == "not_comparable"
    assert judged({}, {}).verdict == "not_comparable"


def test_a_delta_is_exact_and_written_without_needless_digits() -> None:
    for seconds, delta in ((2100, "0.05"), (2000, "0"), (22000, "10"), (202000, "100"), (1000, "-0.5")):
        assert str(judged(baseline(), treatment(wall_seconds_total=seconds)).total.delta) == delta
    third = judged(baseline(wall_seconds_total=3), treatment(wall_seconds_total=4)).total.delta
    assert str(third) == "0.3333333333333333333333333333"


def test_ooms_stands_in_for_the_oom_of_missing_infra_failures_only() -> None:
    for missing in ({"infra_failures": None}, {}):
        old = {key: value for key, value in treatment(ooms=2).items() if key != "infra_failures"} | missing
        result = judged(baseline(ooms=7), old)
        assert (result.verdict, result.reasons) == (
            "fail",
            ("infra_failures.oom is 2 in the treatment and 0 in the baseline; any more is a hard fail.",),
        )
        assert any(flag.startswith("infra_failures is missing in the treatment; ooms (2)") for flag in result.flags)
    # Present, also when empty or without that bucket: the bucket is 0.
    for present in ({}, {"other": 0}, {"oom": None}):
        result = judged(baseline(), treatment(ooms=2, infra_failures=present))
        assert (result.verdict, result.flags) == ("pass", ())


def test_both_without_infra_failures_are_compared_by_ooms() -> None:
    ours = baseline(ooms=1, infra_failures=None)
    assert judged(ours, treatment(ooms=1, infra_failures=None)).verdict == "pass"
    assert judged(ours, treatment(ooms=2, infra_failures=None)).verdict == "fail"


def test_an_unknown_bucket_is_shown_not_judged() -> None:
    result = judged(baseline(), treatment(infra_failures=buckets(gremlins=4, nothing=0)))
    assert result.verdict == "pass"
    assert result.flags == (
        'infra_failures has an unknown bucket "gremlins": 0 in the baseline, 4 in the treatment. Shown, not judged.',
    )


def test_a_vanished_stage_is_the_first_flag() -> None:
    less = without(treatment(infra_failures=None, task_state_counts={"succeeded": 20}), "minhash", "tokenize")
    flags = judged(baseline(), less).flags
    assert flags[0] == "Only in the baseline: minhash, tokenize. The treatment may have done less work."
    assert len(flags) == 3


@pytest.mark.parametrize(("tasks", "flagged"), [(90, False), (89, True), (110, False), (111, True), (100, False)])
def test_task_totals_more_than_ten_percent_apart_are_flagged(tasks: int, flagged: bool) -> None:
    ours = baseline(task_state_counts={"succeeded": 60, "killed": 40})
    result = judged(ours, treatment(task_state_counts={"succeeded": tasks, "failed": None}))
    assert result.verdict == "pass"
    assert bool(result.flags) is flagged


def test_unknown_task_totals_are_not_flagged() -> None:
    assert judged(baseline(), treatment(task_state_counts=None)).flags == ()


@pytest.mark.parametrize("generations", [("v5e", None), (None, "v6e"), (None, None), ("v6e", "v6e")])
def test_an_unknown_or_equal_worker_generation_is_no_churn(generations: tuple[str | None, str | None]) -> None:
    assert judged(baseline(), treatment(), worker_generations=generations).verdict == "pass"


def test_a_missing_side_of_an_identity_is_no_mismatch() -> None:
    for field in ("iris_job_id", "ferry_module"):
        assert judged(baseline(**{field: None}), treatment(**{field: None})).verdict == "pass"
        assert judged(baseline(**{field: "x"}), treatment(**{field: None})).verdict == "pass"
    assert judged(baseline(status=None), treatment(status=None)).verdict == "pass"


def test_missing_optional_signals_are_said() -> None:
    notes = judged({"wall_seconds_total": 1}, {"wall_seconds_total": 1}).footnotes
    assert "preemption_count is missing in the baseline and the treatment; counted as 0." in notes
    assert any(note.startswith("sum_task_wall_seconds_total is missing") for note in notes)


def test_a_hair_above_a_limit_does_not_read_as_the_limit() -> None:
    (reason,) = judged(baseline(), treatment(wall_seconds_total=2200.02)).reasons
    assert reason == "wall_seconds_total went from 2000 s to 2200.02 s: +10.001%, above the hard-fail limit of +10%."
