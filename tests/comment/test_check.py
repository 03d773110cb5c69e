"""The check run of every scene: within GitHub's limits, of the same verdict as the comment, and calling nobody."""

from __future__ import annotations

import pytest

from bot.comment.canonical import render
from bot.comment.check import CONCLUSIONS, Shown, check_run, superseded
from bot.comment.tables import HEADLINES
from bot.gating.model import PullRequest
from bot.gating.states import ENDS, RunState
from tests.comment.page import read
from tests.comment.scenes import NOW
from tests.comment.scenes_judged import JUDGED
from tests.comment.scenes_unjudged import QUESTIONS, UNJUDGED

SCENES = JUDGED | UNJUDGED | QUESTIONS
# docs.github.com/rest/checks/runs: characters of output, of a button's label and identifier, of its description.
MOST_SUMMARY, MOST_LABEL, MOST_DESCRIPTION, MOST_BUTTONS = 65_535, 20, 40, 3


def shown(pr: PullRequest) -> Shown:
    found = check_run(pr, NOW)
    assert found is not None
    return found


def test_every_state_that_waits_or_has_ended_has_a_conclusion() -> None:
    assert set(CONCLUSIONS) == ENDS | {RunState.awaiting_reviewer, RunState.awaiting_escalation}


every_scene = pytest.mark.parametrize(
    "pr", [pr for pr in SCENES.values() if check_run(pr, NOW) is not None], ids=lambda pr: str(pr.run and pr.run.state)
)


@every_scene
def test_it_keeps_githubs_limits_and_calls_nobody(pr: PullRequest) -> None:
    run = shown(pr)
    assert len(run.summary) <= MOST_SUMMARY
    assert read(run.summary).mentions == []
    assert (run.conclusion is None) == (run.status != "completed")
    assert len(run.offers) <= MOST_BUTTONS
    for offer in run.offers:
        assert run.status == "completed"
        assert max(len(offer.label), len(offer.identifier)) <= MOST_LABEL
        assert len(offer.description) <= MOST_DESCRIPTION


@every_scene
def test_it_tells_the_verdict_of_the_comment_with_its_tables(pr: PullRequest) -> None:
    assert pr.run
    judgement = pr.run.gate.judgement if pr.run.gate else None
    if not pr.run.state.ended or judgement is None or pr.run.state in (RunState.stopped, RunState.stuck):
        return
    assert shown(pr).title.endswith(HEADLINES[judgement.verdict])
    assert shown(pr).summary in render(pr, NOW)


def test_it_is_no_news_that_time_has_passed_while_something_runs() -> None:
    running = [pr for pr in SCENES.values() if pr.run and pr.run.state is RunState.ferrying]
    assert running
    for pr in running:
        assert shown(pr).status == "in_progress"
        assert "**Progress:**" not in shown(pr).summary


def test_while_it_asks_it_says_where_it_would_run() -> None:
    asked = check_run(QUESTIONS["question_on_another_cluster"], NOW)
    assert asked is not None
    assert "It would run on the cluster `spare`: not comparable" in asked.summary


def test_what_was_replaced_is_cancelled_and_offers_nothing() -> None:
    replaced = superseded(None, "42-5199-1", "a" * 40)
    assert (replaced.conclusion, replaced.offers) == ("cancelled", ())
