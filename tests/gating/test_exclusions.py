"""A reviewer leaves a stage out, takes it back, and has stored reports judged again: in every state of a run."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.conversation.commands import Assess, Exclude, Go, Include, Reanalyse, Skip
from bot.effects.compare import judge_gate
from bot.engine.port import EffectRequest
from bot.gating.events import (
    Authorised,
    BaselineFound,
    Collected,
    Compared,
    EffectFailed,
    PreflightPassed,
    Prepared,
    Rejudged,
    SlotGranted,
    Submitted,
    Watched,
)
from bot.gating.happenings import Closed
from bot.gating.machine import GateMachine
from bot.gating.model import Attempt
from bot.gating.states import ENDS, RunState
from bot.verdict.model import VerdictName
from tests.gating.story import HEAD, PLACE, Story, baseline

LADDER = (1, 2, 3)
STAGES = {"download": 100.0, "normalize": 900.0, "tokenize": 600.0}
NOTHING_NEW = {"react", "authorise", "reply", "rejudge", "publish"}


def report(**stages: float) -> str:
    took = STAGES | stages
    job = "/runner/x" if not stages else "/bot/ferry"
    return json.dumps(
        {
            "iris_job_id": job,
            "status": "succeeded",
            "wall_seconds_total": sum(took.values()),
            "stage_wall_seconds": took,
        }
    )


class Judging(Story):
    """A story whose pairs are judged by the real rules, as the performers of the effects do it."""

    def last_reply(self) -> str:
        return str([effect for effect in self.effects if effect.kind == "reply"][-1].payload["text"])

    def to_reports(self, *, ladder: tuple[int, ...] = (1,), **stages: float) -> None:
        """Up to the moment at which the first gate's reports wait for their comparison."""
        self.say(Assess())
        self.assessed(ladder=ladder)
        self.say(Go())
        self.tell(Prepared(self.run.id))
        self.tell(PreflightPassed(self.run.id))
        self.gate_reports(1, **stages)

    def gate_out(self, gate: int) -> None:
        self.tell(BaselineFound(self.run.id, gate, replace(baseline(), report=report())))
        self.tell(SlotGranted(self.run.id, gate, 1))
        self.tell(Submitted(self.run.id, gate, 1, f"/bot/ferry-{gate}"))

    def gate_reports(self, gate: int, **stages: float) -> None:
        self.gate_out(gate)
        self.tell(Watched(self.run.id, gate, 1, Attempt(1, ferry_state="succeeded"), ended=True))
        self.tell(Collected(self.run.id, gate, 1, report(**{"download": 100.0} | stages)))

    def compare(self) -> list[str]:
        gate = self.run.gate
        assert gate is not None
        return self.tell(judge_gate(self.run, gate))

    def to_verdict(self, *, ladder: tuple[int, ...] = (1,), **stages: float) -> None:
        self.to_reports(ladder=ladder, **stages)
        self.compare()

    def asked_to_judge(self) -> EffectRequest:
        return [effect for effect in self.effects if effect.kind == "rejudge"][-1]

    def outcome(self, effect: EffectRequest) -> Rejudged:
        """What the performer answers, of the state as it is now."""
        payload = effect.payload
        gates = [gate for gate in self.run.gates if gate.number in payload["gates"]]
        said = msgspec.convert(payload["said"], Exclude | Include | Reanalyse)
        verdicts = tuple(judge_gate(self.run, gate) for gate in gates)
        return Rejudged(payload["run_id"], payload["comment_id"], payload["actor"], said, verdicts)

    def order(self, command: Exclude | Include | Reanalyse, actor: str = "rev") -> list[str]:
        """Say it, and let the reports be judged where that was asked for."""
        kinds = self.say(command, actor)
        if "rejudge" in kinds:
            kinds += self.tell(self.outcome(self.asked_to_judge()))
        return kinds

    def verdict(self) -> VerdictName:
        gate = self.run.judged_gate
        assert gate is not None
        assert gate.judgement is not None
        return gate.judgement.verdict


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


