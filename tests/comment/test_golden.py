"""Every comment the bot can write, as a file: what changes here changes what reviewers read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.comment.canonical import render
from bot.comment.question import question
from bot.gating.model import PullRequest
from bot.gating.states import RunState
from tests.comment.golden import golden
from tests.comment.scenes import NOW
from tests.comment.scenes_judged import JUDGED
from tests.comment.scenes_unjudged import QUESTIONS, UNJUDGED

GOLDEN = Path(__file__).parent / "golden"
CANONICAL = JUDGED | UNJUDGED


@pytest.mark.parametrize(("name", "pr"), CANONICAL.items(), ids=CANONICAL)
def test_the_canonical_comment(name: str, pr: PullRequest) -> None:
    golden(GOLDEN / f"{name}.md", render(pr, NOW))


@pytest.mark.parametrize(("name", "pr"), QUESTIONS.items(), ids=QUESTIONS)
def test_the_question(name: str, pr: PullRequest) -> None:
    golden(GOLDEN / f"{name}.md", question(pr).body)


def test_every_state_of_a_run_has_a_comment_here() -> None:
    assert {pr.run.state for pr in CANONICAL.values() if pr.run} == set(RunState)


def test_no_golden_file_is_left_behind() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(CANONICAL | QUESTIONS)
