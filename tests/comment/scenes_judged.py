"""Scenes with a verdict, by the name of their golden file."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, Final

from msgspec.structs import replace

from bot.gating.model import EarlierRun, GateRun, PullRequest
from bot.gating.states import RunState
from bot.gating.words import Exclusion, FormerVerdict
from tests.comment.scenes import (
    JOB,
    MAIN,
    NEWER,
    NOW,
    STAGES,
    attempt,
    baseline,
    config,
    judged,
    nights,
    pull,
    report,
    slower,
    treatment,
    work,
)

OWN = {"stage": {"warn_percent": 40, "fail_percent": 80}, "total": {"warn_percent": 40, "fail_percent": 80}}
OOM_LOG = "worker-7 died: container exceeded its memory limit (OOMKilled)\nlast shard: normalize/0031"


def passed() -> PullRequest:
    after = treatment(stages=slower(0.021, "normalize"), peak_worker_memory_mb=14180)
    return pull(RunState.passed, judged(1, report(), after))


def after_several_gates() -> PullRequest:
    second = judged(2, report(), treatment(gate=2, stages=slower(0.01, "minhash")))
    third = judged(3, report(), treatment(gate=3, stages=slower(0.07, "minhash"), sum_task_wall_seconds_total=9600.0))
    found = pull(RunState.warned, judged(1, report(), treatment()), second, third)
    earlier = (EarlierRun("42-5199-0", RunState.halted, MAIN, NOW - timedelta(days=1)),)
    return replace(found, earlier=earlier)


def warned_after_waiting() -> PullRequest:
    gate = judged(1, report(), treatment(stages=slower(0.07, "minhash"), sum_task_wall_seconds_total=9600.0))
    return pull(RunState.warned, gate, max_gate="3", reason="nobody answered within 7 days")


def passed_while_closed() -> PullRequest:
    why = "the pull request is closed, so no higher gate was run"
    return pull(RunState.passed, judged(1, report(), treatment()), is_open=False, max_gate="3", reason=why)


def awaiting_escalation() -> PullRequest:
    gate = judged(1, report(), treatment(stages=slower(0.07, "minhash"), sum_task_wall_seconds_total=9600.0))
    return pull(RunState.awaiting_escalation, gate, max_gate="3")


def failed(after: dict[str, Any], **fields: Any) -> PullRequest:
    return pull(RunState.failed, judged(1, report(), after, **fields))


def new_oom() -> PullRequest:
    after = treatment(status="failed", infra={"oom": 1}, ooms=1, wall_seconds_total=None)
    return failed(after, error=OOM_LOG)


def inconclusive(**changes: Any) -> PullRequest:
    return pull(RunState.inconclusive, judged(1, report(), treatment(**changes)))


def stuck(before: dict[str, Any], after: dict[str, Any], **fields: Any) -> PullRequest:
    gate = judged(1, before, after, **fields)
    assert gate.judgement is not None
    why = "the two reports cannot be compared: " + "; ".join(gate.judgement.reasons)
    return pull(RunState.stuck, gate, reason=why)


def failed_ferry() -> PullRequest:
    error = "Exit code 1: ValueError: shard 3 of normalize: `id` column is missing\n  at zephyr/shuffle.py:88"
    return stuck(report(), treatment(status="failed", failed_shards=1), error=error)


def unreadable_report() -> PullRequest:
    text = '{"status": "succeeded", "wall_seconds_total": "31m"}'
    return stuck(report(), json.loads(text))


def cached_stage() -> PullRequest:
    after = treatment(stages={"download": 0.0}, cached_steps=["download"])
    return pull(RunState.passed, judged(1, report(), after))


def vanished_stage() -> PullRequest:
    return pull(RunState.passed, judged(1, report(), treatment(stages={"fuzzy_dups": None})))


def stale_baseline() -> PullRequest:
    pinned = baseline(report(), age=timedelta(days=9), apart=61)
    return pull(RunState.passed, judged(3, report(), treatment(gate=3), pinned=pinned), max_gate="3")


def long_queue_wait() -> PullRequest:
    waited = NOW - timedelta(hours=2) + timedelta(minutes=52)
    return pull(RunState.passed, judged(1, report(), treatment(), started_at=waited))


def override() -> PullRequest:
    said = "reviewer override by rev: max_gate=1 — only `minhash` sensitivity matters"
    return pull(RunState.passed, judged(1, report(), treatment()), override=said)


def head_moved() -> PullRequest:
    return pull(RunState.failed, _slow_normalize(), head_moved_to=NEWER)


def own_thresholds() -> PullRequest:
    limits = config(thresholds=OWN | {"preemptions_over_baseline": 9})
    gate = judged(1, report(), treatment(stages=slower(0.22, "normalize")), limits)
    return pull(RunState.passed, gate, settings=limits)


def second_gate_fails() -> PullRequest:
    after = treatment(gate=2, stages=slower(0.2, "tokenize"))
    return pull(RunState.failed, judged(1, report(), treatment()), judged(2, report(), after))


def stopped_while_asked_to_continue() -> PullRequest:
    gate = judged(1, report(), treatment(stages=slower(0.07, "minhash"), sum_task_wall_seconds_total=9600.0))
    return pull(RunState.stopped, gate, max_gate="3", reason="stopped by rev")


def stopped_at_gate_two() -> PullRequest:
    second = GateRun(2, baseline(report()), (attempt(2, job_id=JOB.format(gate=2), ferry_state="killed"),))
    return pull(RunState.stopped, judged(1, report(), treatment()), second, reason="stopped by rev")


def noisy_fail_of_the_table() -> PullRequest:
    """Every stage is 13 % slower on one of the cluster's slow days, and not one does more work."""
    before, after = report(stage_sum_task_wall_seconds=work()), treatment(stages=slower(0.13))
    after |= {"stage_sum_task_wall_seconds": work(0.004, "minhash")}
    return pull(RunState.failed, judged(1, before, after, history=nights()))


