"""Whatever a pull request, a report or a cluster puts into a name, the comment shows it and it does nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.assessment.model import FileAnswers
from bot.comment.canonical import SENTINEL, render
from bot.comment.limits import MOST_BYTES, MOST_CHARACTERS
from bot.comment.markdown import block, code, length, plain, run_link, table, text
from bot.comment.question import question
from bot.comment.sentences import mention, sentence
from bot.gating.model import EarlierRun, GateRun, PullRequest
from bot.gating.seen import StageProgress
from bot.gating.states import RunState
from bot.gating.tested import FailedCommand
from bot.gating.words import Exclusion, FormerVerdict, Handover
from bot.watching.look import Machine
from bot.watching.outlook import Outlook
from bot.watching.queue import Ahead, Queue
from bot.watching.vitals import Health, Trouble, TroubleKind, Vitals
from tests.comment.page import Page, own_lines, read
from tests.comment.scenes import (
    HEAD,
    NOW,
    RUN_URL,
    assessed,
    attempt,
    baseline,
    judged,
    nights,
    plans,
    pull,
    report,
    treatment,
)
from tests.comment.scenes import config as configured

OURS = {"details", "/details", "summary", "/summary", "code", "/code"}
PIECES = (
    *("|", "\\|", "`", "``", "```", "~~~", "\n", "\r\n", "\u2028", "\t", "    ", " ", "\\", "*", "**", "_", "~~", "$"),
    *("<", ">", "&lt;", "&#64;", "&", "-", "---", "===", ":-:", "# ", "> ", "1. ", "- [ ] ", "+ ", "[", "]", "(", ")"),
    *("@octocat", "@marin/team", "a@b.org", "#123", "x/y#4", "GH-5", "_gh-6", ":tada:", "5b2f1c9d0e7a4b3c", "!"),
    *("https://evil.example/x", "_http://e.org", "_www.evil.org", "www.e.org", "[x](https://e.org)", "![i](//e.org)"),
    *("<img src=x onerror=y>", "</details>", "<details>", "</code>", "</summary>", "<script>", "-->", "<!--"),
    *(SENTINEL, "\n<!-- perf-gate:question 42-5199-1 -->\n", "<!-- perf-gate:reply 1 -->", "[a]: https://e.org"),
    *("\u202e", "\u2066", "\u200f", "\u200b", "\x00", "\x1b[31m", "\udcff", "é", "漢字", "🧨", "word", "x" * 300),
)
hostile = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join) | st.text(max_size=60)
slow_but_sure = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def harmless(page: Page, *, markers: list[str], people: set[str]) -> None:
    assert set(page.mentions) <= people, page.mentions
    assert page.references == []
    assert set(page.links) <= {f"{RUN_URL}9001"}
    assert page.images == 0
    assert set(page.tags) <= OURS, page.tags
    assert page.tags.count("details") == page.tags.count("/details")
    assert page.hidden == markers
    assert list(own_lines(page.source)) == markers
    assert all(header == cells <= 7 for header, cells in page.rows), page.rows
    assert page.loose_pipes == []
    assert not [title for title in page.headings if title not in HEADINGS], page.headings
    assert length(page.source) <= MOST_CHARACTERS
    assert len(page.source.encode()) <= MOST_BYTES


HEADINGS = {"Diff assessment", "Run summary", "Stage timings", "Infra", "Flags", "What the deltas are worth"}


@st.composite
def hostile_run(draw: st.DrawFn) -> tuple[PullRequest, set[str]]:
    """A pull request in any state, in which everything that can come from outside does; and whom it may call."""
    words = [draw(hostile) for _ in range(6)]
    pick = st.sampled_from(words)
    login = draw(st.sampled_from(["rev", "octo-cat_acme"]) | pick)
    settings_ = configured()
    answers = FileAnswers(draw(st.booleans()), True, False, True, False, draw(pick), (draw(pick), draw(pick)))
    found = assessed(
        rationale=draw(pick),
        per_file={draw(pick): answers, draw(pick): answers},
        out_of_scope={draw(pick): draw(pick)},
        flagged={draw(pick): draw(pick)},
    )
    state = draw(st.sampled_from(sorted(RunState)))
    run: dict[str, Any] = {
        "asked_by": login,
        "assessment": found,
        "override": draw(pick),
        "approved_by": draw(pick),
        "stop_requested_by": draw(st.just("") | pick),
        "head_moved_to": draw(st.just("") | pick),
        "reason": draw(st.just("") | pick),
        "failed_command": FailedCommand(draw(pick), 1, draw(pick)),
        "handover": Handover("a" * 40, max_gate="3", named_by=draw(pick)),
        "proposed": draw(st.sampled_from(["skip", "1", "3"])),
        "plan": tuple(replace(plan, name=draw(pick)) for plan in plans(settings_)),
        "is_fork": draw(st.booleans()),
        "exclusions": tuple(Exclusion(draw(pick), draw(pick), NOW, draw(pick)) for _ in range(draw(st.integers(0, 2)))),
    }
    pr = pull(state, *_gates(draw, pick, state), is_open=draw(st.booleans()), **run)
    earlier = (EarlierRun("42-5199-0", RunState.halted, draw(pick), NOW),)
    return replace(pr, earlier=earlier), {mention(login)} - {login} if mention(login).startswith("@") else set()


def _gates(draw: st.DrawFn, pick: st.SearchStrategy[str], state: RunState) -> list[GateRun]:
    """One gate that came to a verdict over hostile reports, and one that is under way."""
    name, job = draw(pick), draw(pick)
    before = report(stages={name: draw(st.sampled_from([3.5, 9.0]))}, task_state_counts={name: 3, "succeeded": 1})
    after = treatment(
        stages={draw(pick): 7.0},
        status=draw(st.sampled_from(["succeeded"]) | pick),
        cached_steps=draw(st.lists(pick, max_size=2)),
        infra_failures={draw(pick): 2},
        ferry_module=draw(st.none() | pick),
        wall_seconds_total=draw(st.sampled_from([1880.0, None]) | pick),
    )
    wild: dict[str, Any] = {"error": draw(pick), "job_id": job, "ferry_state": draw(pick), "pending_reason": draw(pick)}
    wild |= _watched(draw, pick)
    pinned = replace(baseline(before), sha=draw(pick), run_url=draw(st.sampled_from([f"{RUN_URL}9001"]) | pick))
    other = draw(pick)
    before["stage_wall_seconds"][other] = 5.0
    after["stage_wall_seconds"] |= {other: draw(st.sampled_from([5.0, 50.0]))}
    after["stage_sum_task_wall_seconds"] = {other: 99.0}
    earlier = [
        replace(night, stages=night.stages | {other: 5.0 + index / 9}, work=night.work | {other: 40.0 + index})
        for index, night in enumerate(nights(draw(st.sampled_from([3, 8]))))
    ]
    told: dict[str, Any] = {"history": tuple(earlier), "pinned": pinned, "excluded": (name,)}
    first = judged(1, before, after | {"iris_job_id": job}, **told, **wild)
    first = replace(first, former=(FormerVerdict("fail", NOW, draw(pick), "exclude", draw(pick), draw(pick)),))
    progress = (StageProgress(draw(pick), "running", 3.0, 1, 2),)
    second = GateRun(2, baseline(before), (attempt(2, progress=progress, **wild),))
    needs_verdict = state is RunState.awaiting_escalation
    return [first] if needs_verdict or draw(st.booleans()) else [first, second]


def _watched(draw: st.DrawFn, pick: st.SearchStrategy[str]) -> dict[str, Any]:
    """What looks at a ferry brought home: errors, log lines, names of stages, jobs and machines."""
    troubles = tuple(
        Trouble(
            draw(st.sampled_from(sorted(TroubleKind))),
            NOW,
            (draw(pick), f"see `{draw(pick)}`"),
            (draw(pick),),
            draw(pick),
        )
        for _ in range(draw(st.integers(0, 2)))
    )
    over = tuple(replace(trouble, until=NOW) for trouble in troubles[:1] if draw(st.booleans()))
    health = draw(st.sampled_from(sorted(Health)))
    vitals = Vitals(
        health, NOW, (draw(pick), f"see `{draw(pick)}`"), looked_at=NOW, troubles=(*over, *troubles[len(over) :])
    )
    return {
        "vitals": vitals,
        "machines": (Machine(draw(pick), draw(pick), draw(pick)),),
        "stale": (draw(pick),),
        "queue": Queue((Ahead(5200, NOW, NOW), Ahead(0)), NOW),
        "outlook": Outlook(40, NOW, NOW, NOW),
    }


@slow_but_sure
@given(hostile_run())
def test_a_canonical_comment_is_harmless(made: tuple[PullRequest, set[str]]) -> None:
    pr, people = made
    harmless(read(render(pr, NOW)), markers=[SENTINEL], people=people)


@slow_but_sure
@given(hostile_run())
def test_a_question_is_harmless(made: tuple[PullRequest, set[str]]) -> None:
    pr, people = made
    asked = question(pr)
    page = read(asked.body)
    assert page.hidden == [asked.marker]
    harmless(page, markers=[asked.marker], people=people)


@given(hostile)
def test_text_shows_all_that_can_be_seen_of_it_and_nothing_acts(value: str) -> None:
    for around in ("«{}»", "- {}", "Above: {}"):
        page = read(around.format(text(value, 5000)))
        seen = page.text.replace("\u200b", "").strip("\n ")
        assert seen == around.removeprefix("- ").format(plain(value, 5000)).strip()
        assert page.tags == page.hidden == page.links == page.mentions == page.references == page.headings == []


@given(hostile)
def test_code_shows_all_that_can_be_seen_of_it(value: str) -> None:
    page = read(f"«{code(value, 5000)}»")
    shown = "".join(page.code) or page.text.replace("\u200b", "").strip("\n")[1:-1]
    assert shown == (plain(value, 5000) or "—")
    assert set(page.tags) <= {"code", "/code"}
    assert page.hidden == page.links == page.mentions == page.references == []


@given(st.lists(st.lists(hostile, min_size=2, max_size=2), max_size=4))
def test_any_cell_leaves_its_table_whole(rows: list[list[str]]) -> None:
    page = read(table(["A", "B"], [[text(a), code(b)] for a, b in rows]))
    assert page.rows == [(2, 2)] * (len(rows) + 1)


@given(hostile, hostile)
def test_a_block_holds_everything_and_ends_where_it_should(value: str, after: str) -> None:
    page = read(f"{block(value)}\n\nafter {text(after)}")
    assert len([held for held in page.code if held]) >= bool(value.strip())
    assert page.tags == page.hidden == page.mentions == []
    assert page.text.startswith("after")


@given(hostile)
def test_a_reason_is_plain_text_with_code_spans(value: str) -> None:
    page = read(f"Why: {sentence(f'see `{HEAD}` and {value}')}")
    assert page.code[0] == HEAD
    assert page.mentions == page.references == page.links == page.hidden == []
    assert set(page.tags) <= {"code", "/code"}


def test_a_run_with_hostile_json_in_its_raw_report_keeps_its_fence() -> None:
    raw = json.dumps(treatment(stages={f"```\n{SENTINEL}": 1.0}), indent=2)
    body = render(pull(RunState.passed, judged(1, report(), json.loads(raw))), NOW)
    assert list(own_lines(body)) == [SENTINEL]


def test_a_line_number_between_colons_is_left_alone() -> None:
    assert text("perf-gate.toml:13: unknown key") == "perf-gate.toml:13: unknown key"


def test_a_run_is_linked_to_its_own_address_only() -> None:
    assert run_link(9001, f"{RUN_URL}9001") == f"[#9001]({RUN_URL}9001)"
    for url in (
        "https://evil.example/x",
        f"{RUN_URL}9002",
        f"{RUN_URL}9001)[x](https://evil.example",
        "",
        "javascript:x",
    ):
        assert run_link(9001, url) == "9001"
