"""What GitHub gave a number: comments, reviews and check runs, by their addresses or by the bare number."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from bot.cli.trace.past import Event, event_of
from bot.engine.tables import attempts, history
from bot.engine.transaction import Tx
from bot.engine.views import MoveView

# As GitHub's pages and its API write them.
_ADDRESSES: Mapping[str, re.Pattern[str]] = {
    "comment": re.compile(r"https?://\S+(?:#issuecomment-|/issues/comments/)(\d+)"),
    "review": re.compile(r"https?://\S+(?:#pullrequestreview-|/pulls/\d+/reviews/)(\d+)"),
    "comment on the diff": re.compile(r"https?://\S+(?:#(?:discussion_)?r|/pulls/comments/)(\d+)"),
    "check run": re.compile(r"https?://\S+(?:[?&]check_run_id=|/check-runs/|/runs/)(\d+)"),
}
_HEARD_IN: Mapping[str, str] = {"comment": "comment", "review": "review", "comment on the diff": "thread"}
_NUMBER = re.compile(r"\d+")
_HEARD = frozenset({"Mentioned", "Edited", "Unheard"})
_WRITTEN = frozenset({"Published", "Asked"})
_CHECKS = frozenset({"Checked", "Pressed"})
# The kinds of effect whose comments no event names: each noted what it wrote.
_SAYING = frozenset({"reply", "help", "notify"})


class Thing(msgspec.Struct, frozen=True):
    """`kind` None: it was given as a bare number."""

    id: str
    kind: str | None = None


def thing(asked: str) -> Thing | None:
    """None for what is neither an address of such a thing nor a number."""
    if _NUMBER.fullmatch(asked):
        return Thing(asked)
    found = ((kind, match) for kind, address in _ADDRESSES.items() if (match := address.fullmatch(asked)))
    return next((Thing(match[1], kind) for kind, match in found), None)


def moves_about(tx: Tx, asked: Thing) -> list[MoveView] | None:
    """What it set in motion, or what wrote it; None where the log does not know it."""
    moves = history.moves_of(tx, _HEARD | _WRITTEN | _CHECKS)
    return [move for move in moves if _is_about(move.kind, event_of(move), asked)] or None


def _is_about(kind: str, event: Event, asked: Thing) -> bool:
    if kind in _CHECKS:
        known = event.get("check_id") or (event.get("check") or {}).get("id")
        return asked.kind in (None, "check run") and str(known) == asked.id
    if str(event.get("comment_id")) != asked.id:
        return False
    heard_in = event.get("heard_in", "comment") if kind in _HEARD else "comment"
    return asked.kind is None or heard_in == _HEARD_IN.get(asked.kind)


def written_by(tx: Tx, asked: Thing) -> str | None:
    """The effect that wrote this comment, where its attempt is still remembered."""
    if asked.kind in ("review", "check run"):
        return None
    noted = attempts.notes_of(tx, _SAYING)
    return next((effect for _, effect, notes in noted if {"comment": int(asked.id)} in notes), None)
