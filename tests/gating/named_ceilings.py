"""The ceilings that a reviewer named for each commit, followed from outside: the author must never come to less."""

from __future__ import annotations

from bot.conversation.commands import Answer
from bot.gating.events import Authorised, Event
from bot.gating.model import Run
from bot.gating.states import RunState

RANK = {"skip": 0, "1": 1, "2": 2, "3": 3}


class NamedCeilings:
    """Of one pull request that ada wrote and rev reviews."""

    def __init__(self) -> None:
        self._named: dict[str, int] = {}

    def follow(self, event: Event, before: Run | None, after: Run | None) -> None:
        if after is None:
            return
        if before is not None and isinstance(event, Authorised) and event.actor == "ada" and before.id == after.id:
            self._answered_by_the_author(before, after)
        if isinstance(event, Authorised) and event.actor == "rev" and isinstance(event.command, Answer):
            # What the diff asks for is another now, and with it a ceiling that was no more than that.
            self._named.pop(after.head_sha, None)
        elif after.head_sha and after.requested is not None and after.asked_by == "rev":
            self._name(after.head_sha, after.requested)
        elif after.state.ended and after.max_gate is not None and after.approved_by == "rev":
            self._name(after.head_sha, after.max_gate)

    def _name(self, head_sha: str, max_gate: str) -> None:
        self._named[head_sha] = max(self._named.get(head_sha, 0), RANK[max_gate])

    def _answered_by_the_author(self, before: Run, after: Run) -> None:
        if before.state is not RunState.awaiting_reviewer or after.max_gate is None:
            return
        assert after.max_gate != "skip", "the author waived"
        assert after.assessment is not None
        asked_for = max(RANK[after.assessment.max_gate], self._named.get(after.head_sha, 0))
        assert RANK[after.max_gate] >= asked_for, "the author went under what was asked for"
