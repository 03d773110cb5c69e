"""What people order, and what comes of it in each state: one command, one visible answer."""

from __future__ import annotations

from bot.conversation.commands import Answer, Assess, Continue, Go, Help, Misunderstood, Retry, Skip, Status, Stop
from bot.gating.events import (
    Assessed,
    Authorised,
    BaselineMissing,
    Denied,
    FerryStopped,
    PreflightPassed,
    Prepared,
    Submitted,
    Watched,
)
from bot.gating.happenings import Closed, Mentioned, Reopened
from bot.gating.model import Attempt
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON
from tests.gating.story import BASE, CONFIG, HEAD, HOT, MAIN, NEWER, PLACE, Story, assessment, plan


def last_reply(story: Story) -> str:
    replies = [effect for effect in story.effects if effect.kind == "reply"]
    return str(replies[-1].payload["text"])


def test_a_pass_climbs_while_the_ceiling_allows_and_a_fail_stops() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2, 3), max_gate="2")
    story.ferry_ends(1, "pass")
    assert story.state() is RunState.locating_baseline
    story.gate_to_ferrying(2)
    story.ferry_ends(2, "pass")
    assert story.state() is RunState.passed
    assert [gate.number for gate in story.run.gates] == [1, 2]


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
    assert story.tell(late) == ["reply", "react"]
    assert story.state() is RunState.awaiting_reviewer


def test_a_push_seen_by_a_look_up_first_marks_the_run_all_the_same() -> None:
    story = Story()
    story.to_ferrying()
    story.say(Go(), head=NEWER)
    assert story.run.head_moved_to == NEWER


def test_the_author_cannot_waive_or_lower_but_may_raise() -> None:
    story = Story()
    story.say(Assess(), "ada")
    story.assessed(ladder=(1, 2, 3))
    story.say(Skip("trust me"), "Ada")
    assert story.state() is RunState.awaiting_reviewer
    assert "cannot weaken" in last_reply(story)
    story.say(Go("1"), "ada")
    assert story.state() is RunState.awaiting_reviewer
    story.say(Go("3"), "ada")
    assert story.state() is RunState.preparing


def test_the_author_cannot_bury_a_verdict_under_a_run_that_leads_nowhere() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2, 3))
    story.ferry_ends(1, "fail")
    failed = story.run.id
    for waiving in (Skip("trust me"), Go("1")):
        story.say(waiving, "Ada")
        assert story.run.id == failed
        assert story.state() is RunState.failed
        assert "cannot weaken" in last_reply(story)
    story.say(Go(), "ada")
    assert story.run.id != failed


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
    story.to_submitting()
    story.say(Stop())
    story.say(Stop())
    assert story.state() is RunState.submitting
    assert "stop_ferry" in story.tell(Submitted(story.run.id, 1, 1, "/bot/x"))


def test_a_confirmed_stop_is_not_lost_when_the_ferry_ends_first() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.say(Stop())
    story.say(Stop())
    story.ferry_ends(1, "pass")
    assert story.state() is RunState.stopped
    killed = Story()
    killed.to_ferrying()
    killed.say(Stop())
    killed.say(Stop())
    killed.tell(Watched(killed.run.id, 1, 1, Attempt(1, ferry_state="killed"), ended=True))
    assert killed.state() is RunState.stopped
    assert killed.run.reason == "stopped by rev"


def test_a_stop_while_the_submit_does_not_get_through_ends_the_run() -> None:
    story = Story()
    story.to_submitting()
    story.say(Stop())
    story.say(Stop())
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert story.state() is RunState.stopped
    assert story.last is not None
    assert story.last.release


def test_half_a_stop_at_one_gate_says_nothing_about_the_next() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.say(Stop())
    story.ferry_ends(1, "pass")
    story.gate_to_ferrying(2)
    assert "stop_ferry" not in story.say(Stop())


def test_what_an_answer_comes_to_needs_its_own_permission() -> None:
    story = Story()
    story.say(Assess())
    story.assessed(assessment("skip"))
    asked = story.run.question_id
    may = Authorised(asked + 1, "rev", "write", Go(), HEAD, True, granted=("go", "override"))
    assert story.tell(may) == ["reply", "react"]
    assert story.state() is RunState.awaiting_reviewer
    assert "max_gate=skip" in last_reply(story)


def test_another_base_is_another_question() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    moved = Authorised(story.run.question_id + 1, "rev", "write", Go(), HEAD, True, base_ref="release")
    assert "assess" in story.tell(moved)
    assert "release" in last_reply(story)


def test_a_correction_after_the_base_changed_corrects_nothing_and_asks_anew() -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    asked_about = story.run.id
    word = Answer(HOT, "cpu", False, "measured it")
    told = story.tell(Authorised(story.run.question_id + 1, "rev", "write", word, HEAD, True, base_ref="release"))
    assert "assess" in told
    assert "Nothing was corrected" in last_reply(story)
    assert "the base is now `release`" in last_reply(story)
    assert (story.run.id == asked_about, story.run.corrections) == (False, ())


def test_every_addressed_comment_is_answered() -> None:
    story = Story()
    assert story.tell(Mentioned(PLACE, 1, "eve", Help())) == ["react", "help", "react"]
    assert story.tell(Mentioned(PLACE, 2, "eve", Status())) == ["react", "reply", "react"]
    assert story.tell(Mentioned(PLACE, 3, "eve", Misunderstood("`gooo` is not a command"))) == [
        "react",
        "reply",
        "react",
    ]
    assert story.tell(Denied(4, "eve", "write")) == ["reply", "react"]
    for command in (Continue(), Stop()):
        assert story.say(command)[-2:] == ["reply", "react"]
    story.to_ferrying()
    for repeated in (Assess(), Go(), Retry(), Continue()):
        assert story.say(repeated)[-2:] == ["reply", "react"], repeated


def test_a_bare_answer_counts_only_while_the_bot_waits() -> None:
    story = Story()
    assert story.tell(Mentioned(PLACE, 1, "rev", Go(), bare=True)) == []
    story.say(Assess())
    story.assessed()
    assert story.tell(Mentioned(PLACE, 2, "rev", Go(), bare=True)) == ["react", "authorise"]


def test_of_a_reason_at_length_as_much_is_kept_as_of_any_other() -> None:
    """It goes from run to run, and into what is stored at every step."""
    at_length = "x" * (MOST_REASON + 1)
    story = Story()
    story.say(Go("3", at_length))
    assert len(story.run.requested_reason) == MOST_REASON
    story.tell(Assessed(story.run.id, HEAD, BASE, "main", "main", False, MAIN, CONFIG, plan(1), assessment()))
    story.say(Skip(at_length))
    assert isinstance(story.run.held[0].said, Go)
    assert len(story.run.held[0].said.reason) == MOST_REASON
