"""What is remembered of commits that are no longer the head: they may be the head again."""

from __future__ import annotations

import pytest

from bot.conversation.commands import Assess, Go, Stop
from bot.gating.happenings import HeadMoved
from bot.gating.states import RunState
from tests.gating.story import HEAD, NEWER, PLACE, Story, assessment
from tests.gating.test_handover import WORDS, asked


@pytest.mark.parametrize("read", [False, True])
def test_a_push_and_its_undoing_wash_nothing_off_a_commit(read: bool) -> None:
    """The author pushes something, has that begun, and pushes the commit of before again."""
    story = asked("3")
    for word in WORDS:
        story.say(word, "rev")
    story.say(Go("3"), "rev")
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "fail")
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    story.say(Assess(), "ada", head=NEWER)
    if read:
        story.assessed(assessment("1"), head=NEWER)
        assert (story.run.proposed, story.run.corrections) == ("1", ())
    story.say(Stop(), "ada", head=NEWER)
    story.tell(HeadMoved(PLACE, HEAD, NEWER))
    story.say(Assess(), "ada")
    story.assessed(assessment("3"))
    assert (story.run.proposed, len(story.run.corrections)) == ("3", 4)
    story.say(Go("1"), "ada")
    assert story.state() is RunState.awaiting_reviewer


def test_of_many_commits_the_last_are_remembered() -> None:
    story = Story()
    for number in range(9):
        head = f"{number:040x}"
        story.say(Go("3"), "rev", head=head)
        story.assessed(assessment("1"), head=head)
        story.say(Stop(), head=head)
    story.say(Assess())
    assert [one.head_sha for one in story.pr.handovers] == [f"{number:040x}" for number in range(4, 9)]
