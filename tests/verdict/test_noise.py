"""What a delta is worth: stories of a tier whose nights differ although its code does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.verdict.simulation import STAGES, Slowdown
from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.noise import FEWEST
from bot.verdict.report import PerfReport
from tests.verdict.nights import Cluster, scaled, scaled_stage, with_fields

WORSE = ["pass", "warn", "fail"]


def test_one_stage_that_does_more_work_is_found_on_any_day_of_the_cluster() -> None:
    cluster = Cluster(seed=3)
    judgement = cluster.judge(cluster.run(Slowdown(1.2, "minhash")))
    assert judgement.verdict == "fail"
    assert "stage_sum_task_wall_seconds.minhash" in {finding.field for finding in judgement.tree[0].findings}
    assert judgement.stages["minhash"].verdict == "fail"
    assert judgement.stages["tokenize"].verdict == "pass"


def test_a_slow_day_of_the_whole_cluster_is_a_fail_by_the_table_and_nothing_by_the_noise() -> None:
    cluster = Cluster(seed=4)
    slow_day = scaled(cluster.reports[-1], 1.15, "stage_wall_seconds")
    total = float(slow_day.wall_seconds_total or 0) * 1.15
    slow_day = with_fields(slow_day, iris_job_id="another", wall_seconds_total=total)
    judgement = cluster.judge(slow_day, "table")
    assert judgement.verdict == "fail"
    assert judgement.other_verdict == "pass"
    assert judgement.noise is not None
    shared = judgement.noise.stages["tokenize"].shared
    assert shared is not None


def test_all_stages_slower_by_half_are_found_by_wall_time_alone() -> None:
    cluster = Cluster(seed=5, work=False)
    judgement = cluster.judge(cluster.run(Slowdown(1.5)))
    assert judgement.verdict == "fail"
    assert "wall_seconds_total" in {finding.field for finding in judgement.tree[0].findings}


def test_counts_stay_absolute_whatever_the_noise() -> None:
    cluster = Cluster(seed=6)
    treatment = with_fields(cluster.run(), infra_failures={"oom": 1})
    assert cluster.judge(treatment).verdict == "fail"
    treatment = with_fields(cluster.run(), failed_shards=2)
    assert cluster.judge(treatment).verdict == "fail"
    treatment = with_fields(cluster.run(), preemption_count=9)
    assert cluster.judge(treatment).verdict == "inconclusive"


def test_with_too_few_nights_the_table_decides_and_no_band_is_made_up() -> None:
    cluster = Cluster(seed=7, nights=FEWEST - 2)
    judgement = cluster.judge(cluster.run(Slowdown(1.5)))
    assert judgement.policy == "table"
    assert judgement.verdict == "fail"
    assert judgement.other_verdict is None
    assert judgement.noise is not None
    assert judgement.noise.total is None


def test_without_any_history_nothing_is_said_of_noise() -> None:
    cluster = Cluster(seed=7)
    judgement = cluster.judge(cluster.run(), history=())
    assert (judgement.noise, judgement.policy) == (None, "table")


def test_fewer_nights_make_wider_bands() -> None:
    widths = []
    for nights in (5, 8, 20):
        cluster = Cluster(seed=8, nights=nights, shared=0.0, own=0.05, work=False)
        noise = cluster.judge(cluster.run()).noise
        assert noise is not None
        assert noise.total is not None
        widths.append(noise.total.width)
    assert widths == sorted(widths, reverse=True)


def test_two_runs_of_the_treatment_see_smaller_changes() -> None:
    cluster = Cluster(seed=11, work=False)
    once, again = cluster.run(), cluster.run()
    one, two = cluster.judge(once).noise, cluster.judge(once, repeats=[again]).noise
    assert one is not None
    assert two is not None
    assert all(two.stages[stage].visible < one.stages[stage].visible for stage in STAGES)


def test_what_the_table_does_not_count_is_not_read_either() -> None:
    cluster = Cluster(seed=12)
    treatment = cluster.run(Slowdown(3.0, "normalize"))
    judgement = cluster.judge(treatment, excluded={"normalize"})
    assert judgement.verdict == "pass"
    assert judgement.noise is not None
    assert "normalize" not in judgement.noise.stages
    assert "normalize" not in judgement.noise.work
    assert judgement.noise.total is None


def test_a_stage_that_is_new_is_judged_by_the_table() -> None:
    cluster = Cluster(seed=13)
    before = cluster.reports[-1].model_dump()
    before["stage_wall_seconds"]["quality"] = 100
    after = cluster.run().model_dump()
    after["stage_wall_seconds"]["quality"] = 130
    judgement = judge(
        PerfReport.model_validate(before),
        PerfReport.model_validate(after),
        Thresholds(),
        history=cluster.history,
        policy="calibrated",
    )
    assert judgement.verdict == "fail"
    assert "stage_wall_seconds.quality" in {finding.field for finding in judgement.tree[0].findings}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 50),
    stage=st.sampled_from(list(STAGES)),
    factors=st.lists(st.floats(0.5, 3.0), min_size=2, max_size=2).map(sorted),
)
def test_more_work_is_never_judged_more_mildly(seed: int, stage: str, factors: Sequence[float]) -> None:
    cluster = Cluster(seed=seed)
    run = cluster.run()
    verdicts = []
    for factor in factors:
        work = dict(run.stage_sum_task_wall_seconds)
        content = run.model_dump()
        content["stage_sum_task_wall_seconds"] = work | {stage: float(work[stage] or 0) * factor}
        verdicts.append(cluster.judge(PerfReport.model_validate(content)).verdict)
    assert WORSE.index(verdicts[0]) <= WORSE.index(verdicts[1])


def test_a_slowdown_of_every_stage_is_found_where_no_total_answers_for_it() -> None:
    """An excluded stage takes the total with it: what the others share must not vanish with it."""
    cluster = Cluster(seed=5, work=False)
    judgement = cluster.judge(cluster.run(Slowdown(2.0)), excluded={"normalize"})
    assert judgement.noise is not None
    assert judgement.noise.total is None
    assert {reading.shared for reading in judgement.noise.stages.values()} == {None}
    assert judgement.verdict == "fail"


def test_a_row_is_never_milder_than_what_the_verdict_says_of_it() -> None:
    """The stage's wall time took a step three nights ago and has no band; its work has one, and is as ever."""
    cluster = Cluster(seed=16, shared=0.01, own=0.01)
    stepped = [scaled_stage(run, "minhash", 2.0) for run in cluster.reports[-3:]]
    cluster.reports[-3:] = stepped
    treatment = scaled_stage(cluster.run(), "minhash", 3.0)
    judgement = cluster.judge(treatment)
    assert judgement.noise is not None
    assert "minhash" not in judgement.noise.stages
    assert "minhash" in judgement.noise.work
    assert judgement.policy == "calibrated"
    assert judgement.verdict == "fail"
    assert judgement.stages["minhash"].verdict == "fail"


