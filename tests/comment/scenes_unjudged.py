"""Scenes on the way to a verdict, and of runs that ended without one, by the name of their golden file."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from bot.gating.model import GateRun, PullRequest
from bot.gating.seen import StageProgress
from bot.gating.states import RunState
from bot.gating.tested import BaseChecks, FailedCommand
from bot.gating.words import Exclusion, Handover
from bot.watching.look import Machine
from bot.watching.outlook import Outlook
from bot.watching.queue import Ahead, Queue
from bot.watching.vitals import Health, Trouble, TroubleKind, Vitals
from tests.comment.scenes import HEAD, NEWER, NOW, assessed, attempt, baseline, config, judged, pull, report, treatment

PROGRESS = (
    StageProgress("download", "done", 13.0),
    StageProgress("normalize", "running", 402.0, 31, 128),
    StageProgress("minhash", "waiting", 0.0),
)


def halted() -> PullRequest:
    tail = "FAILED lib/zephyr/tests/test_shuffle.py::test_scatter - assert 3 == 4\n1 failed, 211 passed in 41.20s"
    base = BaseChecks("5c" * 20, ("unit (3.11)",), 14)
    failed = FailedCommand("uv run pytest lib/zephyr/tests/", 1, tail, base)
    return pull(RunState.halted, failed_command=failed)


def out_of_scope() -> PullRequest:
    paths = {"docs/index.md": "documentation", "lib/zephyr/tests/test_plan.py": "tests"}
    nothing = assessed("1", in_scope=False, rationale="no file under gate changed", per_file={}, out_of_scope=paths)
    return pull(RunState.out_of_scope, assessment=nothing, max_gate=None, reason="no file under gate changed")


def baseline_missing() -> PullRequest:
    why = (
        "`marin-canary-datakit-tier1.yaml` has no successful scheduled run on `main` whose artifact "
        "`datakit-tier1-perf-report` can still be downloaded."
    )
    return pull(RunState.stuck, GateRun(1), reason=why)


def ferry_refused() -> PullRequest:
    gate = GateRun(1, baseline(report()), (attempt(1, job_id="", ferry_state=""),))
    return pull(RunState.stuck, gate, reason="Iris refused the ferry: no region has 64 free cores")


def ferry_lost() -> PullRequest:
    second = GateRun(2, baseline(report()), (attempt(2, ferry_state="", error="coordinator is gone"),))
    why = "Iris did not answer"
    return pull(RunState.stuck, judged(1, report(), treatment()), second, reason=why)


def at_gate(state: RunState, **fields: Any) -> PullRequest:
    """Gate 1 between its baseline and its verdict."""
    return pull(state, GateRun(1, baseline(report()), (attempt(1, **fields),)))


def submitting(**fields: Any) -> PullRequest:
    gate = GateRun(1, baseline(report()), (attempt(1, job_id="", ferry_state="", submitted_at=None, started_at=None),))
    return pull(RunState.submitting, gate, **fields)


def pending() -> PullRequest:
    why = "no worker of group `cpu-eu` has 64 GB free; autoscaler is at its limit"
    return at_gate(RunState.ferrying, ferry_state="pending", started_at=None, pending_reason=why)


def ferrying(**fields: Any) -> PullRequest:
    gate = GateRun(1, baseline(report()), (attempt(1, progress=PROGRESS),))
    return pull(RunState.ferrying, gate, **fields)


def ferrying_gate_two() -> PullRequest:
    second = GateRun(2, baseline(report(), age=timedelta(days=3), apart=None), (attempt(2, progress=PROGRESS),))
    return pull(RunState.ferrying, judged(1, report(), treatment()), second)


def queued_behind(*ahead: Ahead, starts_at: datetime | None = None) -> PullRequest:
    return at_gate(RunState.queued, job_id="", ferry_state="", queue=Queue(ahead, starts_at))


def troubled() -> PullRequest:
    """Two troubles at once, one of a kind that there was before, and a coordinator left over."""
    stall = Trouble(TroubleKind.stalled, NOW - timedelta(hours=1), ("No shard has been done since 10:30 UTC.",))
    words = "ValueError: bad shard 3\n@everyone, see #12 and https://evil.example"
    failing = ("4 tries of workers in `zephyr-normalize-0-p0-workers-a0` ended with the same error.",)
    troubles = (
        replace(stall, until=NOW - timedelta(minutes=40)),
        replace(stall, since=NOW - timedelta(minutes=5), log=("[stage0-Map] 31/128 complete, 2 in-flight",)),
        Trouble(TroubleKind.workers_failing, NOW - timedelta(minutes=9), failing, tuple(words.splitlines())),
    )
    vitals = Vitals(Health.stalled, NOW, looked_at=NOW, troubles=troubles)
    left_over = ("zephyr-normalize-0000aaaa-p0-a0",)
    machines = (
        Machine("cpu-eu (8 CPUs, 32 GiB)", "europe-west4-a", "europe-west4"),
        Machine("cpu-us", "", "us-central1"),
    )
    return at_gate(RunState.ferrying, progress=PROGRESS, vitals=vitals, stale=left_over, machines=machines)


def night_long() -> PullRequest:
    """An end on another day is told with its date."""
    seen = Outlook(35, NOW + timedelta(hours=11), NOW + timedelta(hours=8), NOW + timedelta(hours=14))
    return at_gate(RunState.ferrying, progress=PROGRESS, outlook=seen, vitals=Vitals(Health.progressing, looked_at=NOW))


UNJUDGED: Final = {
    "halted": halted(),
    "waived": pull(RunState.waived, max_gate="skip", reason="only a docstring changed; see #5100 and @ada"),
    "stopped": pull(RunState.stopped, reason="nobody answered within 14 days", max_gate=None),
    "out_of_scope": out_of_scope(),
    "stuck_baseline_missing": baseline_missing(),
    "stuck_ferry_refused": ferry_refused(),
    "stuck_at_gate_2": ferry_lost(),
    "stuck_before_assessment": pull(
        RunState.stuck,
        assessment=None,
        max_gate=None,
        reason=".github/perf-gate.toml, line 4: `ladderr` is no key here\nallowed: gates, ladder, scope",
    ),
    "progress_assessing": pull(RunState.assessing, head_sha="", assessment=None, max_gate=None),
    "progress_awaiting_reviewer": pull(RunState.awaiting_reviewer, max_gate=None),
    "progress_awaiting_another": pull(
        RunState.awaiting_reviewer, max_gate=None, asked_by="ada", proposed="skip", assessment=assessed("skip")
    ),
    "progress_awaiting_a_maintainer": pull(
        RunState.awaiting_reviewer, max_gate=None, settings=config(permissions={"go": "maintain"})
    ),
    "progress_excluded_while_asked": pull(
        RunState.awaiting_reviewer,
        max_gate=None,
        exclusions=(Exclusion("download", "rev", NOW, "fetched over the WAN"),),
    ),
    "progress_preparing": pull(RunState.preparing),
    "progress_testing": pull(RunState.testing),
    "progress_locating_baseline": pull(RunState.locating_baseline, GateRun(1)),
    "progress_queued": at_gate(RunState.queued, job_id="", ferry_state=""),
    "progress_queued_behind_another_repository": queued_behind(
        Ahead(0, NOW - timedelta(hours=1), NOW + timedelta(minutes=20), 4000.0), starts_at=NOW + timedelta(minutes=20)
    ),
    "progress_queued_without_end": queued_behind(Ahead(5200, NOW - timedelta(hours=9)), Ahead(5201), Ahead(0)),
    "progress_trouble": troubled(),
    "progress_end_tomorrow": night_long(),
    "progress_submitting": at_gate(RunState.submitting, job_id="", ferry_state=""),
    "progress_stopping_a_submit": submitting(stop_asked_by="rev", stop_requested_by="rev"),
    "progress_retrying_a_submit": submitting(retry_asked="cluster=", retry_requested_by="rev"),
    "progress_pending": pending(),
    "progress_ferrying": ferrying(),
    "progress_ferrying_moved": ferrying(head_moved_to=NEWER),
    "progress_ferrying_closed": ferrying(is_open=False),
    "progress_stopping": ferrying(stop_asked_by="rev", stop_requested_by="rev"),
    "progress_gate_2": ferrying_gate_two(),
    "progress_collecting": at_gate(RunState.collecting, ferry_state="succeeded", ended_at=NOW),
    "progress_collecting_for_the_last_time": pull(
        RunState.collecting,
        GateRun(1, baseline(report()), (attempt(1, ferry_state="succeeded", ended_at=NOW),)),
        stop_asked_by="rev",
        stop_requested_by="rev",
    ),
    "progress_comparing": at_gate(RunState.comparing, ferry_state="succeeded", ended_at=NOW, report="{}"),
}
QUESTIONS: Final = {
    "question": pull(RunState.awaiting_reviewer),
    "question_fork": pull(RunState.awaiting_reviewer, is_fork=True),
    "question_flagged": pull(
        RunState.awaiting_reviewer,
        assessment=assessed(flagged={"lib/fray/src/fray/job.py": "shared with Zephyr"}, out_of_scope={"a.md": "docs"}),
    ),
    "question_flagged_only": pull(
        RunState.awaiting_reviewer,
        proposed="1",
        assessment=assessed("1", in_scope=False, per_file={}, flagged={"lib/fray/src/fray/job.py": "shared"}),
    ),
    "question_requested": pull(RunState.awaiting_reviewer, requested="1", proposed="1"),
    "question_named_before": pull(
        RunState.awaiting_reviewer,
        proposed="3",
        assessment=assessed("1"),
        handover=Handover(HEAD, max_gate="3", named_by="rev"),
    ),
    "question_less_than_named": pull(
        RunState.awaiting_reviewer,
        asked_by="ada",
        requested="1",
        by_author=True,
        proposed="1",
        assessment=assessed("1"),
        handover=Handover(HEAD, max_gate="3", named_by="rev"),
    ),
    "question_on_another_cluster": pull(RunState.awaiting_reviewer, clusters=("spare",), cluster="spare"),
    "question_skip": pull(RunState.awaiting_reviewer, proposed="skip", assessment=assessed("skip")),
}