def quiet_regression(policy: str) -> PullRequest:
    """One stage does 12 % more work, on a day on which everything was quick."""
    settings = config(verdict={"policy": policy})
    before = report(stage_sum_task_wall_seconds=work())
    after = treatment(stages=slower(-0.06) | slower(0.04, "minhash"))
    after |= {"stage_sum_task_wall_seconds": work(0.12, "minhash")}
    gate = judged(1, before, after, settings, history=nights())
    state = RunState.failed if policy == "calibrated" else RunState.passed
    return pull(state, gate, settings=settings)


def few_nights() -> PullRequest:
    return pull(RunState.passed, judged(1, report(), treatment(), history=nights(3)))


def few_nights_to_decide() -> PullRequest:
    """The noise was to decide, and is not known yet."""
    settings = config(verdict={"policy": "calibrated"})
    gate = judged(1, report(), treatment(stages=slower(0.13)), settings, history=nights(3))
    return pull(RunState.failed, gate, settings=settings)


def contention_beyond_the_noise() -> PullRequest:
    """By the table a slow day of the cluster; one stage did more work than it ever does."""
    before = report(stage_sum_task_wall_seconds=work())
    after = treatment(stages=slower(0.07)) | {"stage_sum_task_wall_seconds": work(0.12, "minhash")}
    return pull(RunState.inconclusive, judged(1, before, after, history=nights()))


def excluded_stage() -> PullRequest:
    gate = judged(1, report(), treatment(stages=slower(0.4, "download")), excluded=("download",))
    return pull(RunState.passed, gate)


def raw_report_cut() -> PullRequest:
    after = treatment(warnings=[f"shard {number} was slow to start" for number in range(4000)])
    return pull(RunState.passed, judged(1, report(), after, history=nights()))


def excluded_after_a_fail() -> PullRequest:
    """It failed at the first of three gates, and passes without the stage: no higher gate was run."""
    after = treatment(stages=slower(0.22, "download"))
    why = "the dump is fetched over the WAN; see #5100 and @ada, `download` is <b>not</b> ours"
    gate = replace(
        judged(1, report(), after, excluded=("download",)),
        former=(FormerVerdict("fail", NOW - timedelta(minutes=5), "rev", "exclude", "download", why),),
    )
    left_out = Exclusion("download", "rev", NOW - timedelta(minutes=5), why, 1)
    reason = "this run had ended, so gates 2 and 3 were not run; `@perf-gate retry` begins a new one"
    return pull(RunState.warned, gate, max_gate="3", exclusions=(left_out,), reason=reason)


