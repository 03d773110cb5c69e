"""Which nights count: what of a tier's scheduled runs is a sample of its noise, and what is none."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.verdict.simulation import Slowdown, night
from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.past import earlier_reports, past_run
from bot.verdict.series import settled
from tests.verdict.nights import Cluster, with_fields


def test_a_lasting_step_of_the_level_ends_the_history_before_it() -> None:
    """Main became half slower ten nights ago and nobody minded: against that level the treatment is ordinary."""
    cluster = Cluster(seed=9, nights=10, shared=0.02, own=0.02)
    cluster.reports += [cluster.run(Slowdown(1.5)) for _ in range(10)]
    judgement = cluster.judge(cluster.run(Slowdown(1.5)))
    assert judgement.verdict == "pass"
    assert judgement.noise is not None
    assert judgement.noise.total is not None
    assert judgement.noise.total.n == 10
    assert judgement.noise.total.skipped == 10


def test_a_step_of_the_last_nights_leaves_no_old_night_beside_the_new_ones() -> None:
    """Found three nights too early, the step would be taken for noise, and +50 % be inside of it."""
    for nights in (3, 4, 5, 7, 13):
        level = [math.log(729 + 3 * (number % 4)) for number in range(16 - nights)]
        newer = [math.log(1458 + 5 * (number % 3)) for number in range(nights)]
        assert settled(level + newer) == list(range(16 - nights, 16))
        if nights < 8:
            assert settled(newer + level + newer)[0] == 16


def test_a_night_that_went_astray_does_not_widen_the_band() -> None:
    cluster = Cluster(seed=10, nights=14, shared=0.03, own=0.02)
    quiet = cluster.judge(cluster.run()).noise
    cluster.reports.insert(5, cluster.run(Slowdown(6.0)))
    astray = cluster.judge(cluster.run()).noise
    assert quiet is not None
    assert astray is not None
    assert quiet.total is not None
    assert astray.total is not None
    assert astray.total.skipped == 1
    assert astray.total.width < 1.5 * quiet.total.width


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(
        st.one_of(st.none(), st.floats(0, 1e300), st.integers(0, 10**40), st.just(1e-300)), min_size=6, max_size=24
    )
)
def test_no_history_can_break_the_comparison(values: list[Any]) -> None:
    content = [
        {
            "wall_seconds_total": value,
            "stage_wall_seconds": {"a": value, "b": 3, "c": value},
            "peak_worker_memory_mb": 1,
        }
        for value in values
    ]
    history = earlier_reports(content).runs
    judgement = judge(
        content[0], content[-1] | {"iris_job_id": "x"}, Thresholds(), history=history, policy="calibrated"
    )
    assert judgement.verdict in {"pass", "warn", "fail", "not_comparable"}


def test_a_run_that_measured_something_else_is_no_sample() -> None:
    run = Cluster(seed=14).reports[0]
    assert past_run(run, night(0)) is not None
    changes: list[dict[str, Any]] = [
        {"status": "failed"},
        {"preemption_count": 4},
        {"infra_failures": {"oom": 1}},
        {"infra_failures": {"hardware_fault": 1}},
    ]
    for change in changes:
        assert past_run(with_fields(run, **change), night(0)) is None
    cached = past_run(with_fields(run, cached_steps=["minhash"]), night(0))
    assert cached is not None
    assert cached.total is None
    assert "minhash" not in cached.stages
    assert "minhash" not in cached.work


def test_reports_are_put_in_order_by_when_they_were_collected_and_bad_ones_are_named() -> None:
    times = ["2026-07-03T06:00:00Z", "2026-07-01T06:00:00Z", "2026-07-02T06:00:00"]
    content: list[Any] = [{"collected_at_utc": at, "wall_seconds_total": 5} for at in times]
    found = earlier_reports([*content, {"ooms": "many"}, {"status": "failed"}], ["c", "a", "b", "bad", "failed"])
    assert [run.at.day for run in found.runs] == [1, 2, 3]
    assert found.left_out["bad"].startswith('its ooms is the string "many"')
    assert "did not succeed" in found.left_out["failed"]


def test_the_baseline_is_counted_once_whether_history_holds_it_or_not() -> None:
    cluster = Cluster(seed=15)
    treatment = cluster.run()
    with_it, without = cluster.judge(treatment), cluster.judge(treatment, history=cluster.history[:-1])
    assert with_it.noise is not None
    assert without.noise is not None
    assert with_it.noise.n == without.noise.n == len(cluster.reports)
    moved = [replace(run, at=run.at + timedelta(days=1)) for run in cluster.history]
    assert cluster.judge(treatment, history=moved).noise == with_it.noise


def test_runs_of_another_ferry_and_of_the_treatment_are_no_history() -> None:
    cluster = Cluster(seed=19)
    cluster.reports = [with_fields(run, ferry_module="ferries.ours") for run in cluster.reports]
    treatment = with_fields(cluster.run(), ferry_module="ferries.ours")
    others = [with_fields(cluster.run(Slowdown(9.0)), ferry_module="ferries.other") for _ in range(4)]
    strangers = [past for number, run in enumerate([*others, treatment]) if (past := past_run(run, night(number)))]
    with_them = cluster.judge(treatment, history=[*strangers, *cluster.history])
    assert with_them == cluster.judge(treatment)


def test_a_run_that_lies_in_the_folder_twice_counts_once() -> None:
    cluster = Cluster(seed=20)
    treatment = cluster.run()
    twice = [copy for past in cluster.history for copy in (past, replace(past))]
    assert cluster.judge(treatment, history=twice) == cluster.judge(treatment)
    attempts = [replace(past, workflow_run_id=7, job=f"attempt {past.job}") for past in cluster.history]
    noise = cluster.judge(treatment, history=attempts).noise
    assert noise is not None
    assert noise.n == 1


def test_a_baseline_that_measured_trouble_is_no_sample() -> None:
    cluster = Cluster(seed=21)
    cluster.reports.append(with_fields(cluster.run(Slowdown(1.4)), preemption_count=5))
    noise = cluster.judge(cluster.run()).noise
    assert noise is not None
    assert noise.n == len(cluster.reports) - 1


def test_a_report_with_a_run_id_of_any_length_is_read() -> None:
    assert earlier_reports([{"workflow_run_id": "9" * 5000}]).runs[0].workflow_run_id == 0


def test_more_stages_than_any_pipeline_has_get_no_bands() -> None:
    walls: dict[str, Any] = {f"stage {number}": 10 for number in range(5000)}
    history = earlier_reports([{"stage_wall_seconds": walls, "wall_seconds_total": 9 + n} for n in range(8)]).runs
    ours = {"stage_wall_seconds": walls, "wall_seconds_total": 9}
    noise = judge(ours, ours, Thresholds(), history=history, policy="calibrated").noise
    assert noise is not None
    assert noise.total is not None
    assert noise.stages == {}
