"""What is told of a pull request that was looked at, and in which order."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from bot.conversation.commands import Assess, Status
from bot.gating.events import Authorised
from bot.gating.happenings import Closed, HeadMoved, Mentioned, Reopened
from bot.gating.hearing import MOST_HEARD
from bot.gating.states import RunState
from bot.github.model import Comment, PullInfo
from bot.recovery.differences import Seen, differences
from tests.gating.story import HEAD, NEWER, PLACE, START, Story
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


def comment(number: int, body: str) -> Comment:
    return Comment(number, "rev", False, body, START, START, f"#{number}", author_is_person=True)


def heard_of(story: Story, *comments: Comment) -> list[int]:
    found = differences(story.pr, replace(seen("open", HEAD), comments=comments), "perf-gate")
    return [event.comment_id for event in found if isinstance(event, Mentioned)]


def test_where_the_bot_was_asked_in_a_review_it_hears_what_is_said_below_its_own_comment() -> None:
    story = Story()
    story.tell(Mentioned(PLACE, 77, "rev", Assess(), heard_in="review"))
    story.tell(Authorised(77, "rev", "write", Assess(), HEAD, True, heard_in="review"))
    story.assessed()
    question = story.run.question_id
    assert story.pr.heard == ()
    assert heard_of(story, comment(question - 1, "@perf-gate go"), comment(question + 1, "@perf-gate go")) == [
        question + 1
    ]


def test_what_was_said_before_the_first_that_is_still_remembered_is_not_heard_again() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    for number in range(1000, 1000 + MOST_HEARD):
        story.tell(Mentioned(PLACE, number, "rev", Status()))
    assert min(story.pr.heard) == 1000
    assert heard_of(story, comment(999, "@perf-gate go")) == []
