"""The bot's ears without its hands: deliveries go through the real routing, parser and state machine, and what would be
written on GitHub is counted. Look-ups are answered at once: `rev` may do everything, everybody else nothing."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec

from bot.conversation.commands import Command
from bot.engine.port import Delivery, EffectRequest
from bot.gating.events import Authorised, Denied, EffectFailed, Event
from bot.gating.keeping import kept
from bot.gating.words import HeardIn
from tests.gating.story import HEAD, PLACE, Story

EVENT_OF: dict[HeardIn, str] = {
    "comment": "issue_comment",
    "review": "pull_request_review",
    "thread": "pull_request_review_comment",
}
SETTLED = ("+1", "confused", "rocket")


def payload(heard_in: HeardIn, number: int, login: str, body: str, before: str | None = None) -> bytes:
    """A delivery's body; with `before`, of an edit."""
    review = heard_in == "review"
    said = {"id": number, "body": body, "user": {"login": login, "type": "User"}}
    said |= {"submitted_at" if review else "created_at": "2026-06-21T08:00:00Z"}
    pull = {"number": PLACE.number, "user": {"login": PLACE.author}, "head": {"sha": HEAD}}
    whole: dict[str, Any] = {
        "action": "edited" if before is not None else "submitted" if review else "created",
        "repository": {"id": PLACE.repository_id, "full_name": PLACE.full_name},
        "installation": {"id": PLACE.installation_id},
        "review" if review else "comment": said,
    }
    whole |= {"issue": pull | {"pull_request": {}}} if heard_in == "comment" else {"pull_request": pull}
    whole |= {"changes": {"body": {"from": before}}} if before is not None else {}
    return json.dumps(whole).encode()


class Listener:
    """One pull request's story that is spoken to. `answers` counts by what was said: reactions, "reply", "help"."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.commands: list[Command] = []

    def hear(self, heard_in: HeardIn, number: int, login: str, body: str, before: str | None = None) -> Counter[str]:
        """Deliver it, let what follows follow; what the bot would have written to this very comment."""
        said = payload(heard_in, number, login, body, before)
        event = EVENT_OF[heard_in]
        left = kept(event, said, "perf-gate")
        if left is None:
            assert self.story.machine.route(Delivery("guid", event, said)) == ()
            return Counter()
        answers: Counter[str] = Counter()
        for _, heard in self.story.machine.route(Delivery("guid", event, left)):
            self._follow(heard, number, answers)
        return answers

    def _follow(self, event: Event, number: int, answers: Counter[str]) -> None:
        self.story.tell(event)
        assert self.story.last is not None
        for effect in self.story.last.effects:
            if effect.payload.get("comment_id") != number:
                continue
            answers[str(effect.payload.get("content", effect.kind))] += 1
            if effect.kind == "authorise":
                self._follow(self._looked_up(effect), number, answers)
            elif effect.kind == "rejudge":
                failed = EffectFailed("rejudge", "", "it broke", number, effect.payload.get("heard_in", "comment"))
                self._follow(failed, number, answers)

    def _looked_up(self, effect: EffectRequest) -> Event:
        number, actor = effect.payload["comment_id"], effect.payload["actor"]
        heard_in = effect.payload.get("heard_in", "comment")
        if actor != "rev":
            return Denied(number, actor, "write", "read", heard_in)
        command: Command = msgspec.convert(effect.payload["said"], Command)
        self.commands.append(command)
        return Authorised(number, actor, "write", command, HEAD, True, heard_in=heard_in, said_at=self.story.now)


def assert_answered_once(heard_in: HeardIn, answers: Counter[str]) -> None:
    """👀 and one of 👍 😕 🚀, with words at most once; a review, which takes no reaction, has words exactly once."""
    words = answers["reply"] + answers["help"]
    if heard_in == "review":
        assert words == 1, answers
    else:
        assert answers["eyes"] == 1, answers
        assert sum(answers[sign] for sign in SETTLED) == 1, answers
        assert words <= 1, answers
