"""GitHub takes no longer comment: what is given up first, and what never is."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bot.assessment.model import FileAnswers
from bot.comment.canonical import render
from bot.comment.limits import MOST_BYTES, MOST_CHARACTERS, Section, fits, join
from bot.comment.markdown import bullets, length, table
from bot.comment.numbers import about, duration
from bot.comment.question import question
from bot.gating.model import PullRequest
from bot.gating.states import RunState
from bot.gating.tested import FailedCommand
from tests.comment.page import own_lines, read
from tests.comment.scenes import NOW, SHUFFLE, assessed, config, judged, plans, pull, report, slower, treatment
from tests.comment.scenes_judged import JUDGED

CUT = "The raw treatment report is too long for a comment and was cut."


def with_raw(size: int, filler: str = "x") -> PullRequest:
    return pull(RunState.passed, judged(1, report(), treatment(warnings=[filler * size])))


def test_a_raw_report_that_fits_is_shown_whole() -> None:
    body = render(with_raw(50_000), NOW)
    assert CUT not in body
    assert "x" * 50_000 in body


@pytest.mark.parametrize("filler", ["x", "漢", "🧨", "`", "\u202e", "<!--"])
def test_a_raw_report_that_does_not_fit_goes_first_and_its_absence_is_said(filler: str) -> None:
    body = render(with_raw(70_000, filler), NOW)
    assert CUT in body
    assert "### Infra" in body
    assert fits(body)


def test_three_long_gates_find_room_once_the_raw_report_is_gone() -> None:
    stages = {f"stage-{'y' * 40}-{index}": 1.0 for index in range(1500)}
    gates = [judged(number, report(stages=stages), treatment(gate=number, stages=stages)) for number in (1, 2, 3)]
    body = render(pull(RunState.passed, *gates), NOW)
    assert fits(body)
    assert CUT in body
    assert body.count("more stages |") == 3


def everything_long(length_of_names: int, files: int) -> dict[str, Any]:
    odd = "|" * length_of_names
    answers = FileAnswers(False, True, True, True, True, odd, tuple(f"{odd}{n}" for n in range(20)))
    return {
        "assessment": assessed(
            rationale=odd,
            per_file={f"{SHUFFLE}{odd}{n}": answers for n in range(files)},
            out_of_scope={f"{odd}{n}": odd for n in range(files)},
            flagged={f"{odd}{n}": odd for n in range(files)},
        ),
        "reason": odd,
        "override": odd,
        "failed_command": FailedCommand(odd, 1, "\x01" * 100_000),
        "plan": tuple(replace(plan, name=odd) for plan in plans(config())),
    }


@pytest.mark.parametrize("state", sorted(RunState))
def test_no_state_of_a_run_with_nothing_but_long_names_exceeds_the_limits(state: RunState) -> None:
    stages = {f"{'|' * 300}{n}": 5.0 for n in range(300)}
    after = treatment(stages=slower(0.5) | dict.fromkeys(stages, 9.0))
    gate = judged(1, report(stages=stages), after, error="\x01" * 50_000)
    body = render(pull(state, gate, **everything_long(500, 300)), NOW)
    assert length(body) <= MOST_CHARACTERS
    assert len(body.encode()) <= MOST_BYTES
    page = read(body)
    assert page.tags.count("details") == page.tags.count("/details")
    assert page.loose_pipes == []


def test_a_question_about_a_thousand_files_still_asks_and_ends_with_its_marker() -> None:
    asked = question(pull(RunState.awaiting_reviewer, **everything_long(500, 1000)))
    assert fits(asked.body)
    assert "max_gate=<skip|1|2|3>" in asked.body
    assert asked.body.split("\n")[-1] == asked.marker
    assert list(own_lines(asked.body)) == [asked.marker]


def test_the_stages_that_made_the_verdict_are_shown_however_many_there_are() -> None:
    stages = {f"stage-{index:04}": 10.0 for index in range(2000)}
    after = treatment(stages=stages | {"stage-1999": 20.0})
    body = render(pull(RunState.failed, judged(1, report(stages=stages), after)), NOW)
    assert "| stage-1999 | 10s | 20s | +100.0% | ❌ |" in body
    assert "more stages |" in body


def test_parts_are_cut_from_the_last_then_dropped_but_what_stays_stays() -> None:
    big = "y" * 40_000
    first, last = Section("first", stays=True), Section("last", stays=True)
    assert join([first, Section(big), last]) == f"first\n\n{big}\n\nlast"
    cut = join([first, Section(big, cut="a"), Section(big, cut="b"), last])
    assert cut == f"first\n\n{big}\n\nb\n\nlast"
    dropped = join([first, Section(big), Section(big), last])
    assert dropped.startswith(f"first\n\n{big}\n\n_(A part")
    assert dropped.endswith("\n\nlast")


def test_a_table_counts_what_it_leaves_out_and_a_list_too() -> None:
    rows = [[str(index)] for index in range(10)]
    assert table(["A"], rows, budget=12, more="files").split("\n")[2:] == ["| 0 |", "| 1 |", "| … and 8 more files |"]
    assert table(["A"], rows, budget=12, foremost=[9]).split("\n")[2:4] == ["| 0 |", "| 9 |"]
    assert bullets(["a", "b", "c"], most=2) == "- a\n- b\n- … and 1 more"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "—"),
        (0, "0s"),
        (0.2, "<1s"),
        (59.5, "1m 00s"),
        (1872, "31m 12s"),
        (4032, "1h 07m 12s"),
        (1e12, "1000000000000s"),
    ],
)
def test_a_duration_reads_as_in_the_skill(seconds: float | None, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("minutes", "shown"), [(-5, "0 min"), (12, "12 min"), (60, "1 h"), (125, "2 h 5 min"), (2880, "2 d")]
)
def test_a_span_is_rough(minutes: int, shown: str) -> None:
    assert about(timedelta(minutes=minutes)) == shown


def test_the_raw_report_in_the_comment_is_the_one_that_was_judged() -> None:
    pr = JUDGED["pass"]
    assert pr.run
    assert pr.run.attempt
    shown = next(held for held in read(render(pr, NOW)).code if held.startswith("{"))
    assert json.loads(shown) == json.loads(pr.run.attempt.report)


def test_of_more_stages_than_there_is_room_for_the_failing_ones_are_shown_and_the_others_counted() -> None:
    many = {f"stage {number}": 100.0 for number in range(10_000)}
    before, after = report(stage_wall_seconds=many), treatment(stages=many | {"stage 9876": 150.0})
    gate = judged(1, before, after)
    body = render(pull(RunState.failed, gate), NOW)
    shown = [line for line in body.split("\n") if line.startswith("| stage ")]
    assert gate.judgement
    assert "| stage 9876 | 1m 40s | 2m 30s | +50.0% | ❌ |" in shown
    assert f"… and {len(gate.judgement.stages) - len(shown)} more stages" in body
