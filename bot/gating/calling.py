"""Whom the bot calls, for what, and what calls nobody any more: worked out of what a step changed.

People are called once for each thing, and never more (DESIGN "The run"): by the question where it needs an answer, else
by a short comment.
"""

from __future__ import annotations

from bot.conversation import notices
from bot.gating.draft import Draft
from bot.gating.events import Event, Rejudged, Watched
from bot.gating.marks import Notice
from bot.gating.model import Run
from bot.gating.states import RunState
from bot.gating.written import Asked, Noticed

_BY_VERDICT = (RunState.passed, RunState.warned, RunState.failed, RunState.inconclusive)


def after(draft: Draft, event: Event, before: Run | None) -> None:
    """Ask for the calls, and the folding away, that this event gives cause for; `before` is the run as it was."""
    run = draft.pr.run
    if run is None:
        return
    if isinstance(event, Noticed):
        _noticed(draft, event)
    elif isinstance(event, Asked):
        if run.id != event.run_id or run.state is not RunState.awaiting_reviewer:
            _settle(draft, event.run_id, event.comment_id, notices.no_answer_needed(""))
    elif before is not None and before.id != run.id:
        _fold_the_run_before(draft, before)
    elif before is not None and before.state is not run.state:
        if before.state is RunState.awaiting_reviewer:
            _settle(draft, run.id, before.question_id, _what_came_of_it(run))
        # Who had reports judged again was answered; and a warning that nobody answers is no news.
        if not isinstance(event, Rejudged) and before.state is not RunState.awaiting_escalation:
            _state_entered(draft, run)
    elif isinstance(event, Watched):
        _trouble_seen(draft, run)


def _state_entered(draft: Draft, run: Run) -> None:
    author = draft.pr.place.author if draft.pr.place is not None else ""
    reviewer = run.approved_by or run.asked_by
    judgement = run.gate.judgement if run.gate is not None else None
    if run.state is RunState.halted:
        _call(draft, "halted", notices.halted((reviewer, author), run.head_sha))
    elif run.state is RunState.stuck:
        _call(draft, "stuck", notices.stuck((reviewer,), run.head_sha))
    elif run.state is RunState.awaiting_escalation:
        number = run.gates[-1].number
        _call(draft, f"continue-{number}", notices.asks_to_continue((reviewer,), number, run.head_sha))
    elif run.state in _BY_VERDICT and judgement is not None:
        people = (reviewer, author) if run.state is RunState.failed else (reviewer,)
        _call(draft, "verdict", notices.verdict(people, judgement.verdict, run.gates[-1].number, run.head_sha))


def _trouble_seen(draft: Draft, run: Run) -> None:
    """The first trouble of a run's ferries calls the reviewer; whatever else is wrong later stands in the comment."""
    if run.attempt is None or not run.attempt.vitals.current:
        return
    what = str(run.attempt.vitals.current[0].kind)
    text = notices.trouble((run.approved_by or run.asked_by,), what, run.gates[-1].number, run.head_sha)
    _call(draft, "trouble", text)


def _call(draft: Draft, what: str, text: str) -> None:
    run = draft.run
    if what not in run.called_for:
        draft.change(called_for=(*run.called_for, what))
        draft.effect("notify", {"run_id": run.id, "what": what, "text": text})


def _what_came_of_it(run: Run) -> str:
    if run.state in (RunState.preparing, RunState.waived):
        return notices.answered(run.approved_by, run.max_gate or "skip")
    return notices.no_answer_needed(run.reason if run.state is RunState.stopped else "")


def _fold_the_run_before(draft: Draft, before: Run) -> None:
    if before.state is RunState.awaiting_reviewer:
        _settle(draft, before.id, before.question_id, notices.no_answer_needed("it is asked anew"))
    former = [notice.node_id for notice in draft.pr.notices]
    if former:
        draft.set(notices=())
        draft.effect("hide", {"node_ids": former})


def _noticed(draft: Draft, event: Noticed) -> None:
    if event.run_id == draft.run.id:
        draft.set(notices=(*draft.pr.notices, Notice(event.run_id, event.node_id)))
    else:
        # It was on its way when another run began.
        draft.effect("hide", {"node_ids": [event.node_id]})


def _settle(draft: Draft, run_id: str, question_id: int, text: str) -> None:
    """`question_id` 0: whether it was posted is not known, since no answer came so far."""
    draft.effect("settle", {"run_id": run_id, "question_id": question_id, "text": text})
