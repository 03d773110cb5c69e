"""The run's own way up the ladder: from the assessment to a verdict, one outcome at a time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from bot.conversation import again, replies
from bot.gating import babysitting, ceiling, handing, resubmission, resuming
from bot.gating.draft import Draft
from bot.gating.events import (
    Assessed,
    BaselineFound,
    BaselineMissing,
    CannotAssess,
    Collected,
    Compared,
    PreflightFailed,
    PreflightGoesOn,
    Refused,
    Submitted,
    Unsubmitted,
    Watched,
)
from bot.gating.model import Attempt, GateRun
from bot.gating.states import RunState
from bot.verdict.model import Judgement, VerdictName

# DESIGN "The run": how long the bot waits for a human.
REVIEWER_PATIENCE = timedelta(days=14)
ESCALATION_PATIENCE = timedelta(days=7)
# Between two launches of a ferry that Iris does not take.
_FIRST_LAUNCH_WAIT, _LONGEST_LAUNCH_WAIT = timedelta(seconds=2), timedelta(minutes=5)
# From so many on the comment tells of them.
TOLD_LAUNCHES = 3
# What `Run.retry_asked` holds: this, and the name of the other cluster where one was named.
CLUSTER = "cluster="
_ENDS_WITH: Mapping[VerdictName, RunState] = {
    "pass": RunState.passed,
    "warn": RunState.warned,
    "fail": RunState.failed,
    "inconclusive": RunState.inconclusive,
}


def assessed(draft: Draft, event: Assessed) -> bool:
    """Whether somebody has to say how far to climb: not where it is read again, taken up, or out of scope."""
    assessment, run = event.assessment, draft.run
    if run.head_moved_to not in ("", event.head_sha) or run.base_moved_to not in ("", event.base_ref):
        # There was a push while the diff was read: nobody is asked about a commit of before.
        draft.change(head_moved_to="", base_moved_to="")
        draft.run_effect("assess")
        return False
    draft.set(head_sha=event.head_sha)
    handover = handing.of_commit(draft.pr.handovers, event.head_sha)
    assessment, corrections = handing.corrected_before(
        handover, assessment, event.head_sha, event.merge_base, event.base_ref
    )
    draft.change(
        head_sha=event.head_sha,
        merge_base=event.merge_base,
        base_ref=event.base_ref,
        default_branch=event.default_branch,
        is_fork=event.is_fork,
        config_sha=event.config_sha,
        config=event.config,
        plan=event.plan,
        checks=event.checks,
        assessment=assessment,
        corrections=corrections,
        handover=handover,
        head_moved_to="",
        base_moved_to="",
        clusters=event.clusters,
    )
    draft.change(proposed=ceiling.proposal(draft.run, draft.author))
    if resuming.takes_up(draft):
        resuming.take_up(draft)
        prepare(draft)
        return False
    draft.change(resumes=None)
    forced = run.requested is not None and run.requested != "skip"
    if not assessment.in_scope and not assessment.flagged and not forced:
        draft.end(RunState.out_of_scope, assessment.rationale)
        return False
    return True


def ask(draft: Draft) -> None:
    """Nothing is run before a person has looked at the assessment and answered."""
    draft.enter(RunState.awaiting_reviewer)
    draft.run_effect("ask")
    draft.expire_after(REVIEWER_PATIENCE)


def cannot_assess(draft: Draft, event: CannotAssess) -> None:
    draft.change(head_sha=event.head_sha)
    draft.end(RunState.stuck, event.reason)


def prepare(draft: Draft) -> None:
    """The reviewer's word is given: from here on nothing is asked until something is found."""
    draft.cancel_expiry()
    draft.enter(RunState.preparing)
    draft.run_effect("prepare")


def prepared(draft: Draft) -> None:
    draft.enter(RunState.testing)
    draft.run_effect("preflight")


def preflight_failed(draft: Draft, event: PreflightFailed) -> None:
    draft.change(failed_command=event.command)
    draft.end(RunState.halted)