def test_a_quiet_signal_is_not_called_noisy_to_spare_the_others() -> None:
    cluster = Cluster(seed=17, quietest=0.004, loudest=0.005)
    treatment = cluster.run(Slowdown(1.08, "minhash"))
    judgement = cluster.judge(treatment)
    assert judgement.noise is not None
    assert judgement.noise.work["minhash"].outcome == "slower"
    assert judgement.verdict == "warn"


def test_the_numbers_of_a_finding_are_those_of_the_report() -> None:
    cluster = Cluster(seed=18, shared=0.2, own=0.02, work=False)
    treatment = cluster.run(Slowdown(1.6, "minhash"))
    finding = next(
        finding
        for finding in cluster.judge(treatment).tree[0].findings
        if finding.field == "stage_wall_seconds.minhash"
    )
    assert "that all stages share" in finding.sentence
    assert finding.treatment == treatment.stage_wall_seconds["minhash"]


def test_a_finding_about_a_short_stage_still_says_how_short() -> None:
    cluster = Cluster(seed=18, shared=0.0, own=0.02, work=False)
    cluster.reports = [scaled(run, 1e-5, "stage_wall_seconds") for run in cluster.reports]
    treatment = scaled(cluster.run(Slowdown(2.0, "minhash")), 1e-5, "stage_wall_seconds")
    said = cluster.judge(treatment).reasons[0]
    assert "stage_wall_seconds.minhash is 0.0144 s, usually 0.00728 s" in said


def test_a_total_of_other_stages_is_not_compared() -> None:
    """A stage came to the pipeline two nights ago: the totals before hold less work."""
    cluster = Cluster(seed=22)
    for number in (-2, -1):
        run = cluster.reports[number]
        more = {**run.stage_wall_seconds, "quality": 4000}
        cluster.reports[number] = with_fields(run, stage_wall_seconds=more, wall_seconds_total=13000 + number)
    treatment = cluster.run()
    more = {**treatment.stage_wall_seconds, "quality": 4000}
    noise = cluster.judge(with_fields(treatment, stage_wall_seconds=more, wall_seconds_total=13000)).noise
    assert noise is not None
    assert noise.total is None
    assert "minhash" in noise.stages


def test_where_the_noise_was_to_decide_and_could_not_it_is_said() -> None:
    cluster = Cluster(seed=7, nights=FEWEST - 2)
    treatment = cluster.run()
    assert "only 3 of its scheduled runs" in cluster.judge(treatment).fallback
    assert "none of its scheduled runs" in cluster.judge(treatment, history=()).fallback
    assert cluster.judge(treatment, "table", history=()).fallback == ""
    out_of_memory = with_fields(treatment, infra_failures={"oom": 1})
    assert cluster.judge(out_of_memory, history=()).fallback == ""
    assert Cluster(seed=7).judge(treatment).fallback == ""


@pytest.mark.parametrize("seed", range(12))
def test_stages_that_stayed_as_they_were_are_not_accused_by_those_that_became_faster(seed: int) -> None:
    cluster = Cluster(seed=seed, work=False, nights=20, shared=0.05, own=0.02)
    usual = cluster.reports[-1]
    stages = {name: float(seconds or 0) for name, seconds in usual.stage_wall_seconds.items()}
    faster = stages | {name: stages[name] / 2 for name in ("minhash", "normalize", "fuzzy_dups")}
    treatment = with_fields(usual, iris_job_id="another", stage_wall_seconds=faster, wall_seconds_total=None)
    judgement = cluster.judge(treatment)
    assert judgement.verdict == "pass", judgement.reasons
    assert judgement.noise is not None
    assert judgement.noise.stages["minhash"].outcome == "faster"
