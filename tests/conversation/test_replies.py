"""Every sentence the bot says back, in one file that reads as a page."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import again, answers, judged, replies
from bot.conversation.commands import Misunderstood, parse_comment
from bot.conversation.grammar import GRAMMAR
from bot.gating.states import RunState
from tests.comment.golden import golden
from tests.comment.page import read

GOLDEN = Path(__file__).parent / "golden"
SHOWN, HEAD = "5b2f1c9d0e7a4b3c8d6e5f4a3b2c1d0e9f8a7b6c", "e07c55d1a2b3c4d5e6f708192a3b4c5d6e7f8091"


HOSTILE = "`x` @octocat <b>|</b> #1 https://evil.example\n<!-- perf-gate:reply 1 -->\u202e" + "y" * 90


def misunderstood(body: str) -> str:
    said = parse_comment(body)
    assert isinstance(said, Misunderstood)
    return replies.misunderstood(said.problem)


# By the function that says it; each is said in every way it can be.
SAID: Final[dict[str, list[str]]] = {
    "unheard": [replies.unheard()],
    "help_table": [
        replies.help_table(),
        replies.help_table({"ask": "triage", "go": "triage", "override": "maintain", "skip": "admin", "stop": "write"}),
    ],
    "heard_a_review": [replies.heard_a_review()],
    "edits_do_not_count": [replies.edits_do_not_count()],
    "pressed": [replies.pressed("rev", "go", "Nothing was done."), replies.pressed(HOSTILE, "retry", "No.")],
    "button_of_before": [replies.button_of_before("ferrying", SHOWN), replies.button_of_before("waived", SHOWN)],
    "misunderstood": [
        misunderstood("@perf-gate gooo"),
        misunderstood("@perf-gate max_gate=7"),
        misunderstood("@perf-gate stop it"),
        misunderstood("@perf-gate go now"),
        misunderstood("@perf-gate go\n@perf-gate stop"),
        misunderstood("@perf-gate <b>@x</b>"),
        misunderstood("@perf-gate exclude download"),
        misunderstood("@perf-gate exclude stage=`download`"),
        misunderstood("@perf-gate exclude stage=download stage=minhash"),
        misunderstood("@perf-gate include stage=,"),
        misunderstood("@perf-gate reanalise"),
    ],
    "denied": [replies.denied("write"), replies.denied("maintain")],
    "cannot_authorise": [replies.cannot_authorise("GitHub did not answer")],
    "confirm_retry": [
        again.confirm_retry(1200, 3600, ""),
        again.confirm_retry(1200, 3600, "spare"),
        again.confirm_retry(None, 3600, ""),
        again.confirm_retry(None, 3600, "spare"),
    ],
    "confirm_cluster": [again.confirm_cluster("spare")],
    "no_such_cluster": [
        again.no_such_cluster("spar", ["spare", "west"]),
        again.no_such_cluster("spare", []),
        again.no_such_cluster("spare", None),
    ],
    "retry_begins_when_it_is_gone": [
        again.retry_begins_when_it_is_gone(submitted=True),
        again.retry_begins_when_it_is_gone(submitted=False),
    ],
    "verdict_is_coming": [again.verdict_is_coming()],
    "stopped_for_retry": [again.stopped_for_retry("rev")],
    "no_gate_above": [again.no_gate_above()],
    "continues_another_head": [again.continues_another_head(SHOWN, HEAD)],
    "warned_about_another_head": [again.warned_about_another_head(SHOWN, HEAD)],
    "was_inconclusive": [again.was_inconclusive()],
    "ended_badly": [again.ended_badly("worker_failed")],
    "same_error_twice": [again.same_error_twice("ValueError: bad\n shard")],
    "on_another_cluster": [again.on_another_cluster("spare")],
    "launched_otherwise": [again.launched_otherwise(["memory: the tier's workflow has `4G`", "cpu: 2"])],
    "ended_before_its_question": [replies.ended_before_its_question(replies.stopped_by("rev"))],
    "question_on_its_way": [replies.question_on_its_way()],
    "closed": [replies.closed()],
    "no_run": [replies.no_run()],
    "status": [replies.status(state, SHOWN) for state in RunState] + [replies.status("assessing", "")],
    "already": [replies.already("ferrying", SHOWN), replies.already("assessing", "")],
    "stale_question": [
        replies.stale_question(SHOWN, HEAD, "run"),
        replies.stale_question(SHOWN, HEAD, "corrected"),
    ],
    "asked_anew": [replies.asked_anew(HEAD)],
    "base_changed": [
        replies.base_changed("main", "release/`@ada`", "run"),
        replies.base_changed("main", "release", "corrected"),
    ],
    "not_granted": [replies.not_granted("skip", "maintain")],
    "superseded": [replies.superseded(SHOWN, HEAD), replies.superseded(HEAD, HEAD)],
    "author_cannot_waive": [
        replies.author_cannot_waive("skip", "3"),
        replies.author_cannot_waive("1", "3", "maintain"),
        replies.author_cannot_waive("1", "3", "write", "rev"),
    ],
    "override": [replies.override("rev", "2", "only `minhash` matters"), replies.override("rev", "1", "")],
    "nothing_to_continue": [replies.nothing_to_continue()],
    "nothing_to_stop": [replies.nothing_to_stop()],
    "stopped_by": [replies.stopped_by("rev")],
    "confirm_stop": [
        replies.confirm_stop(1210, 3600),
        replies.confirm_stop(3900, 9000),
        replies.confirm_stop(None, 3600),
    ],
    "author_cannot_exclude": [judged.author_cannot_exclude(), judged.author_cannot_exclude("admin")],
    "nothing_to_correct": [
        answers.nothing_to_correct(),
        answers.nothing_to_correct("assessing", live=True),
        answers.nothing_to_correct("ferrying", live=True),
        answers.nothing_to_correct("passed"),
    ],
    "no_such_file": [
        answers.no_such_file("lib/plna.py", ["lib/plan.py"], "lib/plan.py"),
        answers.no_such_file(HOSTILE, [], ""),
    ],
    "enough_corrected": [answers.enough_corrected(50)],
    "answered_so_already": [answers.answered_so_already("lib/plan.py", "cpu", yes=True)],
    "author_cannot_correct": [answers.author_cannot_correct(), answers.author_cannot_correct("maintain")],
    "corrected": [
        answers.corrected("lib/plan.py", "cpu", "3", "1", yes=False),
        answers.corrected("lib/plan.py", "cpu", "3", "3", yes=True),
    ],
    "correction": [
        answers.correction("rev", "2026-06-20 08:00 UTC", "lib/plan.py", "cpu", "only `repr` changed", yes=False),
        answers.correction("rev", "2026-06-20 08:00 UTC", "lib/plan.py", "cpu", "", yes=True),
    ],
    "excluded_ahead": [
        judged.excluded_ahead("download", known=True),
        judged.excluded_ahead("my stage", known=False),
        judged.excluded_ahead("donwload", known=False, close="download"),
        judged.excluded_ahead("my stag", known=False, close="my stage"),
    ],
    "excluded": [judged.excluded("download"), judged.excluded(HOSTILE)],
    "included_ahead": [judged.included_ahead("download")],
    "included": [judged.included("download")],
    "already_excluded": [judged.already_excluded("download", "rev")],
    "not_excluded": [judged.not_excluded("minhash", ("download", "total")), judged.not_excluded("minhash", ())],
    "no_such_stage": [
        judged.no_such_stage("donwload", ["download", "normalize", "total"], "download"),
        judged.no_such_stage(HOSTILE, [f"stage {number}" for number in range(20)], ""),
    ],
    "nothing_would_be_left": [judged.nothing_would_be_left("tokenize")],
    "enough_excluded": [judged.enough_excluded(50)],
    "nothing_judged": [judged.nothing_judged("waived", SHOWN), judged.nothing_judged("ferrying", SHOWN)],
    "reanalysed": [judged.reanalysed()],
    "judged_again": [
        judged.judged_again(1, "fail", "pass", moved=False),
        judged.judged_again(2, "not_comparable", "not_comparable", moved=False),
        judged.judged_again(1, "warn", "warn", moved=True),
    ],
    "takes_it_back": [judged.takes_it_back()],
    "goes_on": [judged.goes_on()],
    "climbs_on": [judged.climbs_on(2)],
    "not_climbed": [judged.not_climbed([2]), judged.not_climbed([2, 3])],
    "did_not_climb": [judged.did_not_climb([3])],
    "run_was_replaced": [judged.run_was_replaced()],
    "cannot_rejudge": [judged.cannot_rejudge("`rejudge` did not end in time, again and again")],
    "closed_run": [replies.closed_run(merged=True), replies.closed_run(merged=False)],
    "closed_before_climbing": [replies.closed_before_climbing()],
    "nobody_answered": [replies.nobody_answered(14)],
    "short": [replies.short(SHOWN), replies.short("")],
    "where_it_stands": [replies.where_it_stands("queued"), replies.where_it_stands("out_of_scope")],
    "state_read_aloud": [replies.state_read_aloud(state) for state in RunState],
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name: str) -> None:
    golden(GOLDEN / f"{name}.md", "\n\n".join(SAID[name]))


def test_every_sentence_is_pinned_here() -> None:
    here = {
        name
        for room in (again, answers, judged, replies)
        for name, function in inspect.getmembers(room, inspect.isfunction)
        if inspect.getmodule(function) is room and not name.startswith("_")
    }
    assert here == set(SAID)
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_no_reply_calls_anybody_links_anywhere_or_looks_like_the_canonical_comment(name: str) -> None:
    for said in SAID[name]:
        page = read(said)
        assert page.mentions == page.links == page.references == page.tags == page.hidden == []
        assert not said.startswith("<!--")


def test_no_reply_commands_the_bot_itself() -> None:
    assert [said for every in SAID.values() for said in every if parse_comment(said) is not None] == []


def test_the_help_table_has_a_row_a_command_and_at_most_three_columns() -> None:
    page = read(replies.help_table())
    assert page.rows == [(3, 3)] * (len(GRAMMAR) + 1)
    assert page.loose_pipes == []
    assert page.code[0] == "@perf-gate"
    assert {code.split()[1] for code in page.code[1 : len(GRAMMAR)]} >= {"assess", "go", "skip", "stop", "help"}


def test_every_state_reads_aloud() -> None:
    assert all("_" not in replies.state_read_aloud(state) for state in RunState)


@given(st.text(max_size=40), st.sampled_from(["`", "``", "`@octocat`", "|<b>"]))
def test_a_branch_cannot_name_itself_out_of_its_code_span(name: str, odd: str) -> None:
    branch = "".join(name.split()).replace("\\", "") + odd
    page = read(replies.base_changed("main", branch or "x", "run"))
    assert page.mentions == page.tags == []


@given(st.text(max_size=80) | st.sampled_from([HOSTILE, "`" * 9, "<!-- x -->", "a\n\nb", "\\`"]))
def test_a_stages_name_does_nothing(name: str) -> None:
    for said in (judged.excluded(name), judged.no_such_stage(name, [name, name], name), judged.included_ahead(name)):
        page = read(said)
        assert page.mentions == page.links == page.references == page.tags == page.hidden == []
        assert "\n" not in said


@given(st.text(max_size=40))
def test_a_misunderstood_word_does_nothing(word: str) -> None:
    said = parse_comment(f"@perf-gate {word}")
    if isinstance(said, Misunderstood):
        page = read(replies.misunderstood(said.problem))
        assert page.mentions == page.links == page.references == page.tags == page.hidden == []
