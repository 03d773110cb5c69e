"""A run brought to each of its states, by the way it comes there most often; the ladder has two gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.conversation.commands import Assess, Go, Skip, Stop
from bot.gating.events import (
    BaselineFound,
    BaselineMissing,
    Collected,
    PreflightFailed,
    PreflightPassed,
    Prepared,
    SlotGranted,
    Watched,
)
from bot.gating.marks import Check
from bot.gating.model import Attempt
from bot.gating.states import RunState
from bot.gating.tested import FailedCommand
from bot.gating.written import Checked, Published
from tests.gating.story import HEAD, Story, assessment, baseline

COMMENT = 900
LADDER = (1, 2)


def asked(story: Story) -> None:
    story.assessed(ladder=LADDER)


def out_of_scope(story: Story) -> None:
    story.assessed(assessment(in_scope=False), ladder=LADDER)


def preparing(story: Story) -> None:
    asked(story)
    story.say(Go())


def testing(story: Story) -> None:
    preparing(story)
    story.tell(Prepared(story.run.id))


def halted(story: Story) -> None:
    testing(story)
    story.tell(PreflightFailed(story.run.id, FailedCommand("pytest", 1, "1 failed")))


def locating(story: Story) -> None:
    testing(story)
    story.tell(PreflightPassed(story.run.id))


def stuck(story: Story) -> None:
    locating(story)
    story.tell(BaselineMissing(story.run.id, 1, "tier 1 has no scheduled run"))


def queued(story: Story) -> None:
    locating(story)
    story.tell(BaselineFound(story.run.id, 1, baseline()))


def submitting(story: Story) -> None:
    queued(story)
    story.tell(SlotGranted(story.run.id, 1, 1))


def ferrying(story: Story) -> None:
    locating(story)
    story.gate_to_ferrying(1)


def collecting(story: Story) -> None:
    ferrying(story)
    story.tell(Watched(story.run.id, 1, 1, Attempt(1, ferry_state="succeeded"), ended=True))


def comparing(story: Story) -> None:
    collecting(story)
    story.tell(Collected(story.run.id, 1, 1, "{}"))


def escalating(story: Story) -> None:
    ferrying(story)
    story.ferry_ends(1, "warn")


def at_gate_2(story: Story) -> None:
    ferrying(story)
    story.ferry_ends(1, "pass")
    story.gate_to_ferrying(2)


def passed(story: Story) -> None:
    at_gate_2(story)
    story.ferry_ends(2, "pass")


def warned(story: Story) -> None:
    at_gate_2(story)
    story.ferry_ends(2, "warn")


def failed(story: Story) -> None:
    ferrying(story)
    story.ferry_ends(1, "fail")


def inconclusive(story: Story) -> None:
    ferrying(story)
    story.ferry_ends(1, "inconclusive")
    story.submitted_again(1)
    story.ferry_ends(1, "inconclusive")


def waived(story: Story) -> None:
    asked(story)
    story.say(Skip("no need"))


def stopped(story: Story) -> None:
    asked(story)
    story.say(Stop())


COMING_TO: Mapping[RunState, Callable[[Story], None]] = {
    RunState.assessing: lambda story: None,
    RunState.awaiting_reviewer: asked,
    RunState.preparing: preparing,
    RunState.testing: testing,
    RunState.locating_baseline: locating,
    RunState.queued: queued,
    RunState.submitting: submitting,
    RunState.ferrying: ferrying,
    RunState.collecting: collecting,
    RunState.comparing: comparing,
    RunState.awaiting_escalation: escalating,
    RunState.passed: passed,
    RunState.warned: warned,
    RunState.failed: failed,
    RunState.inconclusive: inconclusive,
    RunState.waived: waived,
    RunState.halted: halted,
    RunState.stopped: stopped,
    RunState.out_of_scope: out_of_scope,
    RunState.stuck: stuck,
}


def come_to(state: RunState) -> Story:
    """A story whose run is in this state, with its comment and its check run on the pull request."""
    story = Story()
    story.say(Assess())
    story.tell(Published(COMMENT, "digest"))
    COMING_TO[state](story)
    story.tell(Checked(Check(COMMENT, story.run.id, HEAD, digest="digest", is_open=True)))
    assert story.state() is state
    return story
