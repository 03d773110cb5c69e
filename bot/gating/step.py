"""`step`: one event in, the next state and its effects out. Total, pure, and the only way a pull request changes."""

from __future__ import annotations

from datetime import datetime

from bot.conversation import judged, replies
from bot.engine.port import Transition
from bot.gating import babysitting, calling, climb, deciding, hearing, lifecycle, orders, pressing, rejudging
from bot.gating.draft import Draft
from bot.gating.events import (
    Assessed,
    Authorised,
    BaselineFound,
    BaselineMissing,
    CannotAssess,
    CheckDue,
    Collected,
    Compared,
    Denied,
    EffectFailed,
    Event,
    Expired,
    FerryStopped,
    PreflightFailed,
    PreflightGoesOn,
    PreflightPassed,
    Prepared,
    QueueSeen,
    Refused,
    Rejudged,
    SlotGranted,
    Submitted,
    Unseen,
    Unsubmitted,
    Watched,
)
from bot.gating.happenings import (
    BaseChanged,
    Closed,
    CommentLost,
    Edited,
    HeadMoved,
    Mentioned,
    OwnCommentTouched,
    Pressed,
    Reinstalled,
    Reopened,
    SuiteRerequested,
    Unheard,
)
from bot.gating.model import PullRequest
from bot.gating.states import RunState
from bot.gating.written import Asked, Checked, Published

# Which state waits for which effect: only there does giving it up end the run. What is absent here never does, since
# the comment and the clean-up are repaired by later events.
_AWAITED_IN = {
    "assess": RunState.assessing,
    "ask": RunState.awaiting_reviewer,
    "prepare": RunState.preparing,
    "preflight": RunState.testing,
    "locate": RunState.locating_baseline,
    "submit": RunState.submitting,
    "watch": RunState.ferrying,
    "stop_ferry": RunState.ferrying,
    "collect": RunState.collecting,
    "compare": RunState.comparing,
}


def step(pr: PullRequest, event: Event, now: datetime) -> Transition[PullRequest, Event]:
    """Every state takes every event; what does not concern the current run changes nothing."""
    draft = Draft(pr, now, getattr(event, "heard_in", "comment"))
    if isinstance(event, Mentioned):
        hearing.mentioned(draft, event)
    elif isinstance(event, Unheard):
        hearing.unheard(draft, event)
    elif isinstance(event, Edited):
        hearing.edited(draft, event)
    elif isinstance(event, HeadMoved):
        lifecycle.head_moved(draft, event)
    elif isinstance(event, Closed):
        lifecycle.closed(draft, event)
    elif isinstance(event, Reopened):
        lifecycle.reopened(draft, event)
    elif isinstance(event, Reinstalled):
        draft.set(place=event.place)
        draft.publish()
    elif isinstance(event, BaseChanged):
        lifecycle.base_changed(draft, event)
    elif isinstance(event, OwnCommentTouched):
        lifecycle.touched(draft, event)
    elif isinstance(event, CommentLost):
        lifecycle.comment_lost(draft, event.gone)
    elif isinstance(event, Authorised):
        orders.obey(draft, event)
    elif isinstance(event, Denied):
        draft.reply(event.comment_id, replies.denied(event.needed))
    elif isinstance(event, Published):
        draft.set(comment_id=event.comment_id, comment_digest=event.digest, revision=pr.revision + 1)
    elif isinstance(event, Checked):
        draft.set(check=event.check)
    elif isinstance(event, SuiteRerequested):
        draft.set(place=event.place)
        draft.effect("find_pulls", {"head_sha": event.head_sha, "actor": event.actor, "actor_id": event.actor_id})
    elif isinstance(event, Pressed):
        pressing.pressed(draft, event)
    elif isinstance(event, Rejudged):
        rejudging.rejudged(draft, event)
    elif isinstance(event, EffectFailed):
        _effect_failed(draft, event)
    elif pr.run is not None and pr.run.id == event.run_id and not pr.run.state.ended:
        _of_the_run(draft, event)
    calling.after(draft, event, pr.run)
    return draft.transition()


