"""Buttons of the check run: pressed by people, they go the same way as what is said in a comment."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from bot.conversation import replies
from bot.conversation.commands import Command, Continue, Go, Retry, Skip
from bot.gating.draft import Draft
from bot.gating.happenings import Button, Pressed
from bot.gating.marks import Press
from bot.gating.model import Run
from bot.gating.states import RunState

_MOST_PRESSES = 20
_MEANS: Mapping[str, Command] = {"go": Go(), "skip": Skip(), "continue": Continue(), "retry": Retry()}
_OFFERED_IN: Mapping[str, RunState] = {
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
    press = Press(-(draft.pr.sequence + 1), event.actor, event.button, event.run_id, event.cause, event.about)
    draft.set(presses=(*draft.pr.presses[-_MOST_PRESSES + 1 :], press))
    # A newer check run than the one that is known was made, too: only the answer to that was lost.
    of_before = event.run_id != run.id or event.check_id < check.id
    why = replies.button_of_before(run.state, run.head_sha) if of_before else _outlived(press, run)
    if why is not None:
        draft.reply(press.number, why)
        return
    said = msgspec.to_builtins(_MEANS[event.button])
    payload = {"comment_id": press.number, "actor": event.actor, "actor_id": event.actor_id, "said": said}
    draft.effect("authorise", payload)


def overtaken(draft: Draft, comment_id: int) -> str | None:
    """What is told of a press whose permission is found only when what it was for is gone; None where it is there."""
    press, run = draft.press_of(comment_id), draft.pr.run
    if press is None or run is None:
        return None
    if press.run_id != run.id:
        return replies.button_of_before(run.state, run.head_sha)
    return _outlived(press, run)


def identifier(button: Button, run: Run) -> str:
    """How GitHub names the button when it tells that it was pressed; at most 20 characters."""
    return f"{button}:{about(run)}"


def about(run: Run) -> str:
    """Eight hex digits that change with what the buttons of a run offer: its proposal, the answers that led to it, and
    the gate after which it may climb on."""
    answers = [f"{one.path}\0{one.question}\0{one.yes}" for one in run.corrections]
    gate = str(run.gate.number) if run.gate is not None else ""
    return sha256("\0".join([run.proposed, gate, *answers]).encode("utf-8", "replace")).hexdigest()[:8]


def _outlived(press: Press, run: Run) -> str | None:
    if (offered_in := _OFFERED_IN.get(press.button)) is None:
        # Re-run offers nothing that an answer could change.
        return None
    if run.state is not offered_in:
        return replies.button_of_before(run.state, run.head_sha)
    # A button that does not tell what it offered was shown by an earlier release: then nothing may have changed.
    if (press.about or run.corrections) and press.about != about(run):
        return replies.asked_anew(run.head_sha)
    return None
