"""What holds of every comment the bot writes, whatever it is about."""

from __future__ import annotations

import re

import pytest

from bot.comment.canonical import SENTINEL, render
from bot.comment.question import question
from bot.comment.tables import HEADLINES
from bot.gating.model import PullRequest
from bot.gating.states import RunState
from tests.comment.page import own_lines, read
from tests.comment.scenes import NOW, RUN_URL
from tests.comment.scenes_judged import JUDGED
from tests.comment.scenes_unjudged import QUESTIONS, UNJUDGED

CANONICAL = JUDGED | UNJUDGED
every_comment = pytest.mark.parametrize("pr", CANONICAL.values(), ids=CANONICAL)
every_question = pytest.mark.parametrize("pr", QUESTIONS.values(), ids=QUESTIONS)


@every_comment
def test_it_begins_with_the_sentinel_and_the_robot(pr: PullRequest) -> None:
    first, second, *_ = render(pr, NOW).split("\n")
    assert first == SENTINEL
    assert second.startswith("🤖 ")


@every_comment
def test_verdict_and_next_action_stand_in_the_first_five_lines(pr: PullRequest) -> None:
    assert pr.run
    top = render(pr, NOW).split("\n")[:5]
    if pr.run.state is RunState.waived:
        assert len(top) == 2
    elif pr.run.state is RunState.halted:
        assert top[1] == "🤖 ## Zephyr perf gate — halted (local tests failed)"
        assert re.fullmatch(r"Treatment worktree \(`[0-9a-f]{40}`\) failed lint / pyrefly / zephyr tests\.", top[2])
        assert top[4] == "Fix the failing tests and the gate will re-run."
    else:
        assert [line for line in top if line.startswith("**Next:** ")]


@pytest.mark.parametrize("pr", JUDGED.values(), ids=JUDGED)
def test_the_headline_tells_the_stored_verdict_and_its_tables_show_the_judged_rows(pr: PullRequest) -> None:
    assert pr.run
    assert pr.run.gate
    body, judgement = render(pr, NOW), pr.run.gate.judgement
    if judgement is None:
        return
    told = body.partition("**Verdict:** ")[2].partition("\n")[0] or body.partition("): ")[2].partition("<")[0]
    assert told == HEADLINES[judgement.verdict]
    for name, row in judgement.stages.items():
        line = next(line for line in body.split("\n") if line.startswith(f"| {name} |"))
        assert line.endswith({"pass": "✅ |", "warn": "⚠ |", "fail": "❌ |", "—": "— |"}[row.verdict])
        assert (row.verdict != "—") == (row.delta is not None)


@every_comment
def test_it_calls_nobody_since_a_comment_of_its_own_does(pr: PullRequest) -> None:
    assert read(render(pr, NOW)).mentions == []


@every_comment
def test_it_links_to_the_baseline_and_nowhere_else(pr: PullRequest) -> None:
    page = read(render(pr, NOW))
    assert set(page.links) <= {f"{RUN_URL}9001"}
    assert page.references == []


@every_comment
def test_its_tables_are_whole_and_at_most_seven_columns_wide(pr: PullRequest) -> None:
    page = read(render(pr, NOW))
    assert all(header == cells <= 7 for header, cells in page.rows)
    assert page.loose_pipes == []
    assert page.tags.count("details") == page.tags.count("/details")


@every_question
def test_the_question_never_starts_with_the_sentinel_and_ends_with_its_marker(pr: PullRequest) -> None:
    asked = question(pr)
    assert not asked.body.startswith(SENTINEL)
    assert asked.body.split("\n")[-1] == asked.marker
    assert list(own_lines(asked.body)) == [asked.marker]
    assert pr.run
    assert read(asked.body).mentions == [f"@{pr.run.asked_by}"]


@every_question
def test_the_question_opens_with_the_lines_of_the_skill(pr: PullRequest) -> None:
    assert pr.run
    lines = question(pr).body.split("\n")
    assert lines[0] == "🤖 Zephyr perf gate assessment"
    assert lines[2].startswith(f"Proposed max_gate: {pr.run.proposed}")
    assert lines[3].startswith("Rationale: ")
    assert lines[5] == "Per-file:"
    assert 'Reply "go" to run, or override with "max_gate=<skip|1|2|3>".' in lines


def test_waived_is_the_sentinel_and_one_line() -> None:
    assert len(render(UNJUDGED["waived"], NOW).strip().split("\n")) == 2


@every_comment
def test_the_run_has_a_page_that_the_comment_links_to(pr: PullRequest) -> None:
    page = "https://gate.example/runs/7-12-1"
    assert pr.run
    assert page in read(render(pr, NOW, page)).links
    assert len(render(pr, NOW, page).strip().split("\n")) == 2 or pr.run.state is not RunState.waived
    assert page not in render(pr, NOW)


def test_a_missing_baseline_names_the_gap_and_who_is_to_act() -> None:
    page = read(render(UNJUDGED["stuck_baseline_missing"], NOW))
    assert {"datakit-tier1-perf-report", "rev"} <= set(page.code)


def test_the_same_state_gives_the_same_comment() -> None:
    assert render(JUDGED["pass"], NOW) == render(JUDGED["pass"], NOW)


def test_a_pull_request_without_a_run_has_no_comment_and_no_question() -> None:
    with pytest.raises(ValueError, match="without a run"):
        render(PullRequest(), NOW)
    with pytest.raises(ValueError, match="assessed run"):
        question(PullRequest())
