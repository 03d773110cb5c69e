"""Answers that come while their question is still on its way to GitHub: kept, and weighed when it stands there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.conversation.commands import Assess, Go, Retry, Skip, Stop
from bot.engine.port import EffectRequest
from bot.gating.draft import MOST_HELD
from bot.gating.events import Assessed, Authorised, EffectFailed
from bot.gating.states import RunState
from bot.gating.written import Asked
from tests.gating.story import BASE, CONFIG, HEAD, MAIN, NEWER, Story, assessment, plan
from tests.gating.test_orders import last_reply

SAID_AT = datetime(2026, 6, 20, 8, 30, tzinfo=UTC)


def on_its_way() -> Story:
    story = Story()
    story.say(Assess())
    story.tell(
        Assessed(story.run.id, HEAD, BASE, "main", "main", False, MAIN, CONFIG, plan(1), assessment("3")),
    )
    assert (story.state(), story.run.question_id) == (RunState.awaiting_reviewer, 0)
    return story


def looked_up(story: Story) -> list[EffectRequest]:
    assert story.last is not None
    return [effect for effect in story.last.effects if effect.kind == "authorise"]


def test_an_answer_is_looked_at_once_more_when_the_question_stands_and_never_before() -> None:
    story = on_its_way()
    assert story.say(Go()) == ["react", "authorise"]
    assert looked_up(story) == []
    story.tell(Asked(story.run.id, 500))
    (again,) = looked_up(story)
    assert (again.payload["comment_id"], again.payload["actor"], again.due) == (102, "rev", None)
    # Once: an edit of the question looks at nothing.
    story.tell(Asked(story.run.id, 500))
    assert looked_up(story) == []
    story.tell(Authorised(102, "rev", "write", Go(), HEAD, True))
    assert "Your answer came before the question" in last_reply(story)


def test_an_answer_to_what_the_same_comment_asked_before_is_none() -> None:
    """After a restored backup the question of a later commit stands in a comment that asked about an earlier one."""
    story = on_its_way()
    story.tell(Asked(story.run.id, 500, SAID_AT + timedelta(minutes=1)))
    story.tell(Authorised(501, "rev", "write", Skip("no need"), HEAD, True, said_at=SAID_AT))
    assert "Your answer came before the question" in last_reply(story)
    assert story.state() is RunState.awaiting_reviewer
    # Within one second the comments' numbers tell.
    later = SAID_AT + timedelta(minutes=1)
    story.tell(Authorised(502, "rev", "write", Skip("no need"), HEAD, True, said_at=later))
    assert story.state() is RunState.waived


def test_an_answer_of_a_review_is_weighed_as_one() -> None:
    story = on_its_way()
    story.tell(
        Authorised(77, "rev", "write", Skip("no need"), HEAD, True, heard_in="review", said_at=SAID_AT, actor_id=3)
    )
    story.tell(Asked(story.run.id, 500))
    (again,) = looked_up(story)
    assert again.payload == {
        "comment_id": 77,
        "actor": "rev",
        "actor_id": 3,
        "said": {"type": "go", "max_gate": "skip", "reason": "no need"},
        "said_at": SAID_AT.isoformat(),
        "heard_in": "review",
    }


def test_a_crowd_that_answers_is_told_to_wait_for_the_question() -> None:
    story = on_its_way()
    for _ in range(MOST_HELD):
        story.say(Go())
    assert story.say(Go())[-2:] == ["reply", "react"]
    assert "on its way" in last_reply(story)
    story.tell(Asked(story.run.id, 500))
    assert len(looked_up(story)) == MOST_HELD


@pytest.mark.parametrize(
    ("command", "base", "head", "why"),
    [
        (Assess(), "release", HEAD, "its question is asked anew"),
        (Retry(), "main", HEAD, "its question is asked anew"),
        (Assess(), "main", NEWER, f"the head moved to `{NEWER[:10]}`"),
    ],
)
def test_who_answered_a_question_that_is_asked_anew_is_told_what_happened(
    command: Assess | Retry, base: str, head: str, why: str
) -> None:
    story = on_its_way()
    story.say(Go())
    story.tell(Authorised(300, "bob", "write", command, head, True, base_ref=base))
    assert f"the run has ended since: {why}" in last_reply(story)


def test_a_stop_is_not_overruled_by_an_answer_from_before_it() -> None:
    """Looked at again after the end, an explicit ceiling would be consent for a new run: the ferry nobody wants."""
    story = on_its_way()
    story.say(Go("3"))
    assert story.say(Stop(), "bob")[-1] == "react", "the stop is answered, too"
    assert story.last is not None
    assert (story.state(), looked_up(story)) == (RunState.stopped, [])
    (told,) = [effect.payload for effect in story.last.effects if effect.kind == "reply"]
    assert told == {
        "comment_id": 102,
        "text": "Your answer came before its question stood here, and the run has ended since: stopped by bob. "
        "Nothing was run.",
    }


def test_where_the_question_cannot_be_posted_every_answer_is_answered_all_the_same() -> None:
    failed = on_its_way()
    failed.say(Go())
    failed.tell(EffectFailed("ask", failed.run.id, "GitHub refuses it"))
    assert failed.state() is RunState.stuck
    assert len(looked_up(failed)) == 1
