"""`step`: one event in, the next state and its effects out. Total, pure, and the only way a pull request changes."""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.conversation import judged, replies
from bot.conversation.commands import Help, Misunderstood, Status
from bot.engine.port import Transition
from bot.gating import babysitting, calling, climb, deciding, orders, pressing, rejudging
from bot.gating.draft import Draft
from bot.gating.events import (
    Asked,
    Assessed,
    Authorised,
    BaseChanged,
    BaselineFound,
    BaselineMissing,
    CannotAssess,
    CheckDue,
    Checked,
    Closed,
    Collected,
    CommentLost,
    Compared,
    Denied,
    Edited,
    EffectFailed,
    Event,
    Expired,
    FerryStopped,
    HeadMoved,
    Mentioned,
    OwnCommentTouched,
    PreflightFailed,
    PreflightGoesOn,
    PreflightPassed,
    Prepared,
    Pressed,
    Published,
    QueueSeen,
    Refused,
    Reinstalled,
    Rejudged,
    Reopened,
    SlotGranted,
    Submitted,
    SuiteRerequested,
    Unheard,
    Unseen,
    Watched,
)
from bot.gating.model import PullRequest
from bot.gating.states import RunState

# Far more than people say while one of them is still on its way.
_MOST_HEARD = 100
_WAITING = (RunState.awaiting_reviewer, RunState.awaiting_escalation)
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
        _mentioned(draft, event)
    elif isinstance(event, Unheard):
        _unheard(draft, event)
    elif isinstance(event, Edited):
        _edited(draft, event)
    elif isinstance(event, HeadMoved):
        _head_moved(draft, event)
    elif isinstance(event, Closed):
        _closed(draft, event)
    elif isinstance(event, Reopened):
        _reopened(draft, event)
    elif isinstance(event, Reinstalled):
        draft.set(place=event.place)
        draft.publish()
    elif isinstance(event, BaseChanged):
        _base_changed(draft, event)
    elif isinstance(event, OwnCommentTouched):
        _touched(draft, event)
    elif isinstance(event, CommentLost):
        _comment_lost(draft, event.gone)
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
        draft.effect("find_pulls", {"head_sha": event.head_sha, "actor": event.actor})
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


def _mentioned(draft: Draft, event: Mentioned) -> None:
    run = draft.pr.run
    if run is None and event.bare:
        return
    if _heard_before(draft, event):
        draft.reason = f"{event.heard_in} {event.comment_id} was heard before"
        return
    if event.bare and run is not None and run.state not in _WAITING:
        return
    draft.set(place=event.place)
    draft.react(event.comment_id, "eyes")
    if isinstance(event.said, Misunderstood):
        draft.reply(event.comment_id, replies.misunderstood(event.said.problem))
    elif isinstance(event.said, Help):
        # Who may give which command stands in the repository's configuration.
        draft.effect("help", {"comment_id": event.comment_id})
        draft.react(event.comment_id, "+1")
    elif isinstance(event.said, Status):
        text = replies.status(run.state, run.head_sha) if run else replies.no_run()
        draft.reply(event.comment_id, text, done=True)
    else:
        # The command rides along as a whole event, so that the look-up needs nothing else.
        said = msgspec.to_builtins(event.said)
        payload = {"comment_id": event.comment_id, "actor": event.actor, "said": said}
        if event.said_at is not None:
            payload["said_at"] = event.said_at.isoformat()
        if event.about_sha:
            payload["about_sha"] = event.about_sha
        draft.effect("authorise", payload)


def _heard_before(draft: Draft, event: Mentioned | Unheard) -> bool:
    """Whether this comment was heard; from now on it was."""
    pr, name = draft.pr, f"{event.heard_in}:{event.comment_id}"
    if event.heard_in == "comment":
        before = event.comment_id in pr.heard
        draft.set(heard=pr.heard if before else (*pr.heard[-_MOST_HEARD + 1 :], event.comment_id))
        return before
    before = name in pr.heard_elsewhere
    draft.set(
        heard_elsewhere=pr.heard_elsewhere if before else (*pr.heard_elsewhere[-_MOST_HEARD + 1 :], name),
    )
    return before


