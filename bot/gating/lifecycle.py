"""What becomes of a run when its pull request is pushed to, retargeted, closed or reopened, or its comments touched."""

from __future__ import annotations

from bot.conversation import replies
from bot.gating.draft import Draft
from bot.gating.happenings import BaseChanged, Closed, HeadMoved, OwnCommentTouched, Reopened
from bot.gating.model import PullRequest
from bot.gating.states import JUDGING, RunState


def head_moved(draft: Draft, event: HeadMoved) -> None:
    run = draft.pr.run
    if run is None or event.head_sha == draft.pr.head_sha or _came_late(draft.pr, event):
        return
    draft.set(place=event.place, head_before=event.before)
    if run.state is RunState.assessing:
        # It may have read the commit of before: it is read again where it turns out so.
        draft.change(head_moved_to=event.head_sha)
    draft.notice_head(event.head_sha)
    if run.state is RunState.awaiting_reviewer and run.question_id:
        # The question says of itself that it is about a commit of before.
        draft.run_effect("ask")
    read_the_push(draft)


def read_the_push(draft: Draft) -> None:
    """Begin anew where the author answered a halt with a new commit: nobody has to ask again (DESIGN "The run").

    However the bot came to know of the commit; of a closed pull request nothing is read until it is open again.
    """
    run = draft.pr.run
    ended_early = run is not None and run.state in (RunState.halted, RunState.out_of_scope)
    if run is not None and ended_early and run.head_moved_to and draft.pr.is_open:
        _begin_again(draft)


def _begin_again(draft: Draft) -> None:
    run = draft.run
    draft.begin_run(run.asked_by, run.requested, run.requested_reason, by_author=run.by_author)
    draft.change(cluster=run.cluster)


def _came_late(pr: PullRequest, event: HeadMoved) -> bool:
    """Deliveries overtake each other: this one tells of the head before the one that is known."""
    return event.head_sha == pr.head_before and event.before != pr.head_sha


def base_changed(draft: Draft, event: BaseChanged) -> None:
    """Told wherever the run is told of; an answer to a question about another base asks anew (see `orders`)."""
    run = draft.pr.run
    draft.set(place=event.place)
    if run is None:
        return
    if run.state is RunState.assessing:
        # What is being read may be the diff to the base of before: then it is read again.
        draft.change(base_moved_to=event.base_ref)
        return
    if not run.base_ref:
        return
    moved_to = "" if event.base_ref == run.base_ref else event.base_ref
    if run.base_moved_to == moved_to:
        return
    draft.change(base_moved_to=moved_to)
    draft.publish()
    if run.state is RunState.out_of_scope and moved_to and draft.pr.is_open:
        # To another base it is another diff, as where the branch beneath it was merged.
        _begin_again(draft)
    if run.state is RunState.awaiting_reviewer and run.question_id:
        draft.run_effect("ask")


def touched(draft: Draft, event: OwnCommentTouched) -> None:
    """What the bot keeps true is written again; what it only said once stays as people left it."""
    run = draft.pr.run
    if event.comment_id == draft.pr.comment_id:
        comment_lost(draft, event.gone)
    elif run is not None and run.state is RunState.awaiting_reviewer and event.comment_id == run.question_id:
        draft.change(question_id=0 if event.gone else run.question_id)
        draft.run_effect("ask")


def comment_lost(draft: Draft, gone: bool) -> None:
    draft.set(comment_digest="", comment_id=0 if gone else draft.pr.comment_id)
    draft.publish()


def reopened(draft: Draft, event: Reopened) -> None:
    if _is_old_news(draft, event):
        return
    draft.set(place=event.place, is_open=True)
    if draft.pr.run is None:
        return
    # The comment told that it is closed, and the check run offered nothing.
    draft.publish()
    if event.head_sha:
        draft.notice_head(event.head_sha)
        read_the_push(draft)


def _is_old_news(draft: Draft, event: Closed | Reopened) -> bool:
    """Whether something later is known already, as where a failed delivery was asked for again; else remember it."""
    known = draft.pr.open_as_of
    if known is not None and event.at is not None and event.at < known:
        return True
    draft.set(open_as_of=event.at or known)
    return False


def closed(draft: Draft, event: Closed) -> None:
    if _is_old_news(draft, event):
        return
    draft.set(place=event.place, is_open=False)
    run = draft.pr.run
    if run is None or run.state.ended:
        return
    # A ferry that is out goes on to its verdict; nothing new is submitted (DESIGN "Trust").
    if run.state.has_live_ferry or run.state in JUDGING:
        draft.publish()
    elif run.state is RunState.awaiting_escalation:
        draft.end(RunState.warned, replies.closed_run(event.merged))
    else:
        draft.end(RunState.stopped, replies.closed_run(event.merged))