def test_reports_judged_again_by_the_same_rules_change_nothing_also_the_second_time() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    before = story.run
    story.order(Reanalyse())
    assert "Gate 1 reads **fail** as before." in story.last_reply()
    story.tell(story.outcome(story.asked_to_judge()))
    assert story.run == before


def test_reports_judged_again_by_other_rules_end_the_run_anew_and_say_what_it_was() -> None:
    story = Judging()
    story.to_reports()
    gate = story.run.gate
    assert gate is not None
    wrong = judge_gate(story.run, gate)
    story.tell(replace(wrong, judgement=replace(wrong.judgement, verdict="fail", reasons=("an old rule",))))
    assert story.state() is RunState.failed
    kinds = story.order(Reanalyse(), "ada")
    assert story.state() is RunState.passed
    assert set(kinds) <= NOTHING_NEW
    assert story.run.gates[0].former[0].cause == "reanalyse"


def test_reasons_that_changed_below_the_same_verdict_are_told() -> None:
    story = Judging()
    story.to_reports()
    gate = story.run.gate
    assert gate is not None
    old = judge_gate(story.run, gate)
    story.tell(replace(old, judgement=replace(old.judgement, flags=("an old flag",))))
    story.order(Reanalyse())
    assert "**pass** as before, but its reasons or notes have changed" in story.last_reply()
    assert story.run.gates[0].former == ()


def test_a_ferry_goes_on_when_the_verdict_below_it_changes() -> None:
    story = Judging()
    story.to_reports(ladder=(1, 2))
    gate = story.run.gate
    assert gate is not None
    right = judge_gate(story.run, gate)
    story.tell(right)
    story.gate_out(2)
    (first, second), attempt = story.run.gates, gate.attempt
    assert attempt is not None
    old = replace(attempt, judgement=replace(right.judgement, verdict="warn"))
    run = replace(story.run, gates=(replace(first, attempts=(old,)), second))
    story.pr = replace(story.pr, run=run)
    assert "stop_ferry" not in story.order(Reanalyse())
    assert story.state() is RunState.ferrying
    assert "it read **warn** before. What is under way goes on; `@perf-gate stop` ends it." in story.last_reply()


def test_every_gate_is_judged_again_and_the_last_one_decides() -> None:
    story = Judging()
    story.to_reports(ladder=(1, 2))
    gate = story.run.gate
    assert gate is not None
    old = judge_gate(story.run, gate)
    story.tell(replace(old, judgement=replace(old.judgement, verdict="warn")))
    story.say(Go())
    story.gate_reports(2, normalize=1200.0)
    story.compare()
    story.order(Reanalyse())
    assert story.state() is RunState.failed
    assert "Gate 1 reads **pass** now; it read **warn** before. Gate 2 reads **fail** as before." in story.last_reply()
    assert [len(gate.former) for gate in story.run.gates] == [1, 0]


def test_a_run_that_measured_nothing_has_nothing_to_judge() -> None:
    waived = Judging()
    waived.say(Assess())
    waived.assessed()
    for command in (Reanalyse(), Exclude("normalize"), Include("normalize")):
        assert waived.order(command)[:3] == ["react", "authorise", "reply"], command
    waived.say(Skip("docs"))
    for command in (Reanalyse(), Exclude("normalize"), Include("normalize")):
        assert waived.order(command) == ["react", "authorise", "reply", "react"]
        assert "No two reports were compared" in waived.last_reply()
    assert waived.state() is RunState.waived


def test_what_was_stopped_stays_stopped_whatever_the_reports_say() -> None:
    story = Judging()
    story.to_verdict(ladder=(1, 2), normalize=960.0)
    story.tell(Closed(PLACE, merged=True))
    assert story.state() is RunState.warned
    late = Authorised(900, "rev", "write", Exclude("normalize"), HEAD, is_open=False)
    assert story.tell(late) == ["rejudge"]
    story.tell(story.outcome(story.asked_to_judge()))
    assert (story.verdict(), story.state()) == ("pass", RunState.warned)


