"""An answer of the assessment corrected by a person: the proposal follows, and the rationale says who, when and why."""

from __future__ import annotations

from collections.abc import Collection
from posixpath import basename

from bot.conversation import answers
from bot.conversation.commands import Answer
from bot.gating import ceiling, repeating
from bot.gating.answering import corrected
from bot.gating.draft import Draft
from bot.gating.events import Authorised
from bot.gating.granting import is_author, permissions_of
from bot.gating.stages import closest
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON, Correction

# A question with more answers than these is answered by naming the ceiling.
MOST = 50


def correct(draft: Draft, event: Authorised, command: Answer) -> None:
    """Only while the question waits: what `go` was said to is what runs."""
    run = draft.pr.run
    if run is None or run.state is not RunState.awaiting_reviewer or run.assessment is None:
        live = run is not None and not run.state.ended
        draft.reply(event.comment_id, answers.nothing_to_correct(run.state if run else "", live=live))
        return
    if (why := repeating.about_another_diff(run, event, "corrected")) is not None:
        draft.reply(event.comment_id, why)
        repeating.ask_anew(draft, event)
        return
    known = run.assessment.per_file
    path = resolve(command.path, known)
    if path is None:
        draft.reply(event.comment_id, answers.no_such_file(command.path, list(known), _meant(command.path, known)))
        return
    if getattr(known[path], command.question) is command.yes:
        draft.reply(event.comment_id, answers.answered_so_already(path, command.question, yes=command.yes), done=True)
        return
    weakens = command.yes is (command.question == "trivial")
    by_author = is_author(draft.pr, event)
    if weakens and by_author:
        draft.reply(event.comment_id, answers.author_cannot_correct(permissions_of(run).override))
        return
    kept = tuple(one for one in run.corrections if (one.path, one.question) != (path, command.question))
    if len(kept) >= MOST:
        draft.reply(event.comment_id, answers.enough_corrected(MOST))
        return
    correction = Correction(
        path=path,
        question=command.question,
        yes=command.yes,
        by=event.actor,
        at=draft.now,
        reason=command.reason[:MOST_REASON],
        comment_id=event.comment_id if event.heard_in == "comment" else 0,
        said_at=event.said_at,
    )
    after = corrected(run.assessment, path, command.question, yes=command.yes)
    draft.change(assessment=after, corrections=(*kept, correction))
    draft.change(handover=ceiling.after_correction(draft.run, run.assessment, by_author=by_author))
    draft.change(proposed=ceiling.proposal(draft.run, draft.author))
    draft.reason = f"{event.actor} answered {command.question} of {path!r} otherwise"
    told = answers.corrected(path, command.question, run.proposed, draft.run.proposed, yes=command.yes)
    draft.reply(event.comment_id, told, done=True)
    # The question is written anew in its place.
    draft.run_effect("ask")
    draft.publish()


def resolve(asked: str, paths: Collection[str]) -> str | None:
    """The file that is meant: itself, or the only one whose path ends so."""
    if asked in paths:
        return asked
    ending = [path for path in paths if path.endswith("/" + asked.lstrip("/"))]
    return ending[0] if len(ending) == 1 else None


def _meant(asked: str, paths: Collection[str]) -> str:
    """The path that may have been meant: by the whole of it, or by the file's name alone."""
    by_name = {basename(path): path for path in paths}
    return closest(asked, paths) or by_name.get(closest(basename(asked), by_name), "")