def preflight_goes_on(draft: Draft, event: PreflightGoesOn) -> None:
    due = draft.now + timedelta(seconds=event.seconds)
    draft.effect("preflight", {"run_id": draft.run.id}, scope=draft.run.id, due=due)


def refused(draft: Draft, event: Refused) -> None:
    if event.command is not None:
        draft.change(failed_command=event.command)
    draft.end(RunState.stuck, event.reason)


def begin_gate(draft: Draft, number: int) -> None:
    # A `stop` that was half said about one gate's ferry says nothing about the next.
    draft.change(gates=(*draft.run.gates, GateRun(number)), stop_asked_by="", retry_asked="")
    draft.enter(RunState.locating_baseline)
    draft.effect("locate", {"run_id": draft.run.id, "gate": number}, scope=draft.run.id)


def begin_first_gate(draft: Draft) -> None:
    """Gate 1 always runs first, whatever the ceiling (seed 002), unless it was climbed for this commit before."""
    climbed, number = resuming.first_gate(draft.run)
    draft.change(gates=climbed)
    begin_gate(draft, number)


def baseline_found(draft: Draft, event: BaselineFound) -> None:
    draft.change_gate(baseline=event.baseline, history=event.history, parity=event.parity)
    if event.parity is not None and event.parity.stopping and event.differing_stops:
        # Measured in another shape the pair would say nothing: no ferry is paid for.
        draft.end(RunState.stuck, again.launched_otherwise([str(one) for one in event.parity.stopping]))
        return
    draft.change_gate(attempts=(Attempt(number=1),))
    draft.enter(RunState.queued)
    draft.acquire_tier()
    # Where the slot is free it is granted at once, and nobody looks at the queue.
    draft.check_after(0)


def baseline_missing(draft: Draft, event: BaselineMissing) -> None:
    draft.end(RunState.stuck, event.reason)


def slot_granted(draft: Draft) -> None:
    draft.cancel_check()
    draft.change_attempt(queue=None)
    draft.enter(RunState.submitting)
    draft.attempt_effect("submit")


def submitted(draft: Draft, event: Submitted) -> None:
    draft.change_attempt(job_id=event.job_id, submitted_at=draft.now)
    draft.enter(RunState.ferrying)
    if draft.run.stop_requested_by:
        draft.attempt_effect("stop_ferry")
    else:
        draft.check_after(draft.run.plan_of(event.gate).first_check_seconds)


def unsubmitted(draft: Draft, event: Unsubmitted) -> None:
    """Look for the job once more, a little later each time; people hear of it where it is more than a hiccup."""
    attempt = draft.run.gates[-1].attempts[-1]
    launches = attempt.launches + 1
    draft.change_attempt(launches=launches, launch_error=event.reason)
    draft.reason = f"launch {launches} came to nothing: {event.reason}"
    wait = min(_FIRST_LAUNCH_WAIT * 2 ** (launches - 1), _LONGEST_LAUNCH_WAIT)
    draft.attempt_effect("submit", due=draft.now + wait)
    if launches >= TOLD_LAUNCHES:
        draft.publish()


def check_due(draft: Draft) -> None:
    """Look at the ferry, or at the queue before it."""
    draft.attempt_effect("queue" if draft.run.state is RunState.queued else "watch")


def watched(draft: Draft, event: Watched) -> None:
    babysitting.seen(draft, event)
    if event.ended:
        # That it came to its end says more than how it was doing.
        draft.reason = ""
    if event.ended and draft.run.retry_requested_by:
        stopped_for_retry(draft)
    elif event.ended and draft.run.stop_requested_by and event.seen.ferry_state != "succeeded":
        draft.end(RunState.stopped, replies.stopped_by(draft.run.stop_requested_by))
    elif event.ended:
        draft.release_tier()
        # Half a `stop` or `retry` that was said about the ferry says nothing about its verdict.
        draft.change(stop_asked_by="", retry_asked="")
        draft.enter(RunState.collecting)
        draft.attempt_effect("collect")
    else:
        # Never sooner, however near its end may be: a cluster is not polled tightly (seed 002).
        draft.check_after(draft.run.plan_of(event.gate).check_every_seconds)


