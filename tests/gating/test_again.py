"""A ferry that came to nothing, and people who want a gate run again: what is submitted, and what is asked first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.conversation.commands import Assess, Continue, Go, Retry, Stop
from bot.gating.events import BaselineFound, Expired, FerryStopped, Watched
from bot.gating.happenings import Closed
from bot.gating.model import Attempt
from bot.gating.resubmission import with_earlier_attempts
from bot.gating.states import RunState
from bot.parity.model import Difference, Parity
from bot.watching.cause import Cause
from tests.gating.story import MAIN, NEWER, PLACE, Story, assessment, baseline, judgement
from tests.gating.test_orders import last_reply

BAD_SHARD = Cause("application", "ValueError: bad shard payload 3 at 0x7f01", "/bot/f/0", 1)


def to_inconclusive(*, ladder: tuple[int, ...] = (1, 2)) -> Story:
    """Gate 1 was submitted twice, and both times the cluster was in the way."""
    story = Story()
    story.to_ferrying(ladder=ladder)
    story.ferry_ends(1, "inconclusive")
    story.submitted_again(1)
    story.ferry_ends(1, "inconclusive")
    return story


def test_an_inconclusive_ferry_is_submitted_again_once_and_openly() -> None:
    story = Story()
    story.to_ferrying()
    assert story.ferry_ends(1, "inconclusive") == ["publish"]
    assert story.state() is RunState.queued
    assert story.last is not None
    assert [request.holder for request in story.last.acquire] == [f"{story.run.id}/g1/a2"]
    first, second = story.run.gates[-1].attempts
    assert first.judgement is not None
    assert second.again_because.startswith("was inconclusive")
    story.submitted_again(1)
    assert story.ferry_ends(1, "pass") == ["publish", "cleanup"]
    assert story.state() is RunState.passed


def test_a_second_inconclusive_ends_so_and_continue_climbs_on_in_a_new_run() -> None:
    story = to_inconclusive()
    assert story.state() is RunState.inconclusive
    story.say(Continue())
    assert (story.state(), story.run.ordinal) == (RunState.assessing, 2)
    story.assessed(ladder=(1, 2))
    # The reviewer's word for this commit is not asked for again.
    assert story.state() is RunState.preparing
    story.to_first_gate()
    assert [gate.number for gate in story.run.gates] == [1, 2]
    assert story.run.gates[0].continued_by == "rev"
    assert story.run.gates[0].judgement is not None


def test_continue_after_an_inconclusive_last_gate_or_for_another_head_is_answered() -> None:
    story = to_inconclusive(ladder=(1,))
    assert "reply" in story.say(Continue())
    assert "no gate above" in last_reply(story)
    moved = to_inconclusive()
    assert "reply" in moved.say(Continue(), head=NEWER)
    assert NEWER[:10] in last_reply(moved)


@pytest.mark.parametrize("state", ["failed", "killed", "worker_failed", "unschedulable"])
def test_a_ferry_that_fails_is_submitted_again_once_and_then_stuck(state: str) -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "not_comparable", state=state)
    assert story.state() is RunState.queued
    story.submitted_again(1)
    story.ferry_ends(1, "not_comparable", state=state)
    assert story.state() is RunState.stuck
    assert "also when it was submitted again" in story.run.reason


def test_running_out_of_memory_fails_at_once() -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "fail", state="failed", cause=Cause("oom", "OOM killed", "/bot/f/w/0", 137))
    assert story.state() is RunState.failed
    assert story.run.attempt is not None
    assert story.run.attempt.cause is not None


def test_reports_that_cannot_be_compared_although_the_ferry_succeeded_are_not_measured_again() -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "not_comparable")
    assert story.state() is RunState.stuck


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        (Cause("application", "ValueError: bad shard payload 7 at 0x99ab", "/bot/g/0", 1), "fail"),
        (Cause("application", "KeyError: normalize", "/bot/g/0", 1), "not_comparable"),
        (Cause("hardware", BAD_SHARD.error, "/bot/g/0", 1), "not_comparable"),
        (None, "not_comparable"),
    ],
)
def test_only_the_same_application_error_twice_is_a_fail(second: Cause | None, verdict: str) -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "not_comparable", state="failed", cause=BAD_SHARD)
    story.submitted_again(1)
    story.ferry_ends(1, "not_comparable", state="failed", cause=second)
    assert with_earlier_attempts(story.run.gates[-1], judgement("not_comparable")).verdict == verdict


def test_nothing_is_submitted_again_for_a_closed_pull_request_or_against_a_stop() -> None:
    closed = Story()
    closed.to_ferrying()
    closed.tell(Closed(PLACE, merged=False))
    closed.ferry_ends(1, "inconclusive")
    assert closed.state() is RunState.inconclusive
    stopped = Story()
    stopped.to_ferrying()
    stopped.say(Stop())
    stopped.say(Stop())
    stopped.ferry_ends(1, "inconclusive")
    assert stopped.state() is RunState.inconclusive


def test_half_a_stop_for_one_ferry_says_nothing_about_the_one_after_it() -> None:
    story = Story()
    story.to_ferrying()
    story.say(Stop())
    story.ferry_ends(1, "inconclusive")
    story.submitted_again(1)
    assert "stop_ferry" not in story.say(Stop())


WORKFLOW = Difference("memory", "`4G`", "`2G`")
BY_HAND = Difference("memory", "`4G`", "`2G`", "script")


@pytest.mark.parametrize(
    ("parity", "stops", "state"),
    [
        (Parity(MAIN, (WORKFLOW,)), True, RunState.stuck),
        (Parity(MAIN, (WORKFLOW,)), False, RunState.queued),
        (Parity(MAIN, (BY_HAND,)), True, RunState.queued),
        (Parity(MAIN, (), ("memory: `$M` is set when the workflow runs",)), True, RunState.queued),
    ],
)
def test_a_launch_unlike_the_baselines_is_not_submitted(parity: Parity, stops: bool, state: RunState) -> None:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.to_first_gate()
    story.tell(BaselineFound(story.run.id, 1, baseline(), (), parity, stops))
    assert story.state() is state
    assert story.run.gates[-1].parity == parity
    assert ("memory: the tier's workflow has `4G`" in story.run.reason) == (state is RunState.stuck)


def test_retry_of_the_same_head_takes_up_the_gate_that_failed() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.ferry_ends(1, "pass")
    story.gate_to_ferrying(2)
    story.ferry_ends(2, "fail")
    story.say(Retry())
    story.assessed(ladder=(1, 2))
    assert story.state() is RunState.preparing
    assert (story.run.max_gate, story.run.approved_by) == ("3", "rev")
    story.to_first_gate()
    assert [(gate.number, gate.judgement is not None) for gate in story.run.gates] == [(1, True), (2, False)]
    story.gate_to_ferrying(2)
    story.ferry_ends(2, "pass")
    assert story.state() is RunState.passed


def test_retry_of_a_new_head_begins_with_the_question() -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "fail")
    story.say(Retry(), head=NEWER)
    assert story.run.resumes is None
    story.assessed(head=NEWER)
    assert story.state() is RunState.awaiting_reviewer


def test_retry_asks_again_where_the_diff_reads_otherwise_now() -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "fail")
    story.say(Retry())
    story.assessed(assessment("1"))
    assert story.state() is RunState.awaiting_reviewer
    story.say(Go())
    story.to_first_gate()
    assert [gate.number for gate in story.run.gates] == [1]


def test_retry_after_a_halt_tests_the_same_commit_again_without_asking() -> None:
    story = Story()
    story.to_halted()
    story.say(Retry())
    story.assessed()
    assert story.state() is RunState.preparing


def test_retry_after_a_warning_measures_that_gate_again() -> None:
    story = Story()
    story.to_ferrying(ladder=(1, 2))
    story.ferry_ends(1, "warn")
    waited_since = story.run.since
    story.say(Retry())
    assert story.pr.earlier[-1].state is RunState.warned
    story.assessed(ladder=(1, 2))
    story.tell(Expired(story.run.id, waited_since))
    assert story.state() is RunState.preparing
    assert story.run.resumes is not None
    assert story.run.resumes.gate == 1


def test_retry_on_a_live_ferry_asks_stops_waits_and_then_submits() -> None:
    story = Story()
    story.to_ferrying()
    story.now += timedelta(minutes=20)
    assert "stop_ferry" not in story.say(Retry())
    assert "20 min of about 1 h" in last_reply(story)
    assert "stop_ferry" in story.say(Retry())
    assert (story.state(), story.run.ordinal) == (RunState.ferrying, 1)
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert (story.state(), story.run.ordinal) == (RunState.assessing, 2)
    assert story.pr.earlier[-1].state is RunState.stopped
    story.assessed()
    assert story.state() is RunState.preparing


def test_a_ferry_that_ends_while_it_makes_way_does_so_all_the_same() -> None:
    story = Story()
    story.to_ferrying()
    story.say(Retry())
    story.say(Retry())
    story.tell(Watched(story.run.id, 1, 1, Attempt(1, ferry_state="succeeded"), ended=True))
    assert (story.state(), story.run.ordinal) == (RunState.assessing, 2)


def test_stop_overrules_a_retry_that_is_under_way() -> None:
    story = Story()
    story.to_ferrying()
    for command in (Retry(), Retry(), Stop(), Stop()):
        story.say(command)
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert (story.state(), story.run.ordinal) == (RunState.stopped, 1)
