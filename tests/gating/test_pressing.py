"""Buttons of the check run and GitHub's own Re-run: pressed twice, late or told twice, they do no more than once."""

from __future__ import annotations

import json

import pytest

from bot.comment.check import check_run
from bot.conversation.commands import Answer, Assess, Continue, Go, Retry, Stop
from bot.gating import deliveries
from bot.gating.events import Authorised
from bot.gating.happenings import Button, Pressed
from bot.gating.marks import Check
from bot.gating.states import RunState
from bot.gating.written import Checked
from tests.gating.story import HEAD, HOT, PLACE, Story


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
        "That button was for an earlier state of things, so nothing was done. "
        "The run for the head commit is reading the diff."
    ]
    assert failed.run == begun


def test_re_run_pressed_twice_before_either_was_looked_up_begins_one_run(failed: Pressing) -> None:
    failed.press("retry")
    failed.press("retry")
    failed.looked_up(-2)
    begun = failed.run
    assert begun.ordinal == 2
    assert "reply" in failed.looked_up(-1)
    assert "That button was for an earlier state" in failed.answers()[0]
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


def test_re_run_says_nothing_about_answers_that_were_corrected_before() -> None:
    """It offers no proposal, so that there is none that could have been overtaken."""
    story = asking()
    story.say(Answer(HOT, "cpu", False), "bob")
    story.say(Go())
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "fail")
    story.shows_check()
    assert story.press("retry") == ["authorise"]
    story.looked_up(-1)
    assert story.run.ordinal == 2


def asking() -> Pressing:
    story = Pressing()
    story.say(Assess())
    story.assessed()
    story.shows_check()
    return story


def press_what_is_shown(story: Pressing, button: Button) -> list[str]:
    """Of the check run as it stands now."""
    shown = check_run(story.pr, story.now)
    assert shown is not None
    (identifier,) = [offer.identifier for offer in shown.offers if offer.identifier.startswith(button)]
    return story.tell(pressing_delivery(story, identifier))


def pressing_delivery(story: Pressing, identifier: str) -> Pressed:
    """As GitHub tells it: the identifier is that of the button as the person saw it."""
    body = {
        "action": "requested_action",
        "repository": {"id": PLACE.repository_id, "full_name": PLACE.full_name},
        "installation": {"id": 7},
        "sender": {"login": "rev", "id": 3, "type": "User"},
        "check_run": {"id": story.shown, "external_id": f"perf-gate:{story.run.id}:{HEAD}:1"},
        "requested_action": {"identifier": identifier},
    }
    ((_, event),) = deliveries.route("check_run", json.dumps(body).encode(), "perf-gate", {PLACE.full_name})
    assert isinstance(event, Pressed)
    return event


def go_found(story: Pressing) -> list[str]:
    return story.tell(Authorised(story.pr.presses[-1].number, "rev", "write", Go(), HEAD, True))


def test_go_is_for_the_proposal_that_was_shown_with_the_button() -> None:
    story = asking()
    assert press_what_is_shown(story, "go") == ["authorise"]
    go_found(story)
    assert story.state() is RunState.preparing


@pytest.mark.parametrize("button", ["go", "skip"])
def test_a_press_that_an_answer_overtook_runs_nothing(button: Button) -> None:
    story = asking()
    assert press_what_is_shown(story, button) == ["authorise"]
    story.say(Answer(HOT, "trivial", True), "bob")
    assert story.run.proposed == "skip"
    go_found(story)
    assert story.state() is RunState.awaiting_reviewer
    assert "Your answer came before the question" in story.answers()[0]


def test_a_button_that_shows_the_proposal_of_before_an_answer_runs_nothing() -> None:
    story = asking()
    shown = check_run(story.pr, story.now)
    assert shown is not None
    before = pressing_delivery(story, shown.offers[0].identifier)
    story.say(Answer(HOT, "trivial", True), "bob")
    assert story.tell(before) == ["reply"]
    assert story.state() is RunState.awaiting_reviewer
    assert press_what_is_shown(story, "go") == ["authorise"]


@pytest.mark.parametrize("corrected", [False, True])
def test_a_button_of_an_earlier_release_counts_while_nothing_was_answered(corrected: bool) -> None:
    story = asking()
    if corrected:
        story.say(Answer(HOT, "trivial", True), "bob")
    assert story.tell(pressing_delivery(story, "go")) == (["reply"] if corrected else ["authorise"])


def test_a_press_that_comes_when_the_run_has_ended_begins_no_other() -> None:
    story = asking()
    press_what_is_shown(story, "go")
    story.say(Stop(), "bob")
    go_found(story)
    assert (story.state(), story.run.ordinal) == (RunState.stopped, 1)


def test_continue_is_for_the_gate_that_warned() -> None:
    story = Pressing()
    story.to_ferrying(ladder=(1, 2, 3))
    story.ferry_ends(1, "warn")
    story.shows_check()
    press_what_is_shown(story, "continue")
    story.say(Continue(), "bob")
    story.gate_to_ferrying(2)
    story.ferry_ends(2, "warn")
    story.tell(Authorised(story.pr.presses[-1].number, "rev", "write", Continue(), HEAD, True))
    assert story.state() is RunState.awaiting_escalation
