"""What a pull request goes through while the bot is at work: told late, twice, in another order, or only by looking."""

from __future__ import annotations

from datetime import timedelta

from bot.conversation.commands import Answer, Assess, Go, Stop
from bot.gating.events import Assessed, Authorised, PreflightPassed, Prepared
from bot.gating.happenings import BaseChanged, Closed, HeadMoved, Reopened
from bot.gating.states import RunState
from tests.gating.story import BASE, CONFIG, HEAD, MAIN, NEWER, PLACE, START, Story, assessment, plan


def halted() -> Story:
    story = Story()
    story.to_halted()
    return story


def test_a_late_push_begins_nothing_on_a_closed_pull_request() -> None:
    story = halted()
    story.tell(Closed(PLACE, merged=True))
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    assert (story.state(), story.run.head_moved_to) == (RunState.halted, NEWER)


def test_a_halted_pull_request_that_is_reopened_with_another_head_is_read_again() -> None:
    """GitHub tells of no push to a closed pull request; its head moves when it is reopened."""
    story = halted()
    story.tell(Closed(PLACE, merged=False))
    assert "assess" in story.tell(Reopened(PLACE, NEWER))
    assert story.run.ordinal == 2
    same = halted()
    same.tell(Closed(PLACE, merged=False))
    assert "assess" not in same.tell(Reopened(PLACE, HEAD))


def test_a_push_that_a_command_told_of_is_read_though_its_delivery_comes_later() -> None:
    story = halted()
    kinds = story.say(Answer("shuffle.py", "cpu", False), head=NEWER)
    assert "assess" in kinds
    assert (story.run.ordinal, story.pr.head_sha) == (2, NEWER)
    begun = story.run
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    assert story.run.id == begun.id


def test_whoever_says_stop_is_not_asked_about_the_push_that_was_seen_meanwhile() -> None:
    story = halted()
    assert "assess" not in story.say(Stop(), head=NEWER)
    assert story.state() is RunState.halted


def first_mention(base_ref: str) -> Story:
    """A first `go max_gate=3` that is consent, said when the base was `base_ref`; the diff is being read."""
    story = Story()
    story.tell(BaseChanged(PLACE, "main"))
    go = Authorised(101, "rev", "write", Go("3"), HEAD, True, base_ref, unmoved=True)
    story.tell(go)
    return story


def read(story: Story, base_ref: str) -> list[str]:
    found = assessment()
    return story.tell(Assessed(story.run.id, HEAD, BASE, base_ref, "main", False, MAIN, CONFIG, plan(1, 2, 3), found))


def test_consent_is_for_the_base_it_was_given_about() -> None:
    story = first_mention("main")
    assert "prepare" in read(story, "main")
    moved = first_mention("main")
    assert "ask" in read(moved, "release")


def test_a_base_that_changes_while_the_diff_is_read_is_read_too() -> None:
    story = first_mention("main")
    story.tell(BaseChanged(PLACE, "release"))
    # What was read first is the diff to the base of before.
    assert read(story, "main") == ["assess"]
    assert story.state() is RunState.assessing
    assert "ask" in read(story, "release")
    assert (story.run.base_ref, story.run.base_moved_to) == ("release", "")


def test_a_push_while_the_diff_is_read_is_asked_about_once_it_was_read() -> None:
    story = Story()
    story.say(Assess())
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    assert story.assessed() == ["assess"]
    assert story.state() is RunState.assessing
    assert "ask" in story.assessed(head=NEWER)
    assert (story.state(), story.run.head_sha) == (RunState.awaiting_reviewer, NEWER)


def test_a_command_that_finds_it_closed_tells_the_run_so() -> None:
    """The delivery of the close may be lost: nothing may be submitted all the same."""
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.tell(Prepared(story.run.id))
    story.say(Go(), is_open=False)
    assert story.state() is RunState.stopped
    assert story.tell(PreflightPassed(story.run.id)) == []


def test_a_close_that_is_told_after_the_reopening_that_followed_it_stops_nothing() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    closed, reopened = START + timedelta(minutes=1), START + timedelta(minutes=2)
    story.tell(Reopened(PLACE, HEAD, reopened))
    story.tell(Closed(PLACE, merged=False, at=closed))
    assert (story.state(), story.pr.is_open) == (RunState.awaiting_reviewer, True)
    story.tell(Closed(PLACE, merged=False, at=reopened + timedelta(minutes=1)))
    assert (story.state(), story.pr.is_open) == (RunState.stopped, False)
    story.tell(Reopened(PLACE, HEAD, reopened))
    assert story.pr.is_open is False
