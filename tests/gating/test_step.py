"""The life of a run, told as events. What an author, a reviewer and the cluster do, and what the bot then asks for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.conversation.commands import Assess, Continue, Go, Help, Misunderstood, Retry, Skip, Status, Stop
from bot.gating.events import (
    Assessed,
    Authorised,
    BaselineFound,
    BaselineMissing,
    CannotAssess,
    CheckDue,
    Closed,
    Compared,
    Denied,
    EffectFailed,
    Expired,
    FerryStopped,
    HeadMoved,
    Mentioned,
    PreflightFailed,
    PreflightPassed,
    Prepared,
    Published,
    Refused,
    Reopened,
    SlotGranted,
    Submitted,
    Watched,
)
from bot.gating.model import Attempt, FailedCommand
from bot.gating.states import ENDS, RunState
from tests.gating.story import HEAD, NEWER, PLACE, START, Story, assessment, baseline, judgement, plan


def last_reply(story: Story) -> str:
    replies = [effect for effect in story.effects if effect.kind == "reply"]
    return str(replies[-1].payload["text"])


def test_from_a_mention_to_a_pass() -> None:
    story = Story()
    assert story.say(Assess()) == ["react", "authorise", "assess", "publish"]
    assert story.state() is RunState.assessing
    assert story.assessed() == ["publish", "ask"]
    assert story.run.question_id
    assert story.say(Go()) == ["react", "authorise", "publish", "prepare"]
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
        ("inconclusive", RunState.inconclusive),
        ("not_comparable", RunState.stuck),
    ],
)
def test_each_verdict_of_the_last_gate_is_an_end(verdict: str, end: RunState) -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, verdict)  # type: ignore[arg-type]
    assert story.state() is end
    assert end in ENDS


def test_a_pass_climbs_while_the_ceiling_allows_and_a_fail_stops() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2, 3), max_gate="2")
    story.ferry_ends(1, "pass")
    assert story.state() is RunState.locating_baseline
    story.gate_to_ferrying(2)
    story.ferry_ends(2, "pass")
    assert story.state() is RunState.passed
    assert [gate.number for gate in story.run.gates] == [1, 2]


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


def test_go_for_a_head_that_moved_names_the_new_one_and_asks_again() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    kinds = story.say(Go(), head=NEWER)
    assert "prepare" not in kinds
    assert "assess" in kinds
    assert NEWER[:10] in last_reply(story)
    assert story.state() is RunState.assessing
    assert story.run.ordinal == 2


def test_an_answer_older_than_the_question_counts_for_nothing() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    late = Authorised(story.run.question_id - 1, "rev", "write", Go(), HEAD, True)
    assert story.tell(late) == ["reply"]
    assert story.run.state is RunState.awaiting_reviewer


def test_an_answer_while_the_question_is_being_posted_is_looked_at_again() -> None:
    story = Story()
    story.say(Assess())
    story.tell(Assessed(story.run.id, HEAD, "c" * 40, "main", "main", False, "d" * 40, "{}", plan(1), assessment("3")))
    again = story.say(Go())
    assert again == ["react", "authorise", "authorise"]
    assert story.last is not None
    due = story.last.effects[0].due
    assert due is not None
    assert due > story.now - timedelta(seconds=2)


def test_a_push_seen_by_a_look_up_first_marks_the_run_all_the_same() -> None:
    story = Story()
    story.to_ferrying()
    story.say(Go(), head=NEWER)
    assert story.run.head_moved_to == NEWER


def test_the_author_cannot_waive_or_lower_but_may_raise() -> None:
    story = Story()
    story.say(Assess(), "ada")
    story.assessed()
    story.say(Skip("trust me"), "Ada")
    assert story.state() is RunState.awaiting_reviewer
    assert "cannot weaken" in last_reply(story)
    story.say(Go("1"), "ada")
    assert story.state() is RunState.awaiting_reviewer
    story.say(Go("3"), "ada")
    assert story.state() is RunState.preparing


def test_a_reviewer_lowers_the_ceiling_and_the_reason_is_kept_verbatim() -> None:
    story = Story()
    story.say(Assess())
    story.assessed(ladder=(1, 2, 3))
    story.say(Go("2", "only minhash matters"))
    assert story.run.override == "reviewer override by rev: max_gate=2 — only minhash matters"
    assert story.run.max_gate == "2"


def test_a_reviewer_waives() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Skip("docs only, really"))
    assert story.state() is RunState.waived
    assert story.run.reason == "docs only, really"


def test_go_on_a_proposed_skip_waives_and_needs_someone_else() -> None:
    story = Story()
    story.say(Assess())
    story.assessed(assessment("skip"))
    story.say(Go(), "ada")
    assert story.state() is RunState.awaiting_reviewer
    story.say(Go(), "rev")
    assert story.state() is RunState.waived


def test_out_of_scope_ends_flagged_asks_and_an_explicit_gate_forces() -> None:
    story = Story()
    story.say(Assess())
    story.assessed(assessment("skip", in_scope=False))
    assert story.state() is RunState.out_of_scope
    story.say(Go("1"))
    story.assessed(assessment("skip", in_scope=False))
    assert story.state() is RunState.awaiting_reviewer
    fray = Story()
    fray.say(Assess())
    fray.assessed(assessment("skip", in_scope=False, flagged=True))
    assert fray.state() is RunState.awaiting_reviewer
    assert fray.run.proposed == "1"


def test_a_push_marks_a_live_run_and_restarts_a_halted_one() -> None:
    story = Story()
    story.to_ferrying()
    story.tell(HeadMoved(PLACE, NEWER))
    assert story.run.head_moved_to == NEWER
    assert story.state() is RunState.ferrying
    halted = Story()
    halted.say(Assess())
    halted.assessed()
    halted.say(Go())
    halted.tell(Prepared(halted.run.id))
    halted.tell(PreflightFailed(halted.run.id, FailedCommand("pytest", 1, "1 failed")))
    assert halted.state() is RunState.halted
    assert "assess" in halted.tell(HeadMoved(PLACE, NEWER))
    assert halted.run.ordinal == 2


def test_a_missing_baseline_ends_without_any_submit() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.tell(Prepared(story.run.id))
    story.tell(PreflightPassed(story.run.id))
    story.tell(BaselineMissing(story.run.id, 1, "no scheduled run"))
    assert story.state() is RunState.stuck
    assert "submit" not in [effect.kind for effect in story.effects]


def test_closing_stops_what_waits_and_lets_a_ferry_finish_without_climbing() -> None:
    waiting = Story()
    waiting.say(Assess())
    waiting.assessed()
    waiting.tell(Closed(PLACE, merged=True))
    assert waiting.state() is RunState.stopped
    waiting.tell(Reopened(PLACE))
    assert waiting.pr.is_open
    ferrying = Story()
    ferrying.to_ferrying(ladder=(1, 2))
    ferrying.tell(Closed(PLACE, merged=False))
    assert ferrying.state() is RunState.ferrying
    ferrying.ferry_ends(1, "pass")
    assert ferrying.state() is RunState.passed


def test_stop_before_the_wall_time_asks_once_more_and_then_stops_that_one_job() -> None:
    story = Story()
    story.to_ferrying()
    assert "stop_ferry" not in story.say(Stop())
    assert "once more" in last_reply(story)
    assert "stop_ferry" in story.say(Stop())
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert story.state() is RunState.stopped


def test_stop_during_a_submit_waits_for_the_job_and_then_stops_it() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.tell(Prepared(story.run.id))
    story.tell(PreflightPassed(story.run.id))
    story.tell(BaselineFound(story.run.id, 1, baseline()))
    story.tell(SlotGranted(story.run.id, 1, 1))
    story.say(Stop())
    story.say(Stop())
    assert story.state() is RunState.submitting
    assert "stop_ferry" in story.tell(Submitted(story.run.id, 1, 1, "/bot/x"))


def test_every_addressed_comment_is_answered() -> None:
    story = Story()
    assert story.tell(Mentioned(PLACE, 1, "eve", Help())) == ["react", "reply"]
    assert story.tell(Mentioned(PLACE, 2, "eve", Status())) == ["react", "reply"]
    assert story.tell(Mentioned(PLACE, 3, "eve", Misunderstood("`gooo` is not a command"))) == ["react", "reply"]
    assert story.tell(Denied(4, "eve", "write")) == ["reply"]
    for command in (Continue(), Stop()):
        assert story.say(command)[-1] == "reply"
    story.to_ferrying()
    for repeated in (Assess(), Go(), Retry(), Continue()):
        assert story.say(repeated)[-1] == "reply", repeated


def test_a_bare_answer_counts_only_while_the_bot_waits() -> None:
    story = Story()
    assert story.tell(Mentioned(PLACE, 1, "rev", Go(), bare=True)) == []
    story.say(Assess())
    story.assessed()
    assert story.tell(Mentioned(PLACE, 2, "rev", Go(), bare=True)) == ["react", "authorise"]


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
