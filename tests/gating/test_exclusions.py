"""A reviewer leaves a stage out of the verdict, or takes that back: in every state of a run."""

from __future__ import annotations

from typing import Any

from bot.conversation.commands import Assess, Exclude, Go, Include
from bot.effects.compare import judge_gate
from bot.gating import excluding
from bot.gating.events import (
    PreflightPassed,
    Prepared,
)
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON
from tests.gating.judging_story import LADDER, NOTHING_NEW, Judging


def test_excluded_while_the_ferry_is_out_it_does_not_count_in_the_comparison_to_come() -> None:
    story = Judging()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.tell(Prepared(story.run.id))
    story.tell(PreflightPassed(story.run.id))
    story.gate_out(1)
    assert story.say(Exclude("normalize", "the dump moved")) == ["react", "authorise", "reply", "react", "publish"]
    (exclusion,) = story.run.exclusions
    assert (exclusion.stage, exclusion.by, exclusion.reason) == ("normalize", "rev", "the dump moved")
    assert exclusion.at < story.now
    assert story.state() is RunState.ferrying


def test_excluded_between_the_reports_and_their_comparison_they_are_compared_again_without_it() -> None:
    story = Judging()
    story.to_reports(normalize=1200.0)
    assert story.state() is RunState.comparing
    gate = story.run.gate
    assert gate is not None
    on_its_way = judge_gate(story.run, gate)
    story.say(Exclude("normalize"))
    assert story.tell(on_its_way) == ["compare"]
    assert story.state() is RunState.comparing
    story.compare()
    assert story.state() is RunState.passed
    assert story.run.gates[0].former == ()


def test_a_failed_run_without_the_stage_passes_and_keeps_what_it_was() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    assert story.state() is RunState.failed
    kinds = story.order(Exclude("normalize", "the dump moved — twice"))
    assert story.state() is RunState.passed
    assert set(kinds) <= NOTHING_NEW
    (former,) = story.run.gates[0].former
    assert (former.verdict, former.by, former.cause) == ("fail", "rev", "exclude")
    assert (former.stage, former.reason) == ("normalize", "the dump moved — twice")
    assert "**pass** now; it read **fail**" in story.last_reply()
    story.order(Include("normalize"), "ada")
    assert story.state() is RunState.failed
    assert [former.verdict for former in story.run.gates[0].former] == ["fail", "pass"]
    assert story.run.exclusions == ()


def test_an_ended_run_does_not_climb_and_is_no_pass_as_long_as_gates_were_left_out() -> None:
    story = Judging()
    story.to_verdict(ladder=LADDER, normalize=1200.0)
    kinds = story.order(Exclude("normalize"))
    assert set(kinds) <= NOTHING_NEW
    assert story.verdict() == "pass"
    assert story.state() is RunState.warned
    assert story.run.reason == "this run had ended, so gates 2 and 3 were not run; `@perf-gate retry` begins a new one"
    assert "gates 2 and 3 were not run" in story.last_reply()


def test_a_warning_that_vanishes_while_it_waits_climbs_on_and_says_so() -> None:
    story = Judging()
    story.to_verdict(ladder=LADDER, normalize=960.0)
    assert story.state() is RunState.awaiting_escalation
    story.order(Exclude("normalize"))
    assert story.state() is RunState.locating_baseline
    assert [gate.number for gate in story.run.gates] == [1, 2]
    assert "climbs on to gate 2" in story.last_reply()
    assert story.last is not None
    assert story.last.cancel_timers == (f"expiry:{story.run.id}",)


def test_a_warning_that_stays_goes_on_waiting_for_as_long_as_before() -> None:
    story = Judging()
    story.to_verdict(ladder=LADDER, normalize=960.0)
    since = story.run.since
    story.order(Exclude("download"))
    assert (story.state(), story.run.since) == (RunState.awaiting_escalation, since)
    assert "**warn** as before" in story.last_reply()


def test_a_ferry_at_a_later_gate_goes_on_and_only_its_own_comparison_counts_without_the_stage() -> None:
    story = Judging()
    story.to_verdict(ladder=(1, 2))
    story.gate_reports(2, normalize=1200.0)
    before = story.run.gates[0]
    story.say(Exclude("normalize"))
    assert story.run.gates[0] == before
    assert story.run.excluded_names(1) == ()
    story.compare()
    assert story.state() is RunState.passed
    story.order(Include("normalize"))
    assert story.state() is RunState.failed


def test_an_exclusion_holds_at_later_gates_and_what_was_climbed_with_it_keeps_it() -> None:
    story = Judging()
    story.to_verdict(ladder=(1, 2), normalize=960.0)
    story.order(Exclude("normalize"))
    story.gate_reports(2, normalize=1200.0)
    assert story.run.excluded_names(2) == ("normalize",)
    story.say(Include("normalize"))
    assert (story.run.excluded_names(1), story.run.excluded_names(2)) == (("normalize",), ())
    story.compare()
    assert story.state() is RunState.failed
    assert story.run.gates[0].judgement is not None
    assert story.run.gates[0].judgement.verdict == "pass"


