"""Stored reports judged again: what changes with the verdict, and what stays whatever they say."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.conversation.commands import Assess, Exclude, Go, Include, Reanalyse, Skip
from bot.effects.compare import judge_gate
from bot.gating.events import (
    Authorised,
    Compared,
    EffectFailed,
)
from bot.gating.happenings import Closed
from bot.gating.machine import GateMachine
from bot.gating.states import ENDS, RunState
from tests.gating.judging_story import LADDER, NOTHING_NEW, Judging
from tests.gating.story import HEAD, PLACE


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


def test_of_a_verdict_that_goes_to_and_fro_the_last_ones_are_remembered() -> None:
    story = Judging()
    story.to_verdict(normalize=1200.0)
    for _ in range(8):
        story.order(Exclude("normalize", "flaky"))
        story.order(Include("normalize"))
    former = story.run.gates[0].former
    assert (len(former), former[-1].cause, former[-1].verdict) == (10, "include", "pass")