def _effect_failed(draft: Draft, event: EffectFailed) -> None:
    run = draft.pr.run
    draft.reason = f"{event.kind} was given up: {event.sentence}"
    if event.kind == "authorise":
        draft.reply(event.comment_id, replies.cannot_authorise(event.sentence))
        return
    if event.kind == "help":
        # Whoever asks for help is told at least what can be said, and who may as far as nobody configured it.
        draft.effect("reply", {"comment_id": event.comment_id, "text": replies.help_table()})
        return
    if event.kind == "rejudge":
        draft.reply(event.comment_id, judged.cannot_rejudge(event.sentence))
        return
    if event.kind == "ask" and run is not None and run.question_id:
        # It stands, and only could not be edited.
        return
    if run is not None and run.id == event.run_id and run.state is _AWAITED_IN.get(event.kind):
        draft.end(RunState.stuck, event.sentence)


def _of_the_run(draft: Draft, event: Event) -> None:
    """Outcomes and timers of the live current run; each counts only in the state that waits for it."""
    state = draft.run.state
    if isinstance(event, Asked):
        deciding.asked(draft, event)
    elif isinstance(event, Refused):
        climb.refused(draft, event)
    elif isinstance(event, Expired):
        _expired(draft, event)
    elif state is RunState.assessing and isinstance(event, Assessed):
        deciding.assessed(draft, event)
    elif state is RunState.assessing and isinstance(event, CannotAssess):
        climb.cannot_assess(draft, event)
    elif state is RunState.preparing and isinstance(event, Prepared):
        climb.prepared(draft)
    elif state is RunState.testing and isinstance(event, PreflightPassed):
        climb.begin_first_gate(draft)
    elif state is RunState.testing and isinstance(event, PreflightFailed):
        climb.preflight_failed(draft, event)
    elif state is RunState.testing and isinstance(event, PreflightGoesOn):
        climb.preflight_goes_on(draft, event)
    else:
        _of_the_gate(draft, event)


def _of_the_gate(draft: Draft, event: Event) -> None:
    run = draft.run
    if run.gate is None or getattr(event, "gate", None) != run.gate.number:
        return
    state = run.state
    if state is RunState.locating_baseline and isinstance(event, BaselineFound):
        climb.baseline_found(draft, event)
    elif state is RunState.locating_baseline and isinstance(event, BaselineMissing):
        climb.baseline_missing(draft, event)
    if run.attempt is None or getattr(event, "attempt", None) != run.attempt.number:
        return
    if state is RunState.queued and isinstance(event, SlotGranted):
        climb.slot_granted(draft)
    elif state is RunState.submitting and isinstance(event, Submitted):
        climb.submitted(draft, event)
    elif state is RunState.submitting and isinstance(event, Unsubmitted):
        climb.unsubmitted(draft, event)
    elif state is RunState.queued and isinstance(event, QueueSeen):
        babysitting.queue_seen(draft, event)
    elif state in (RunState.queued, RunState.ferrying) and isinstance(event, CheckDue):
        climb.check_due(draft)
    elif state is RunState.ferrying and isinstance(event, Watched):
        climb.watched(draft, event)
    elif state is RunState.ferrying and isinstance(event, Unseen):
        babysitting.unseen(draft, event)
    elif run.state.has_live_ferry and isinstance(event, FerryStopped):
        climb.ferry_stopped(draft)
    elif state is RunState.collecting and isinstance(event, Collected):
        climb.collected(draft, event)
    elif state is RunState.comparing and isinstance(event, Compared):
        climb.compared(draft, event)


def _expired(draft: Draft, event: Expired) -> None:
    run = draft.run
    if event.since != run.since:
        return
    if run.state is RunState.awaiting_reviewer:
        draft.end(RunState.stopped, replies.nobody_answered(climb.REVIEWER_PATIENCE.days))
    elif run.state is RunState.awaiting_escalation:
        draft.end(RunState.warned, replies.nobody_answered(climb.ESCALATION_PATIENCE.days))
