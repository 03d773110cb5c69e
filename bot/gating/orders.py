"""Authorised commands: what each does in the state the pull request is in, and what is said where it does nothing.

Only `step` calls these, with the `Authorised` event of a permission look-up: there is no other way to command.
"""

from __future__ import annotations

from msgspec.structs import replace

from bot.conversation import again, replies
from bot.conversation.commands import Answer, Assess, Continue, Exclude, Go, Include, Reanalyse, Retry, Skip, Stop
from bot.gating import correcting, deciding, excluding, lifecycle, pressing, rejudging, repeating
from bot.gating.draft import MOST_HELD, Draft
from bot.gating.events import Authorised
from bot.gating.granting import is_author
from bot.gating.happenings import Closed, Reopened
from bot.gating.model import Run
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON, Consent, Held, MaxGate

# What starts nothing new may be said of a closed pull request too.
_JUDGED = (RunState.passed, RunState.warned, RunState.failed, RunState.inconclusive)
_STARTS_NOTHING = (Stop, Exclude, Include, Reanalyse)


def obey(draft: Draft, event: Authorised) -> None:
    """Carry out one command, or reply why not. Every command ends in exactly one visible answer."""
    command = event.command
    run = draft.pr.run
    _notice_the_pull_request(draft, event)
    if (why := pressing.overtaken(draft, event.comment_id)) is not None:
        draft.reply(event.comment_id, why)
    elif not draft.pr.is_open and not isinstance(command, _STARTS_NOTHING):
        draft.reply(event.comment_id, replies.closed())
    elif isinstance(command, Assess):
        _assess(draft, event)
    elif isinstance(command, Go):
        _go(draft, event, command)
    elif isinstance(command, Skip):
        _go(draft, event, Go("skip", command.reason))
    elif isinstance(command, Continue):
        repeating.continue_(draft, event)
    elif isinstance(command, Retry):
        repeating.retry(draft, event, command)
    elif isinstance(command, Stop):
        repeating.stop(draft, event)
    elif isinstance(command, Answer):
        correcting.correct(draft, event, command)
    elif isinstance(command, Exclude):
        excluding.exclude(draft, event, command)
    elif isinstance(command, Include):
        excluding.include(draft, event, command)
    elif isinstance(command, Reanalyse):
        rejudging.reanalyse(draft, event, command)
    if not isinstance(command, Stop) and draft.pr.run is not None and run is not None and draft.run.id == run.id:
        lifecycle.read_the_push(draft)
    if not draft.answered:
        draft.obeyed(event.comment_id)


def _notice_the_pull_request(draft: Draft, event: Authorised) -> None:
    """The look-up may know of a push or a close before its delivery comes, which may also be lost altogether.

    What was told while it was on its way is later, and stands: a merge must not be forgotten for an older look.
    """
    place = draft.pr.place
    if event.author and place is not None:
        place = replace(place, author=event.author)
        draft.set(place=place)
    draft.notice_head(event.head_sha)
    if place is not None and draft.pr.is_open and not event.is_open:
        lifecycle.closed(draft, Closed(place, event.merged, event.as_of))
    elif place is not None and event.is_open and not draft.pr.is_open:
        lifecycle.reopened(draft, Reopened(place, at=event.as_of))


def _assess(draft: Draft, event: Authorised) -> None:
    run = draft.pr.run
    if run is None or run.state.ended:
        draft.begin_run(event.actor)
    elif run.state is RunState.awaiting_reviewer and repeating.about_another_diff(run, event, "run") is not None:
        repeating.ask_anew(draft, event)
    elif run.state is RunState.awaiting_escalation and run.head_sha != event.head_sha:
        repeating.leave_the_warning(draft)
        draft.begin_run(event.actor)
    else:
        draft.reply(event.comment_id, replies.status(run.state, run.head_sha), done=True)


def _go(draft: Draft, event: Authorised, command: Go) -> None:
    run, command = draft.pr.run, replace(command, reason=command.reason[:MOST_REASON])
    if run is not None and run.state in _JUDGED and (why := _buries(draft, event, command)) is not None:
        draft.reply(event.comment_id, why)
    elif run is None or run.state.ended:
        named = command.max_gate is not None and event.unmoved
        wrote_it = is_author(draft.pr, event)
        consent = Consent(event.actor, event.head_sha, event.granted, wrote_it, event.base_ref) if named else None
        draft.begin_run(event.actor, command.max_gate, command.reason, consent, wrote_it)
    elif run.state is RunState.awaiting_reviewer:
        _answer(draft, event, command)
    elif run.state is RunState.awaiting_escalation and command.max_gate is None:
        if run.head_sha == event.head_sha:
            repeating.continue_(draft, event)
        else:
            # `go` is for the head (DESIGN "Trust"); `continue` says that the run is meant.
            draft.reply(event.comment_id, again.warned_about_another_head(run.head_sha, event.head_sha))
    else:
        draft.reply(event.comment_id, replies.already(run.state, run.head_sha))


def _buries(draft: Draft, event: Authorised, command: Go) -> str | None:
    """Why this must begin no run: for the same commit it asks for less than this person may let stand, or None.

    The question of a run that leads nowhere would take the place of the verdict that stands.
    """
    run = draft.run
    if command.max_gate is None or run.assessment is None or run.head_sha != event.head_sha:
        return None
    return deciding.refusal(draft, is_author(draft.pr, event), command.max_gate, event.granted)


def _answer(draft: Draft, event: Authorised, command: Go) -> None:
    run = draft.run
    if not run.question_id:
        _hold(draft, event, command)
        return
    # What a button was pressed for is known by the button itself (see `pressing.overtaken`).
    if draft.press_of(event.comment_id) is None and _came_before_the_question(run, event):
        draft.reply(event.comment_id, replies.asked_anew(run.head_sha))
        return
    if (why := repeating.about_another_diff(run, event, "run")) is not None:
        draft.reply(event.comment_id, why)
        repeating.ask_anew(draft, event, command)
        return
    chosen: MaxGate = command.max_gate or run.proposed
    if (why := deciding.refusal(draft, is_author(draft.pr, event), chosen, event.granted)) is not None:
        draft.reply(event.comment_id, why)
    else:
        deciding.decide(draft, event.actor, chosen, command.reason)


def _hold(draft: Draft, event: Authorised, command: Go) -> None:
    """The question is on its way to GitHub: an answer is weighed once it is known which of the two came first."""
    run = draft.run
    if len(run.held) >= MOST_HELD:
        draft.reply(event.comment_id, replies.question_on_its_way())
        return
    held = Held(event.comment_id, event.actor, command, event.actor_id, event.said_at, event.heard_in)
    draft.change(held=(*run.held, held))
    # It is answered when it was weighed.
    draft.answered = True


def _came_before_the_question(run: Run, event: Authorised) -> bool:
    """Comments below the pull request are numbered in turn; reviews and threads are not, and tell only the second."""
    asked = [run.asked_at, *(one.said_at for one in run.corrections)]
    if event.heard_in == "comment":
        # A question that was found standing had asked something else before, and has its number from then.
        if event.said_at is not None and run.asked_at is not None and event.said_at < run.asked_at:
            return True
        # A corrected answer makes another question of it.
        return event.comment_id < max([run.question_id, *(one.comment_id for one in run.corrections)])
    return event.said_at is None or any(at is not None and event.said_at <= at for at in asked)
