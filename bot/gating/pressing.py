"""Buttons of the check run: pressed by people, they go the same way as what is said in a comment."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from bot.conversation import replies
from bot.conversation.commands import Command, Continue, Go, Retry, Skip
from bot.gating.draft import Draft
from bot.gating.happenings import Button, Pressed
from bot.gating.marks import Press
from bot.gating.states import RunState

_MOST_PRESSES = 20
_MEANS: Mapping[Button, Command] = {"go": Go(), "skip": Skip(), "continue": Continue(), "retry": Retry()}
_OFFERED_IN: Mapping[Button, RunState] = {
    "go": RunState.awaiting_reviewer,
    "skip": RunState.awaiting_reviewer,
    "continue": RunState.awaiting_escalation,
}


def pressed(draft: Draft, event: Pressed) -> None:
    """Look up who pressed it, as for a comment; an old button does nothing but say so."""
    place, run, check = draft.pr.place, draft.pr.run, draft.pr.check
    if place is None or run is None or check is None:
        return
    if event.cause and any(press.cause == event.cause for press in draft.pr.presses):
        draft.reason = f"{event.cause} told of this press before"
        return
    draft.set(place=replace(place, installation_id=event.installation_id, full_name=event.full_name))
    # GitHub queued what was asked for again, and a pressed button stays: the check run is written anew.
    draft.set(check=replace(check, digest=""))
    draft.show_check()
    press = Press(-(draft.pr.sequence + 1), event.actor, event.button, event.run_id, event.cause)
    draft.set(presses=(*draft.pr.presses[-_MOST_PRESSES + 1 :], press))
    # A newer check run than the one that is known was made, too: only the answer to that was lost.
    of_before = event.run_id != run.id or event.check_id < check.id
    if of_before or run.state is not _OFFERED_IN.get(event.button, run.state):
        draft.reply(press.number, replies.button_of_before(run.state, run.head_sha))
        return
    said = msgspec.to_builtins(_MEANS[event.button])
    payload = {"comment_id": press.number, "actor": event.actor, "actor_id": event.actor_id, "said": said}
    draft.effect("authorise", payload)