def test_the_author_cannot_exclude_but_can_include() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    assert story.order(Exclude("normalize"), "Ada") == ["react", "authorise", "reply", "react"]
    assert "weakens the gate" in story.last_reply()
    assert story.state() is RunState.failed


def test_a_name_that_is_in_no_report_is_answered_with_those_that_are() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    story.order(Exclude("Normalise"))
    assert (
        "Did you mean `normalize`? These can be named: `download`, `normalize`, `tokenize`, `total`."
        in story.last_reply()
    )
    assert story.run.exclusions == ()


def test_what_nobody_sees_in_a_name_need_not_be_typed() -> None:
    story = Judging()
    hidden: dict[str, Any] = {"norm\u200balize \u202e2": 900.0}
    story.to_verdict(**hidden)
    story.order(Exclude("norm alize 2"))
    assert story.run.excluded_names(1) == ("norm\u200balize \u202e2",)


def test_a_report_full_of_endless_names_is_no_reason_to_search_for_ever() -> None:
    story = Judging()
    endless: dict[str, Any] = {f"{number}{'ab' * 20_000}": 1.0 for number in range(20)}
    story.to_verdict(**endless, normalize=1200.0)
    story.order(Exclude("ab" * 150))
    assert len(story.last_reply()) < 1500
    story.order(Exclude("normalise"))
    assert "Did you mean `normalize`?" in story.last_reply()


def test_before_any_report_is_there_the_name_is_taken_as_it_is() -> None:
    story = Judging()
    assert story.order(Exclude("x")) == ["react", "authorise", "reply", "react"]
    assert "no run" in story.last_reply()
    story.say(Assess())
    story.order(Exclude("normalize"))
    story.order(Exclude("no such thing"))
    assert "if its reports have a stage of that name" in story.last_reply()
    story.assessed()
    story.say(Go())
    story.tell(Prepared(story.run.id))
    story.tell(PreflightPassed(story.run.id))
    story.gate_reports(1, normalize=1200.0)
    story.compare()
    assert story.state() is RunState.passed
    gate = story.run.judged_gate
    assert gate is not None
    assert gate.judgement is not None
    assert "Excluded, but in neither report: no such thing." in gate.judgement.flags


def test_before_any_report_is_there_a_name_that_looks_misspelt_is_recorded_and_asked_about() -> None:
    story = Judging()
    story.say(Assess())
    story.order(Exclude("tokenise"))
    assert "Did you mean `tokenize`? Then say `@perf-gate exclude stage=tokenize`." in story.last_reply()
    assert story.run.excluded_names(1) == ("tokenise",)
    story.assessed()
    story.order(Exclude("totl"))
    assert "Did you mean `total`?" in story.last_reply()
    story.order(Exclude("minhash"))
    assert "Did you mean" not in story.last_reply()


def test_excluding_twice_changes_nothing_and_neither_does_including_what_counts() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    story.order(Exclude("normalize", "first"))
    before = story.run
    assert story.order(Exclude("normalize", "second"), "other") == ["react", "authorise", "reply", "react"]
    assert "excluded already, by `rev`" in story.last_reply()
    story.order(Include("download"))
    assert "Excluded: `normalize`." in story.last_reply()
    assert story.run == before


def test_the_last_stage_cannot_be_excluded() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    for stage in ("total", "download", "normalize"):
        story.order(Exclude(stage))
    before = story.run
    story.order(Exclude("tokenize"))
    assert "no stage would be left" in story.last_reply()
    assert story.run == before
    ahead = Judging()
    ahead.to_reports(normalize=1200.0)
    for stage in ("download", "normalize", "tokenize"):
        ahead.say(Exclude(stage))
    assert ahead.run.excluded_names(1) == ("download", "normalize")


def test_two_exclusions_at_once_are_both_answered_by_what_holds_in_the_end() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0, tokenize=800.0)
    story.say(Exclude("normalize"))
    first = story.outcome(story.asked_to_judge())
    story.say(Exclude("tokenize"))
    second = story.asked_to_judge()
    assert story.tell(first) == ["rejudge"]
    again = story.asked_to_judge()
    story.tell(story.outcome(second))
    assert story.state() is RunState.passed
    story.tell(story.outcome(again))
    answered = [effect.payload["comment_id"] for effect in story.effects if effect.kind == "reply"]
    assert sorted(answered[-2:]) == sorted([first.comment_id, second.payload["comment_id"]])
    assert len(story.run.gates[0].former) == 1


def test_no_more_names_are_kept_than_any_report_has() -> None:
    story = Judging()
    story.say(Assess())
    story.assessed()
    for number in range(excluding.MOST + 1):
        story.say(Exclude(f"stage-{number}", "w" * 3_000))
    assert len(story.run.exclusions) == excluding.MOST
    assert "no more are kept" in story.last_reply()
    assert {len(one.reason) for one in story.run.exclusions} == {MOST_REASON}
