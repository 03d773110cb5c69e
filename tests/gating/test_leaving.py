"""What the clean-up of an ended run is told of the jobs its preflight may have left, now and by earlier releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from bot.conversation.commands import Assess, Go, Stop
from bot.gating.events import PreflightPassed, Prepared
from bot.gating.leaving import left_of
from bot.gating.tested import CommandsLeft
from tests.comment.scenes import config
from tests.gating.story import HEAD, NEWER, Story

RUNNER = {"job": {"cpu": 1, "disk": "5GB"}, "runner": "iris"}
ON_IRIS = config(preflight=config().preflight.model_dump() | RUNNER)
COMMANDS = len(ON_IRIS.preflight.commands)


def being_tested(*, on_iris: bool = True) -> Story:
    story = Story()
    story.say(Assess())
    story.assessed()
    story.say(Go())
    story.tell(Prepared(story.run.id))
    if on_iris:
        story.pr = replace(story.pr, run=replace(story.run, config=ON_IRIS.model_dump_json()))
    return story


def payload(story: Story) -> Mapping[str, Any]:
    return next(effect.payload for effect in reversed(story.effects) if effect.kind == "cleanup")


@pytest.mark.parametrize("on_iris", [True, False])
def test_a_run_that_ends_while_it_is_tested_leaves_what_it_may_have_begun(on_iris: bool) -> None:
    story = being_tested(on_iris=on_iris)
    story.say(Stop())
    assert left_of(payload(story), story.pr) == (CommandsLeft(HEAD, 1, COMMANDS) if on_iris else None)


def test_a_run_that_was_tested_leaves_nothing_and_nobody_looks_for_it() -> None:
    story = being_tested()
    story.tell(PreflightPassed(story.run.id))
    story.say(Stop())
    assert payload(story) == {"run_id": story.run.id, "left": None}
    assert left_of(payload(story), story.pr) is None


def test_where_an_earlier_release_kept_nothing_the_run_itself_tells() -> None:
    story = being_tested()
    story.say(Stop())
    kept = {"run_id": story.run.id}
    assert left_of(kept, story.pr) == CommandsLeft(HEAD, 1, COMMANDS)
    # Another run has taken its place, and until it is read nobody knows how many commands there were.
    story.say(Assess(), head=NEWER)
    assert left_of(kept, story.pr) is None
    story.assessed(head=NEWER)
    story.pr = replace(story.pr, run=replace(story.run, config=ON_IRIS.model_dump_json()))
    assert left_of(kept, story.pr) == CommandsLeft(HEAD, 1, COMMANDS)


def test_where_an_earlier_release_kept_nothing_a_run_that_came_to_a_gate_or_is_forgotten_left_nothing() -> None:
    story = being_tested()
    story.tell(PreflightPassed(story.run.id))
    story.say(Stop())
    assert left_of({"run_id": story.run.id}, story.pr) is None
    assert left_of({"run_id": "42-5199-99"}, story.pr) is None
    assert left_of({"run_id": "42-5199-1"}, Story().pr) is None