def included_again() -> PullRequest:
    """Excluded at gate 1, which passed so; counted again at gate 2, whose verdict a later judging changed."""
    at = NOW - timedelta(hours=3)
    first = judged(1, report(), treatment(stages=slower(0.07, "minhash")), excluded=("minhash",))
    was_warn = FormerVerdict("warn", at, "rev", "exclude", "minhash", "noise")
    second = judged(2, report(), treatment(gate=2, stages=slower(0.2, "minhash")))
    was_pass = (
        FormerVerdict("pass", at, "ada", "include", "minhash"),
        FormerVerdict("inconclusive", NOW, "rev", "reanalyse"),
    )
    gates = (replace(first, former=(was_warn,)), replace(second, former=was_pass))
    return pull(RunState.failed, *gates, exclusions=(Exclusion("minhash", "rev", at, "noise", 1, 2),), max_gate="2")


def _slow_normalize() -> GateRun:
    return judged(1, report(), treatment(stages=slower(0.22, "normalize")))


JUDGED: Final = {
    "pass": passed(),
    "pass_while_closed": passed_while_closed(),
    "warn_at_the_last_gate": after_several_gates(),
    "warn_nobody_continued": warned_after_waiting(),
    "awaiting_escalation": awaiting_escalation(),
    "fail_stage": failed(treatment(stages=slower(0.22, "normalize"))),
    "fail_total": failed(treatment(stages=slower(0.09), wall_seconds_total=2100.0)),
    "fail_memory": failed(treatment(peak_worker_memory_mb=16500)),
    "fail_new_oom": new_oom(),
    "fail_shards": failed(treatment(failed_shards=2)),
    "fail_infra_bucket": failed(treatment(infra={"application_failure": 3})),
    "fail_at_gate_2": second_gate_fails(),
    "inconclusive_preemptions": inconclusive(
        preemption_count=5, task_state_counts={"succeeded": 42, "preempted": 5}, stages=slower(0.3, "normalize")
    ),
    "inconclusive_hardware_fault": inconclusive(infra={"hardware_fault": 2}),
    "inconclusive_contention": inconclusive(stages=slower(0.07)),
    "stuck_wrong_type": unreadable_report(),
    "stuck_failed_ferry": failed_ferry(),
    "stuck_equal_job_ids": stuck(report(), report()),
    "cached_stage": cached_stage(),
    "stage_only_in_baseline": vanished_stage(),
    "stale_baseline": stale_baseline(),
    "queue_wait": long_queue_wait(),
    "reviewer_override": override(),
    "excluded_after_a_fail": excluded_after_a_fail(),
    "included_again": included_again(),
    "head_moved": head_moved(),
    "own_thresholds": own_thresholds(),
    "noise_contradicts_a_fail": noisy_fail_of_the_table(),
    "noise_sees_more_than_the_table": quiet_regression("table"),
    "calibrated_fail": quiet_regression("calibrated"),
    "too_few_nights": few_nights(),
    "too_few_nights_to_decide": few_nights_to_decide(),
    "contention_beyond_the_noise": contention_beyond_the_noise(),
    "excluded_stage": excluded_stage(),
    "oversize_report": raw_report_cut(),
    "inconclusive_preempted_tasks": inconclusive(task_state_counts={"succeeded": 42, "preempted": 2}),
    "inconclusive_contention_by_work": inconclusive(stages=slower(0.07, "minhash"), sum_task_wall_seconds_total=9050.0),
    "fail_scheduling_timeout": failed(treatment(infra={"scheduling_timeout": 1})),
    "fail_other": failed(treatment(infra={"other": 1})),
    "stuck_other_ferry": stuck(report(), treatment(ferry_module="experiments.ferries.datakit_nemotron_ferry")),
    "stuck_failed_baseline": stuck(report(status="failed"), treatment()),
    "stuck_nothing_compares": stuck(report(cached_steps=list(STAGES)), treatment(stages=dict.fromkeys(STAGES))),
    "stopped_while_asked": stopped_while_asked_to_continue(),
    "stopped_at_gate_2": stopped_at_gate_two(),
}
