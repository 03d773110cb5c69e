"""A look at GitHub takes a while, and what is told meanwhile is newer than what it saw."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from bot.conversation import replies
from bot.conversation.commands import Assess, Go
from bot.gating.events import Authorised
from bot.gating.happenings import Closed, Reopened
from bot.gating.states import RunState
from bot.github.model import PullInfo
from bot.recovery.differences import Seen, differences
from tests.gating.story import HEAD, PLACE, START, Story

BEFORE, THEN, LATER = (START + timedelta(minutes=minutes) for minutes in (1, 2, 3))


def asked() -> Story:
    story = Story()
    story.say(Assess())
    story.assessed()
    return story


def said(story: Story) -> list[str]:
    return [str(effect.payload["text"]) for effect in story.effects if effect.kind == "reply"]


def test_a_merge_during_the_look_up_of_a_command_stays_known_and_the_command_does_nothing() -> None:
    story = asked()
    story.tell(Closed(PLACE, merged=True, at=THEN))
    story.tell(Authorised(900, "rev", "write", Go("3"), HEAD, is_open=True, unmoved=True, as_of=BEFORE))
    assert (story.state(), story.run.ordinal, story.pr.is_open) == (RunState.stopped, 1, False)
    assert said(story)[-1] == replies.closed()


def test_a_reopening_during_the_look_up_stays_known_and_the_command_is_obeyed() -> None:
    story = asked()
    story.tell(Closed(PLACE, merged=False, at=BEFORE))
    story.tell(Reopened(PLACE, HEAD, at=LATER))
    story.tell(Authorised(900, "rev", "write", Assess(), HEAD, is_open=False, as_of=THEN))
    assert (story.state(), story.run.ordinal, story.pr.is_open) == (RunState.assessing, 2, True)


def test_a_look_up_that_is_newer_than_what_was_told_is_believed() -> None:
    story = asked()
    story.tell(Closed(PLACE, merged=False, at=BEFORE))
    story.tell(Authorised(900, "rev", "write", Assess(), HEAD, is_open=True, as_of=THEN))
    assert (story.run.ordinal, story.pr.is_open, story.pr.open_as_of) == (2, True, THEN)


def test_a_merge_during_a_round_of_recovery_is_not_undone_by_what_the_round_saw() -> None:
    story = Story()
    story.to_ferrying()
    story.tell(Closed(PLACE, merged=True, at=THEN))
    pull = PullInfo(PLACE.number, "t", "ada", HEAD, "main", PLACE.full_name, False, "open", False, False)
    for as_of, open_then in ((BEFORE, False), (LATER, True)):
        seen = Seen(replace(pull, updated_at=as_of), (), None)
        for event in differences(story.pr, seen, "perf-gate"):
            if isinstance(event, (Closed, Reopened)):
                story.tell(event)
        assert story.pr.is_open is open_then
