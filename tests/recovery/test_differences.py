"""What is told of a pull request that was looked at, and in which order."""

from __future__ import annotations

from typing import Literal

from bot.conversation.commands import Assess
from bot.gating.happenings import Closed, HeadMoved, Reopened
from bot.gating.states import RunState
from bot.github.model import PullInfo
from bot.recovery.differences import Seen, differences
from tests.gating.story import HEAD, NEWER, PLACE, Story
from tests.gating.test_lifecycle import halted


def seen(state: Literal["open", "closed"], head: str) -> Seen:
    pull = PullInfo(PLACE.number, "Buffer more", "ada", head, "main", PLACE.full_name, False, state, False, False)
    return Seen(pull, (), None)


def test_what_is_closed_is_told_before_where_its_head_went() -> None:
    """Else the push would be read of a pull request that nobody can merge any more."""
    story = halted()
    found = differences(story.pr, seen("closed", NEWER), "perf-gate")
    assert [type(event) for event in found] == [Closed, HeadMoved]
    for event in found:
        story.tell(event)
    assert (story.state(), story.run.ordinal) == (RunState.halted, 1)


def test_what_is_open_again_is_told_before_where_its_head_went() -> None:
    story = halted()
    story.tell(Closed(PLACE, merged=False))
    found = differences(story.pr, seen("open", NEWER), "perf-gate")
    assert [type(event) for event in found] == [Reopened, HeadMoved]
    for event in found:
        story.tell(event)
    assert story.run.ordinal == 2


def test_a_push_that_was_found_while_it_was_closed_is_read_when_it_is_open_again() -> None:
    story = halted()
    for state in ("closed", "open"):
        for event in differences(story.pr, seen(state, NEWER), "perf-gate"):
            story.tell(event)
    assert (story.state(), story.run.ordinal) == (RunState.assessing, 2)


def test_what_is_as_it_was_believed_tells_nothing() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    assert differences(story.pr, seen("open", HEAD), "perf-gate") == []
