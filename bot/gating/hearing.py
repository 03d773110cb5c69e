"""What people say to the bot, heard once: words are answered at once, a command waits for the permission look-up."""

from __future__ import annotations

import msgspec

from bot.conversation import replies
from bot.conversation.commands import Help, Misunderstood, Status
from bot.gating.draft import Draft
from bot.gating.happenings import Edited, Mentioned, Unheard
from bot.gating.states import RunState

# Far more than people say while one of them is still on its way.
MOST_HEARD = 100
_WAITING = (RunState.awaiting_reviewer, RunState.awaiting_escalation)


def mentioned(draft: Draft, event: Mentioned) -> None:
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
        payload = {"comment_id": event.comment_id, "actor": event.actor, "actor_id": event.actor_id, "said": said}
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
        draft.set(heard=pr.heard if before else (*pr.heard[-MOST_HEARD + 1 :], event.comment_id))
        return before
    before = name in pr.heard_elsewhere
    draft.set(
        heard_elsewhere=pr.heard_elsewhere if before else (*pr.heard_elsewhere[-MOST_HEARD + 1 :], name),
    )
    return before


def unheard(draft: Draft, event: Unheard) -> None:
    if not _heard_before(draft, event):
        draft.set(place=event.place)
        draft.reply(event.comment_id, replies.unheard())


def edited(draft: Draft, event: Edited) -> None:
    """Said once for each comment: whoever can edit another's comment must not command in that person's name."""
    run, name = draft.pr.run, f"{event.heard_in}:{event.comment_id}"
    if name in draft.pr.edits_answered or (event.bare and (run is None or run.state not in _WAITING)):
        return
    draft.set(place=event.place, edits_answered=(*draft.pr.edits_answered[-MOST_HEARD + 1 :], name))
    text = replies.edits_do_not_count()
    draft.effect("reply", {"comment_id": event.comment_id, "text": text, "about": "edit"})
