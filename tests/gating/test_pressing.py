"""Buttons of the check run and GitHub's own Re-run: pressed twice, late or told twice, they do no more than once."""

from __future__ import annotations

import pytest

from bot.conversation.commands import Retry
from bot.gating.events import Authorised
from bot.gating.happenings import Button, Pressed
from bot.gating.marks import Check
from bot.gating.states import RunState
from bot.gating.written import Checked
from tests.gating.story import HEAD, PLACE, Story


class Pressing(Story):
    """A story with a check run on the head, where people press."""

    shown = 500

    def shows_check(self) -> None:
        self.shown += 1
        self.tell(Checked(Check(self.shown, self.run.id, HEAD, is_open=True)))

    def press(self, button: Button, *, run_id: str = "", check_id: int = 0, cause: str = "") -> list[str]:
        run_id, check_id = run_id or self.run.id, check_id or self.shown
        pressed = Pressed(7, PLACE.full_name, run_id, HEAD, check_id, "rev", button, cause=cause)
        return self.tell(pressed)

    def looked_up(self, number: int) -> list[str]:
        """The permission of whoever pressed is found; `number` counts presses from the last."""
        press = self.pr.presses[number]
        return self.tell(Authorised(press.number, "rev", "write", Retry(), HEAD, True))

    def answers(self) -> list[str]:
        assert self.last is not None
        return [str(effect.payload["text"]) for effect in self.last.effects if effect.kind == "reply"]


@pytest.fixture
def failed() -> Pressing:
    """A run that ended ❌, with its check run."""
    story = Pressing()
    story.to_ferrying()
    story.ferry_ends(1, "fail")
    assert story.state() is RunState.failed
    story.shows_check()
    return story


def test_re_run_pressed_again_after_it_began_leaves_the_new_run_alone(failed: Pressing) -> None:
    before = failed.run.id
    assert failed.press("retry") == ["authorise"]
    failed.looked_up(-1)
    assert failed.run.ordinal == 2
    begun = failed.run
    assert failed.press("retry", run_id=before) == ["reply"]
    assert failed.answers() == [
        "`rev` pressed **Re-run** on the check run. "
        "That button is of before: the run for the head commit is reading the diff. Nothing was done."
    ]
    assert failed.run == begun


def test_re_run_pressed_twice_before_either_was_looked_up_begins_one_run(failed: Pressing) -> None:
    failed.press("retry")
    failed.press("retry")
    failed.looked_up(-2)
    begun = failed.run
    assert begun.ordinal == 2
    assert "reply" in failed.looked_up(-1)
    assert "That button is of before" in failed.answers()[0]
    assert failed.run == begun


def test_a_press_that_is_told_twice_counts_once(failed: Pressing) -> None:
    """Re-run all checks is told on by an effect, which is repeated where its end was not stored."""
    assert failed.press("retry", cause="42/5199#9:find_pulls") == ["authorise"]
    assert failed.press("retry", cause="42/5199#9:find_pulls") == []
    assert len(failed.pr.presses) == 1


def test_no_press_ever_stops_a_ferry_that_is_out() -> None:
    story = Pressing()
    story.to_ferrying()
    story.shows_check()
    for _ in range(3):
        story.press("retry")
        story.looked_up(-1)
        assert "Say `@perf-gate retry` once more" in story.answers()[0]
    assert story.run.stop_requested_by == ""
    assert "stop_ferry" not in [effect.kind for effect in story.effects]
    # A press and a word are two.
    assert "stop_ferry" in story.say(Retry())


def test_re_run_of_an_older_check_run_of_the_same_run_is_of_before(failed: Pressing) -> None:
    former = failed.shown
    failed.shows_check()
    assert failed.press("retry", check_id=former) == ["reply"]
    # One that is newer than the bot knows of (its answer was lost) is as good as the newest.
    assert failed.press("retry", check_id=failed.shown + 1) == ["authorise"]
