"""What is remembered of commits that are no longer the head: they may be the head again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.conversation.commands import Answer, Assess, Go, Retry, Stop
from bot.gating.events import Assessed
from bot.gating.happenings import HeadMoved
from bot.gating.states import RunState
from bot.gating.written import Asked
from tests.gating.story import BASE, CONFIG, HEAD, HOT, MAIN, NEWER, PLACE, Story, assessment, plan
from tests.gating.test_handover import LONG, WORDS, asked
from tests.gating.test_orders import last_reply


@pytest.mark.parametrize("read", [False, True])
def test_a_push_and_its_undoing_wash_nothing_off_a_commit(read: bool) -> None:
    """The author pushes something, has that begun, and pushes the commit of before again."""
    story = asked("3", LONG)
    for word in WORDS:
        story.say(word, "rev")
    story.say(Go("3"), "rev")
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "fail")
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    story.say(Assess(), "ada", head=NEWER)
    if read:
        story.assessed(assessment("1"), head=NEWER, ladder=LONG)
        assert (story.run.proposed, story.run.corrections) == ("1", ())
    story.say(Stop(), "ada", head=NEWER)
    story.tell(HeadMoved(PLACE, HEAD, NEWER))
    story.say(Assess(), "ada")
    story.assessed(assessment("3"), ladder=LONG)
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


def test_an_author_who_retargets_comes_to_no_less_than_another_answered_for_the_commit() -> None:
    """The answer is of another diff there, and even back on its own base another run stands between."""
    story = Story()
    story.say(Assess())
    _read(story, "main", BASE)
    story.say(Answer(HOT, "memory", True, "read the buffers"))
    assert story.run.proposed == "3"
    for base_ref, merge_base in (("release", "e" * 40), ("main", BASE)):
        story.say(Stop(), "ada")
        story.say(Assess(), "ada")
        _read(story, base_ref, merge_base)
        assert (story.run.corrections, story.run.proposed) == ((), "3")
        story.say(Go("1"), "ada")
        assert "less than the `3` that `rev` named" in last_reply(story)
    # Another person may.
    story.say(Go("1"), "bob")
    assert story.state() is RunState.preparing


def test_an_answer_that_others_took_back_holds_the_author_to_nothing() -> None:
    story = Story()
    story.say(Assess())
    _read(story, "main", BASE)
    story.say(Answer(HOT, "memory", True))
    story.say(Answer(HOT, "memory", False), "bob")
    story.say(Retry(), "ada")
    _read(story, "main", BASE)
    story.say(Go(), "ada")
    assert (story.state(), story.run.max_gate) == (RunState.preparing, "1")


def _read(story: Story, base_ref: str, merge_base: str) -> None:
    """A diff that alone asks for gate 1, and its question."""
    found = assessment("1")
    calm = replace(found.per_file[HOT], shuffle=False, memory=False, cpu=False, design=False)
    found = replace(found, per_file={HOT: calm})
    ladder = plan(1, 2, 3)
    story.tell(Assessed(story.run.id, HEAD, merge_base, base_ref, "main", False, MAIN, CONFIG, ladder, found))
    story.tell(Asked(story.run.id, 90 + story.run.ordinal))
