"""`stop` and `retry` while a ferry is on its way out: what is asked first, and that no verdict is buried."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.conversation.commands import Retry, Stop
from bot.gating.events import Collected, Compared, FerryStopped, Watched
from bot.gating.model import Attempt
from bot.gating.states import RunState
from bot.verdict.model import VerdictName
from tests.gating.story import Story, judgement
from tests.gating.test_orders import last_reply


def ferrying(*ladder: int) -> Story:
    story = Story()
    story.to_ferrying(ladder=ladder or (1,))
    story.pr = replace(story.pr, run=replace(story.run, clusters=("spare",)))
    return story


def collecting(*ladder: int, ferry_state: str = "succeeded") -> Story:
    """The ferry has ended, and its report is on its way."""
    story = ferrying(*ladder)
    story.tell(Watched(story.run.id, 1, 1, Attempt(1, ferry_state=ferry_state), ended=True))
    assert story.state() is RunState.collecting
    return story


def judged(story: Story, verdict: VerdictName) -> None:
    if story.state() is RunState.collecting:
        story.tell(Collected(story.run.id, 1, 1, "{}"))
    story.tell(Compared(story.run.id, 1, 1, judgement(verdict)))


def test_another_cluster_named_by_half_is_not_taken_when_the_ferry_is_gone() -> None:
    story = ferrying()
    story.say(Retry())
    story.say(Retry())
    assert "reply" in story.say(Retry("spare"))
    assert "once more" in last_reply(story)
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert (story.run.ordinal, story.run.cluster) == (2, "")


def test_another_cluster_named_twice_is_taken_though_the_ferry_was_on_its_way_out() -> None:
    story = ferrying()
    for command in (Retry(), Retry(), Retry("spare"), Retry("spare")):
        story.say(command)
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert (story.run.ordinal, story.run.cluster) == (2, "spare")


@pytest.mark.parametrize("command", [Stop(), Retry()])
def test_before_iris_has_the_ferry_no_time_of_it_is_said_to_be_spent(command: Stop | Retry) -> None:
    story = Story()
    story.to_submitting()
    story.say(command)
    assert "Iris does not say yet that it has it" in last_reply(story)
    assert "would be lost" not in last_reply(story)
    assert story.state() is RunState.submitting
    story.say(command)
    assert "The ferry is being stopped" not in last_reply(story)
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert story.state() is (RunState.stopped if isinstance(command, Stop) else RunState.assessing)


def test_half_a_retry_from_before_a_stop_is_no_half_after_it() -> None:
    story = ferrying()
    story.say(Retry("spare"))
    story.say(Stop())
    story.say(Stop())
    story.say(Retry("spare"))
    assert "once more" in last_reply(story)
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert (story.state(), story.run.ordinal) == (RunState.stopped, 1)


def test_a_retry_confirmed_before_an_update_of_the_bot_keeps_its_cluster() -> None:
    story = ferrying()
    story.pr = replace(story.pr, run=replace(story.run, retry_asked="cluster=spare", retry_requested_by="rev"))
    story.tell(FerryStopped(story.run.id, 1, 1))
    assert story.run.cluster == "spare"


@pytest.mark.parametrize("compares", [False, True])
@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("pass", RunState.passed),
        ("warn", RunState.warned),
        ("fail", RunState.failed),
        ("inconclusive", RunState.inconclusive),
        ("not_comparable", RunState.stopped),
    ],
)
def test_a_stop_when_the_ferry_has_ended_lets_its_verdict_come(
    compares: bool, verdict: VerdictName, state: RunState
) -> None:
    story = collecting()
    if compares:
        story.tell(Collected(story.run.id, 1, 1, "{}"))
    kinds = story.say(Stop())
    assert "reply" in kinds
    assert "verdict" in last_reply(story)
    assert not story.state().ended
    judged(story, verdict)
    assert story.state() is state


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("pass", RunState.stopped),
        ("warn", RunState.warned),
        ("fail", RunState.failed),
        ("inconclusive", RunState.inconclusive),
    ],
)
def test_a_stopped_run_climbs_no_further_and_ends_with_the_verdict_it_has(
    verdict: VerdictName, state: RunState
) -> None:
    story = collecting(1, 2)
    story.say(Stop())
    judged(story, verdict)
    assert story.state() is state
    assert story.run.gates[-1].judgement is not None


def test_a_ferry_that_failed_is_not_submitted_again_and_calls_nobody_when_it_was_to_stop() -> None:
    story = collecting(ferry_state="failed")
    story.say(Stop())
    judged(story, "not_comparable")
    assert story.state() is RunState.stopped
    assert story.run.reason == "stopped by rev"


def test_whoever_insists_ends_the_run_without_its_verdict() -> None:
    story = collecting()
    story.say(Stop())
    story.say(Stop())
    assert story.state() is RunState.stopped


def test_half_a_stop_said_of_the_ferry_is_none_of_its_verdict() -> None:
    story = ferrying()
    story.say(Stop())
    story.tell(Watched(story.run.id, 1, 1, Attempt(1, ferry_state="succeeded"), ended=True))
    story.say(Stop())
    assert story.state() is RunState.collecting
    judged(story, "fail")
    assert story.state() is RunState.failed


def test_a_stop_after_a_warning_lets_the_warning_stand() -> None:
    story = ferrying(1, 2)
    story.ferry_ends(1, "warn")
    assert story.state() is RunState.awaiting_escalation
    story.say(Stop())
    assert (story.state(), story.run.reason) == (RunState.warned, "stopped by rev")


def test_half_a_retry_elsewhere_said_of_the_ferry_is_none_of_its_verdict() -> None:
    story = ferrying()
    story.say(Retry("spare"))
    story.ferry_ends(1, "fail")
    story.say(Retry("spare"))
    assert story.state() is RunState.failed
    assert "not comparable" in last_reply(story)
