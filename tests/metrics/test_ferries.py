"""Ferries that Iris does not take or does not answer about: nobody but an operator can mend that."""

from __future__ import annotations

from datetime import timedelta

from bot.gating.events import Unseen, Unsubmitted
from bot.metrics.exposition import FERRY_STATES, ferry_state
from tests.gating.story import Story


def test_a_ferry_that_is_not_taken_is_counted_apart() -> None:
    story = Story()
    story.to_submitting()
    assert ferry_state(story.pr) == "submitting"
    for _ in range(3):
        assert story.tell(Unsubmitted(story.run.id, 1, 1, "Iris could not take the job")).count("submit") == 1
    assert ferry_state(story.pr) == "not taken"
    assert "not taken" in FERRY_STATES


def test_a_ferry_that_nobody_answers_about_is_out_of_sight_after_a_while() -> None:
    story = Story()
    story.to_ferrying()
    for state in ("pending", "out of sight"):
        story.tell(Unseen(story.run.id, 1, 1))
        assert ferry_state(story.pr) == state
        story.now += timedelta(minutes=20)
    assert "out of sight" in FERRY_STATES