def test_when_a_new_run_has_begun_meanwhile_the_answer_says_so() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    story.say(Reanalyse())
    outcome = replace(story.outcome(story.asked_to_judge()), verdicts=())
    story.say(Assess())
    assert story.tell(outcome) == ["reply", "react"]
    assert "new run has begun" in story.last_reply()
    assert story.state() is RunState.assessing


def test_what_cannot_be_judged_again_is_told_and_stands() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    before = story.run
    assert story.tell(EffectFailed("rejudge", story.run.id, "it broke", comment_id=7)) == ["reply", "react"]
    assert story.run == before


def test_states_and_events_stored_before_there_were_exclusions_are_read() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    machine = GateMachine("perf-gate", {PLACE.full_name})
    stored = json.loads(machine.dump_state(story.pr))
    del stored["run"]["exclusions"]
    del stored["run"]["gates"][0]["former"]
    assert machine.load_state(machine.state_schema, json.dumps(stored).encode()) == story.pr
    gate = story.run.gate
    assert gate is not None
    event = judge_gate(story.run, gate)
    old = json.loads(machine.dump_event(event)[1])
    del old["excluded"]
    assert machine.load_event(json.dumps(old).encode()) == event


orders = st.sampled_from(
    [
        *(Exclude(name, "why") for name in ("download", "normalize", "tokenize", "total", "nowhere")),
        *(Include(name) for name in ("download", "normalize", "total", "nowhere")),
        Reanalyse(),
    ]
)
seconds = st.sampled_from([900.0, 950.0, 960.0, 1000.0, 1200.0])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(orders, st.sampled_from(["rev", "ada"])), max_size=8),
    seconds,
    seconds,
    st.sampled_from([(1,), LADDER]),
)
def test_an_end_never_lives_again_and_every_order_is_answered_once(
    said: list[tuple[Exclude | Include | Reanalyse, str]], normalize: float, tokenize: float, ladder: tuple[int, ...]
) -> None:
    story = Judging()
    story.to_verdict(ladder=ladder, normalize=normalize, tokenize=tokenize)
    for command, actor in said:
        ended = story.state() in ENDS
        kinds = story.order(command, actor)
        assert kinds.count("reply") == 1
        if ended:
            assert story.state() in ENDS
            assert set(kinds) <= NOTHING_NEW
        gate = story.run.judged_gate
        assert gate is not None
        assert gate.judgement == judge_gate(story.run, gate).judgement
        assert gate.judgement.total.delta is None or isinstance(gate.judgement.total.delta, Decimal)
        names = [one.stage for one in story.run.excluded_at(gate.number)]
        assert len(names) == len(set(names))


@settings(max_examples=40, deadline=None)
@given(st.lists(orders, max_size=8), seconds)
def test_orders_taken_back_leave_the_verdict_as_it_was(
    said: list[Exclude | Include | Reanalyse], normalize: float
) -> None:
    story = Judging()
    story.to_verdict(normalize=normalize)
    state, judgement = story.state(), story.verdict()
    for command in said:
        story.order(command)
    for name in story.run.excluded_names(1):
        story.order(Include(name))
    assert (story.state(), story.verdict(), story.run.exclusions) == (state, judgement, ())


@pytest.mark.parametrize("stage", ["normalize", "total"])
def test_a_compared_event_of_another_choice_is_never_taken(stage: str) -> None:
    story = Judging()
    story.to_reports()
    gate = story.run.gate
    assert gate is not None
    fine = judge_gate(story.run, gate)
    assert story.tell(Compared(fine.run_id, 1, 1, fine.judgement, (stage,))) == ["compare"]
    assert story.state() is RunState.comparing
