"""The check run `perf-gate`, drawn from the pull request's state alone, with the same tables as the comment.

While something runs it names the phase only: how far a ferry is stands in the comment, which is cheaper to keep true.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from bot.comment.canonical import SENTINEL, render
from bot.comment.limits import Section, join
from bot.comment.markdown import code
from bot.comment.sentences import gate_title, moment, sha
from bot.comment.tables import HEADLINES
from bot.comment.verdict import assessment_section
from bot.conversation.replies import state_read_aloud
from bot.gating.model import PullRequest, Run
from bot.gating.pressing import identifier
from bot.gating.states import RunState

NAME = "perf-gate"
Status = Literal["queued", "in_progress", "completed"]
Conclusion = Literal["success", "neutral", "failure", "skipped", "cancelled", "action_required"]
# What the end of a run means for the commit. Neutral and skipped let a branch protection pass, the others do not:
# a red preflight is a failure like any other red test, and a run that nobody could judge needs somebody.
CONCLUSIONS: Mapping[RunState, Conclusion] = {
    RunState.awaiting_reviewer: "action_required",
    RunState.awaiting_escalation: "neutral",
    RunState.passed: "success",
    RunState.warned: "neutral",
    RunState.inconclusive: "neutral",
    RunState.failed: "failure",
    RunState.halted: "failure",
    RunState.waived: "skipped",
    RunState.out_of_scope: "skipped",
    RunState.stopped: "cancelled",
    RunState.stuck: "action_required",
}
_QUEUED = (RunState.assessing, RunState.queued)
_IN_PREFLIGHT = (RunState.preparing, RunState.testing)


class Offer(msgspec.Struct, frozen=True):
    """A button; GitHub takes 20 characters of label and identifier and 40 of description."""

    label: str
    description: str
    identifier: str


class Shown(msgspec.Struct, frozen=True):
    """What the check run of one run on one commit is to show."""

    run_id: str
    head_sha: str
    status: Status
    conclusion: Conclusion | None
    title: str
    summary: str
    offers: tuple[Offer, ...] = ()

    @property
    def digest(self) -> str:
        parts = (self.status, self.conclusion or "", self.title, self.summary, repr(self.offers))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def check_run(pr: PullRequest, now: datetime) -> Shown | None:
    """None where there is nothing to show: no run, no commit, or a repository that wants none (known once assessed)."""
    run = pr.run
    if run is None or (run.plan and not run.checks):
        return None
    head_sha = run.head_sha or pr.head_sha
    if not head_sha or (not run.plan and pr.check is None):
        return None
    conclusion = CONCLUSIONS.get(run.state)
    if conclusion is None:
        status: Status = "queued" if run.state in _QUEUED else "in_progress"
        return Shown(run.id, head_sha, status, None, _doing(run), _meanwhile(run))
    return Shown(run.id, head_sha, "completed", conclusion, _title(run), _summary(pr, run, now), _offers(pr, run))


def superseded(before: Shown | None, run_id: str, head_sha: str) -> Shown:
    """What an earlier run's check says once another run has taken its place before it came to an end."""
    where = f", which is about {sha(before.head_sha)}" if before is not None else ""
    summary = f"Another run has taken the place of this one{where}."
    return Shown(run_id, head_sha, "completed", "cancelled", "Replaced by another run", summary)


def _doing(run: Run) -> str:
    if run.state is RunState.assessing:
        return "Reading the diff"
    if run.state in _IN_PREFLIGHT:
        return "Running lint, types and tests"
    gate = f"{gate_title(run.plan_of(run.gate.number))}: " if run.gate else ""
    return f"{gate}waiting for the tier's slot" if run.state is RunState.queued else f"{gate}measuring"


def _meanwhile(run: Run) -> str:
    return join(
        [
            Section(
                "The comment on the pull request tells how far it is; the verdict will stand here too.", stays=True
            ),
            Section(assessment_section(run)),
        ]
    )


def _title(run: Run) -> str:
    """At most some dozens of characters: GitHub cuts them in the list of checks."""
    if run.state is RunState.awaiting_reviewer:
        return f"Waiting for an answer: max_gate={run.proposed} is proposed"
    if run.state is RunState.halted:
        return "Halted: lint, types or tests failed"
    if run.state is RunState.stuck:
        return "Stuck: no verdict"
    gate = run.gate
    if gate is not None and gate.judgement is not None and run.state is not RunState.stopped:
        return f"{gate_title(run.plan_of(gate.number))}: {HEADLINES[gate.judgement.verdict]}"
    read = state_read_aloud(run.state)
    return f"{read[:1].upper()}{read[1:]}"


def _summary(pr: PullRequest, run: Run, now: datetime) -> str:
    """The comment's own text; while it asks, the assessment, which stands in the question."""
    if run.state is not RunState.awaiting_reviewer:
        return render(pr, now).removeprefix(f"{SENTINEL}\n")
    asked = (
        f"Since {moment(run.since)} this waits for somebody with write access: **Go** runs up to "
        f"max_gate={run.proposed} for {sha(run.head_sha)}, **Skip** waives the gate (not for the author). "
        "`@perf-gate go max_gate=N` in a comment says how far."
    )
    if run.cluster:
        asked += f" It would run on the cluster {code(run.cluster, 60)}: not comparable with the baseline."
    return join([Section(asked, stays=True), Section(assessment_section(run))])


def _offers(pr: PullRequest, run: Run) -> tuple[Offer, ...]:
    if not pr.is_open:
        return ()
    if run.state is RunState.awaiting_reviewer:
        does = "Waive the gate" if run.proposed == "skip" else f"Run up to gate {run.proposed}"
        return (
            Offer("Go", f"{does} for {run.head_sha[:7]}", identifier("go", run)),
            Offer("Skip", "Waive the gate; not for the author", identifier("skip", run)),
        )
    if run.state is RunState.awaiting_escalation:
        return (Offer("Continue", "Climb to the next gate all the same", identifier("continue", run)),)
    return ()
