"""One pull request's past, read for tracing: moves with their events as plain JSON, and which of them are one run's.

Events are read as JSON and not as today's types, so that whatever any release wrote can be told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

import msgspec

from bot.engine.views import ActView, AttemptView, History, MoveView

Event = dict[str, Any]


def event_of(move: MoveView) -> Event:
    try:
        found = msgspec.json.decode(move.event)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


class Past(msgspec.Struct, frozen=True, dict=True):
    """An aggregate's history by the ids that lead from one part to the next."""

    key: str
    history: History

    @cached_property
    def events(self) -> dict[int, Event]:
        return {move.seq: event_of(move) for move in self.history.moves}

    @cached_property
    def acts(self) -> dict[str, ActView]:
        return {act.id: act for act in self.history.acts}

    @cached_property
    def attempts(self) -> dict[str, list[AttemptView]]:
        found: dict[str, list[AttemptView]] = {}
        for attempt in self.history.attempts:
            found.setdefault(attempt.effect, []).append(attempt)
        return found

    @cached_property
    def _moves(self) -> dict[int, MoveView]:
        return {move.seq: move for move in self.history.moves}

    @cached_property
    def begins(self) -> dict[str, int]:
        """Run → seq of the first move of the chain that began it, in order."""
        first: dict[str, int] = {}
        for act in self.history.acts:
            if act.scope and "/" not in act.scope and act.asked_by is not None:
                first.setdefault(act.scope, self.root(act.asked_by))
        # Acts that an older release asked for do not say by whom; their outcomes name the run.
        for move in self.history.moves:
            if run := self.events[move.seq].get("run_id"):
                first.setdefault(run, move.seq)
        return dict(sorted(first.items(), key=lambda item: item[1]))

    def root(self, seq: int) -> int:
        """The move that set this one in motion: a delivery's, a timer's, or one of recovery."""
        while (before := self.asker(seq)) is not None:
            seq = before
        return seq

    def asker(self, seq: int) -> int | None:
        """The move that asked for the effect whose end caused this move."""
        move = self._moves.get(seq)
        act = self.acts.get(move.cause.removeprefix("effect:")) if move is not None else None
        return None if act is None or act.asked_by is None or act.asked_by >= seq else act.asked_by

    def run_at(self, seq: int) -> str | None:
        """The run that a move belongs to: the one it names, else the one that was current."""
        if named := self.events.get(seq, {}).get("run_id"):
            return str(named)
        return next((run for run, begin in reversed(self.begins.items()) if begin <= seq), None)

    def of_run(self, run: str) -> list[MoveView]:
        return [move for move in self.history.moves if self.run_at(move.seq) == run]

    def following(self, seqs: Collection[int]) -> list[MoveView]:
        """These moves and whatever came of them through effects."""
        known = set(seqs)
        for move in self.history.moves:
            if (asker := self.asker(move.seq)) is not None and asker in known:
                known.add(move.seq)
        return [move for move in self.history.moves if move.seq in known]

    def acts_of(self, moves: Iterable[MoveView]) -> list[ActView]:
        asked = {move.seq for move in moves}
        return [act for act in self.history.acts if act.asked_by in asked]