def _unheard(draft: Draft, event: Unheard) -> None:
    if not _heard_before(draft, event):
        draft.set(place=event.place)
        draft.reply(event.comment_id, replies.unheard())


def _edited(draft: Draft, event: Edited) -> None:
    """Said once for each comment: whoever can edit another's comment must not command in that person's name."""
    run, name = draft.pr.run, f"{event.heard_in}:{event.comment_id}"
    if name in draft.pr.edits_answered or (event.bare and (run is None or run.state not in _WAITING)):
        return
    draft.set(place=event.place, edits_answered=(*draft.pr.edits_answered[-_MOST_HEARD + 1 :], name))
    text = replies.edits_do_not_count()
    draft.effect("reply", {"comment_id": event.comment_id, "text": text, "about": "edit"})


def _head_moved(draft: Draft, event: HeadMoved) -> None:
    run = draft.pr.run
    if run is None or event.head_sha == draft.pr.head_sha or _came_late(draft.pr, event):
        return
    draft.set(place=event.place, head_before=event.before)
    if run.state in (RunState.halted, RunState.out_of_scope):
        # The author answered a halt with a new commit: nobody should have to ask again (DESIGN "The run").
        draft.set(head_sha=event.head_sha)
        draft.begin_run(run.asked_by, run.requested, run.requested_reason)
    else:
        if run.state is RunState.assessing:
            # It may have read the commit of before: it is read again where it turns out so.
            draft.change(head_moved_to=event.head_sha)
        draft.notice_head(event.head_sha)
        if run.state is RunState.awaiting_reviewer and run.question_id:
            # The question says of itself that it is about a commit of before.
            draft.run_effect("ask")


def _came_late(pr: PullRequest, event: HeadMoved) -> bool:
    """Deliveries overtake each other: this one tells of the head before the one that is known."""
    return event.head_sha == pr.head_before and event.before != pr.head_sha


def _base_changed(draft: Draft, event: BaseChanged) -> None:
    """Told wherever the run is told of; an answer to a question about another base asks anew (see `orders`)."""
    run = draft.pr.run
    draft.set(place=event.place)
    if run is None or not run.base_ref:
        return
    moved_to = "" if event.base_ref == run.base_ref else event.base_ref
    if run.base_moved_to == moved_to:
        return
    draft.change(base_moved_to=moved_to)
    draft.publish()
    if run.state is RunState.awaiting_reviewer and run.question_id:
        draft.run_effect("ask")


def _touched(draft: Draft, event: OwnCommentTouched) -> None:
    """What the bot keeps true is written again; what it only said once stays as people left it."""
    run = draft.pr.run
    if event.comment_id == draft.pr.comment_id:
        _comment_lost(draft, event.gone)
    elif run is not None and run.state is RunState.awaiting_reviewer and event.comment_id == run.question_id:
        draft.change(question_id=0 if event.gone else run.question_id)
        draft.run_effect("ask")


def _comment_lost(draft: Draft, gone: bool) -> None:
    draft.set(comment_digest="", comment_id=0 if gone else draft.pr.comment_id)
    draft.publish()


def _reopened(draft: Draft, event: Reopened) -> None:
    draft.set(place=event.place, is_open=True)
    if draft.pr.run is not None:
        # The comment told that it is closed, and the check run offered nothing.
        draft.publish()


def _closed(draft: Draft, event: Closed) -> None:
    draft.set(place=event.place, is_open=False)
    run = draft.pr.run
    if run is None or run.state.ended:
        return
    # A ferry that is out goes on to its verdict; nothing new is submitted (DESIGN "Trust").
    if run.state.has_live_ferry or run.state in (RunState.collecting, RunState.comparing):
        draft.publish()
    elif run.state is RunState.awaiting_escalation:
        draft.end(RunState.warned, replies.closed_run(event.merged))
    else:
        draft.end(RunState.stopped, replies.closed_run(event.merged))


def _effect_failed(draft: Draft, event: EffectFailed) -> None:
    run = draft.pr.run
    draft.reason = f"{event.kind} was given up: {event.sentence}"
    if event.kind == "authorise":
        draft.reply(event.comment_id, replies.cannot_authorise(event.sentence))
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
        climb.asked(draft, event)
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
