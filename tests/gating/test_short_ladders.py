"""Ceilings on a ladder with fewer gates than ceilings: what lets the same gates run weakens nothing."""

from __future__ import annotations

import pytest

from bot.conversation.commands import Assess, Go, Retry, Skip
from bot.gating.events import Authorised
from bot.gating.states import RunState
from tests.gating.story import HEAD, Story, assessment
from tests.gating.test_orders import last_reply


@pytest.mark.parametrize(
    ("ladder", "named", "may"),
    [((1,), "1", True), ((1, 2), "2", True), ((1, 2), "1", False), ((1, 3), "2", False), ((2, 3), "1", False)],
)
def test_the_author_may_name_a_ceiling_that_lets_the_same_gates_run(
    ladder: tuple[int, ...], named: str, may: bool
) -> None:
    story = Story()
    story.say(Assess(), "ada")
    story.assessed(ladder=ladder)
    story.say(Go(named), "ada")  # type: ignore[arg-type]
    assert story.state() is (RunState.preparing if may else RunState.awaiting_reviewer)


def test_a_waiver_weakens_a_ladder_of_one_gate_too() -> None:
    story = Story()
    story.say(Assess(), "ada")
    story.assessed(assessment("1"))
    story.say(Skip("trust me"), "ada")
    assert story.state() is RunState.awaiting_reviewer
    assert "measures nothing" in last_reply(story) or "less than" in last_reply(story)


def test_naming_the_only_gate_needs_no_more_than_go_does() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.tell(Authorised(story.run.question_id + 1, "rev", "write", Go("1"), HEAD, True, granted=("go",)))
    assert story.state() is RunState.preparing


def test_what_the_author_named_on_a_short_ladder_does_not_hold_on_a_longer_one() -> None:
    story = Story()
    story.say(Assess(), "ada")
    story.assessed()
    story.say(Go("1"), "ada")
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "fail")
    story.say(Retry(), "ada")
    story.assessed(ladder=(1, 2, 3))
    assert (story.state(), story.run.proposed) == (RunState.awaiting_reviewer, "3")


def test_what_another_let_stand_holds_on_a_longer_ladder_too() -> None:
    story = Story()
    story.to_ferrying(max_gate="1")
    story.ferry_ends(1, "fail")
    story.say(Retry(), "ada")
    story.assessed(ladder=(1, 2, 3))
    assert (story.state(), story.run.max_gate) == (RunState.preparing, "1")
