"""The life of a run, told as events. What an author, a reviewer and the cluster do, and what the bot then asks for."""

from __future__ import annotations

import pytest

from bot.conversation.commands import Assess, Continue, Go, Help, Retry
from bot.gating.events import (
    BaselineFound,
    CannotAssess,
    CheckDue,
    Compared,
    EffectFailed,
    Expired,
    PreflightPassed,
    Prepared,
    Refused,
    SlotGranted,
    Submitted,
    Watched,
)
from bot.gating.happenings import Closed, HeadMoved, Mentioned
from bot.gating.model import Attempt
from bot.gating.states import ENDS, RunState
from bot.gating.written import Published
from tests.gating.story import HEAD, NEWER, PLACE, START, Story, baseline, judgement


def test_from_a_mention_to_a_pass() -> None:
    story = Story()
    assert story.say(Assess()) == ["react", "authorise", "assess", "publish", "react"]
    assert story.state() is RunState.assessing
    assert story.assessed() == ["publish", "ask"]
    assert story.run.question_id
    assert story.say(Go()) == ["react", "authorise", "publish", "prepare", "react"]
    assert story.tell(Prepared(story.run.id)) == ["publish", "preflight"]
    assert story.tell(PreflightPassed(story.run.id)) == ["publish", "locate"]
    assert story.state() is RunState.locating_baseline
    assert story.tell(BaselineFound(story.run.id, 1, baseline())) == ["publish"]
    assert story.last is not None
    assert [request.slot for request in story.last.acquire] == ["tier-1"]
    assert story.tell(SlotGranted(story.run.id, 1, 1)) == ["publish", "submit"]
    assert story.tell(Submitted(story.run.id, 1, 1, "/bot/x")) == ["publish"]
    assert [timer.due - START for timer in story.last.timers]
    assert story.tell(CheckDue(story.run.id, 1, 1)) == ["watch"]
    assert story.tell(Watched(story.run.id, 1, 1, Attempt(1, ferry_state="running"), False)) == ["publish"]
    assert story.ferry_ends(1, "pass") == ["publish", "cleanup"]
    assert story.state() is RunState.passed
    assert story.last.release == (f"{story.run.id}/g1/a1",)
    assert story.last.revoke == (story.run.id,)


def test_effect_ids_are_never_used_twice() -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "fail")
    story.say(Retry())
    ids = [effect.id for effect in story.effects]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("verdict", "end"),
    [
        ("pass", RunState.passed),
        ("warn", RunState.warned),
        ("fail", RunState.failed),
        ("not_comparable", RunState.stuck),
    ],
)
def test_each_verdict_of_the_last_gate_is_an_end(verdict: str, end: RunState) -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, verdict)  # type: ignore[arg-type]
    assert story.state() is end
    assert end in ENDS


def test_a_warning_below_the_ceiling_asks_and_continue_climbs_on() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2, 3))
    story.ferry_ends(1, "warn")
    assert story.state() is RunState.awaiting_escalation
    story.say(Continue())
    assert story.state() is RunState.locating_baseline
    assert story.run.gates[-1].number == 2


def test_nobody_continues_and_the_warning_stands() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.ferry_ends(1, "warn")
    story.tell(Expired(story.run.id, story.run.since))
    assert story.state() is RunState.warned


def test_an_expiry_set_for_an_earlier_wait_is_ignored() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.tell(Expired(story.run.id, START))
    assert story.state() is RunState.awaiting_reviewer


def test_a_push_marks_a_live_run_and_restarts_a_halted_one() -> None:
    story = Story()
    story.to_ferrying()
    story.tell(HeadMoved(PLACE, NEWER))
    assert story.run.head_moved_to == NEWER
    assert story.state() is RunState.ferrying
    halted = Story()
    halted.to_halted()
    assert "assess" in halted.tell(HeadMoved(PLACE, NEWER))
    assert halted.run.ordinal == 2


def test_closing_after_a_warning_keeps_the_verdict() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.ferry_ends(1, "warn")
    story.tell(Closed(PLACE, merged=True))
    assert story.state() is RunState.warned
    assert story.run.reason == "the pull request was merged"


def test_closed_before_the_next_gate_is_not_said_to_have_passed_all() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.tell(Closed(PLACE, merged=False))
    story.ferry_ends(1, "pass")
    assert story.state() is RunState.passed
    assert "no higher gate was run" in story.run.reason


def test_late_and_foreign_outcomes_change_nothing() -> None:
    story = Story()
    story.to_ferrying()
    before = story.pr
    for event in (
        Prepared(story.run.id),
        Prepared("42-5199-99"),
        Submitted(story.run.id, 1, 2, "/bot/other"),
        Submitted(story.run.id, 2, 1, "/bot/other"),
        Compared(story.run.id, 1, 1, judgement("fail")),
        CannotAssess(story.run.id, HEAD, "late"),
    ):
        assert story.tell(event) == []
        assert story.pr == before


def test_an_effect_given_up_leaves_the_run_stuck_with_the_sentence_but_a_lost_reaction_does_not() -> None:
    story = Story()
    story.to_ferrying()
    story.tell(EffectFailed("react", "", "GitHub did not answer"))
    assert story.state() is RunState.ferrying
    story.tell(EffectFailed("ask", story.run.id, "the question could not be posted"))
    assert story.state() is RunState.ferrying
    story.tell(EffectFailed("watch", story.run.id, "the ferry cannot be seen"))
    assert story.state() is RunState.stuck
    assert story.run.reason == "the ferry cannot be seen"


def test_a_refusal_is_stuck_and_publishing_goes_on_after_an_end() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.tell(Refused(story.run.id, "an escaping symlink: a/b"))
    assert story.state() is RunState.stuck
    story.tell(Published(9, "digest"))
    assert (story.pr.comment_id, story.pr.comment_digest, story.pr.revision) == (9, "digest", 1)


def test_help_is_given_with_the_built_in_roles_where_the_configuration_cannot_be_read() -> None:
    story = Story()
    story.tell(Mentioned(PLACE, 7, "rev", Help()))
    assert story.tell(EffectFailed("help", "", "GitHub does not let me read the repository", 7)) == ["reply"]
    assert "| Say | and the bot will | Who may |" in story.effects[-1].payload["text"]