def ferry_stopped(draft: Draft) -> None:
    """The ferry is gone, as somebody asked, or it never was there and is not wanted any more."""
    babysitting.stopped(draft)
    by = draft.run.stop_requested_by
    if draft.run.retry_requested_by:
        stopped_for_retry(draft)
    else:
        draft.end(RunState.stopped, replies.stopped_by(by) if by else replies.closed_run(merged=False))


def stopped_for_retry(draft: Draft) -> None:
    """The old ferry is gone: only now a new one may come."""
    run, by = draft.run, draft.run.retry_requested_by
    # An earlier release kept no other word of the cluster than the half that was said last.
    cluster = run.retry_asked.removeprefix(CLUSTER) if run.retry_cluster is None else run.retry_cluster
    draft.end(RunState.stopped, again.stopped_for_retry(by))
    if draft.pr.is_open:
        resuming.resume(draft, by, cluster=cluster)


def collected(draft: Draft, event: Collected) -> None:
    draft.change_attempt(report=event.report, cause=event.cause)
    draft.enter(RunState.comparing, passing=True)
    draft.attempt_effect("compare")


def compared(draft: Draft, event: Compared) -> None:
    if event.excluded != draft.run.excluded_names(event.gate):
        # What counts was changed while the reports were compared.
        draft.attempt_effect("compare")
        return
    draft.change_attempt(judgement=event.judgement)
    draft.reason = f"gate {event.gate}: {event.judgement.verdict}"
    verdict, following = event.judgement.verdict, next_gate(draft)
    if draft.run.stop_requested_by:
        _ended_by_a_stop(draft, event.judgement)
        return
    if why := resubmission.wanted(draft, event.judgement):
        resubmission.submit_again(draft, why)
        return
    if verdict == "pass" and following is not None:
        begin_gate(draft, following)
    elif verdict == "pass":
        draft.end(RunState.passed, "" if draft.pr.is_open else replies.closed_before_climbing())
    elif verdict == "warn" and following is not None:
        draft.enter(RunState.awaiting_escalation)
        draft.expire_after(ESCALATION_PATIENCE)
    elif verdict != "not_comparable":
        draft.end(_ENDS_WITH[verdict])
    else:
        draft.end(RunState.stuck, why_not_comparable(draft, event.judgement))


def _ended_by_a_stop(draft: Draft, judgement: Judgement) -> None:
    """Somebody stops the run whose ferry had ended: its verdict stands, and nothing follows."""
    why, verdict = replies.stopped_by(draft.run.stop_requested_by), judgement.verdict
    if verdict == "pass":
        # Where gates that were agreed on were not climbed, the run as a whole passed nothing.
        draft.end(RunState.passed if next_gate(draft) is None else RunState.stopped, why)
    elif verdict == "not_comparable":
        draft.end(RunState.stopped, why)
    else:
        draft.end(_ENDS_WITH[verdict], why)


def next_gate(draft: Draft) -> int | None:
    """The next rung this run may climb, or None. A closed pull request climbs no further."""
    run = draft.run
    if not draft.pr.is_open or run.max_gate is None or run.max_gate == "skip":
        return None
    ceiling, now = int(run.max_gate), run.gates[-1].number
    return next((plan.number for plan in run.plan if now < plan.number <= ceiling), None)


def why_not_comparable(draft: Draft, judgement: Judgement) -> str:
    attempt = draft.run.gates[-1].attempts[-1]
    why = "; ".join(judgement.reasons)
    if resubmission.ended_badly(attempt):
        again = ", also when it was submitted again" if len(draft.run.gates[-1].attempts) > 1 else ""
        return f"the treatment ferry ended {attempt.ferry_state}{again}, so there is nothing to compare: {why}"
    return f"the two reports cannot be compared: {why}"
