"""What counts as a command: running text that names the bot, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.commands import (
    Assess,
    Continue,
    Exclude,
    Go,
    Help,
    Include,
    Misunderstood,
    Reanalyse,
    Retry,
    Said,
    Skip,
    Status,
    Stop,
    parse_bare,
    parse_comment,
)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@perf-gate", Assess()),
        ("@Perf-Gate assess", Assess()),
        ("Could you look at this? cc @perf-gate", Assess()),
        ("@perf-gate[bot] help", Help()),
        ("@perf-gate, status", Status()),
        ("@perf-gate go", Go()),
        ("please @perf-gate: GO!", Go()),
        ("@perf-gate go max_gate=2", Go("2")),
        ("@perf-gate max_gate=skip because docs", Go("skip", "docs")),
        ("@perf-gate max_gate=1 — only minhash matters", Go("1", "only minhash matters")),
        ("@perf-gate go max_gate=3 reason=spill | path", Go("3", "spill | path")),
        ("@perf-gate skip we measured it elsewhere", Skip("we measured it elsewhere")),
        ("@perf-gate continue", Continue()),
        ("@perf-gate retry", Retry()),
        ("First line.\n\n- item: @perf-gate stop\n", Stop()),
        ("@perf-gate go\n\n@perf-gate go", Go()),
        ("@perf-gate exclude stage=download", Exclude("download")),
        ("@perf-gate EXCLUDE Stage = Download.", Exclude("Download")),
        (
            "@perf-gate exclude stage=fuzzy_dups — its *dump* moved, twice",
            Exclude("fuzzy_dups", "its *dump* moved, twice"),
        ),
        ("@perf-gate exclude stage=x because `because` is — code", Exclude("x", "`because` is — code")),
        ("@perf-gate skip — see [the run](https://e.org) <b>x</b>", Skip("see [the run](https://e.org) <b>x</b>")),
        ("@perf-gate max_gate=1 because `a\nb` moved", Go("1", "… moved")),
        ("@perf-gate exclude stage=download, because of the WAN", Exclude("download", "of the WAN")),
        ("@perf-gate exclude stage=total reason=the dump — it moved", Exclude("total", "the dump — it moved")),
        ("@perf-gate exclude stage=a--b -- noise", Exclude("a--b", "noise")),
        ("@perf-gate exclude stage=download—noise", Exclude("download", "noise")),
        ('@perf-gate exclude stage="my stage" because noise', Exclude("my stage", "noise")),
        ("@perf-gate exclude stage='say \"when\"'", Exclude('say "when"')),
        ("@perf-gate exclude stage=“because — so” because noise", Exclude("because — so", "noise")),
        ("@perf-gate exclude: stage=minhash/0.", Exclude("minhash/0")),
        ("@perf-gate include stage=download", Include("download")),
        ("@perf-gate reanalyse", Reanalyse()),
        ("<details>\n\nthe log\n\n</details>\n\n@perf-gate go", Go()),
        ("<!-- <details> -->\n\n@perf-gate go", Go()),
        ("A Map<str, List<int>> is slow, <br> see <b>it</b>.\n@perf-gate go", Go()),
        ("It takes ~5 minutes, or ~~4~~ 3.\n@perf-gate go", Go()),
        ("@perf-gate skip because https://example.org/?by=@perf-gate", Skip("https://example.org/?by=@perf-gate")),
        ("@perf-gate skip because ~~it is docs~~ tests", Skip("~~it is docs~~ tests")),
        ("@perf-gate Reanalyze!", Reanalyse()),
        ("@perf-gate! Go", Go()),
        ("Thanks @perf-gate! Skip because it is *docs*", Skip("it is *docs*")),
        ("@perf-gate. Skip.", Skip()),
    ],
)
def test_a_command_is_read(body: str, said: Said) -> None:
    assert parse_comment(body) == said


@pytest.mark.parametrize(
    "body",
    [
        "no mention at all: go",
        "@perf-gate-bot go",
        "me@perf-gate go",
        "@perf-gate/team go",
        "@perf-gate.example go",
        "`@perf-gate go`",
        "```\n@perf-gate go\n```",
        "    @perf-gate go",
        "> @perf-gate go",
        "> quoted\n> @perf-gate go\n\nI disagree with this",
        "# @perf-gate go",
        "@perf-gate go\n===",
        "<!-- @perf-gate go -->",
        "[@perf-gate go](https://example.org)",
        "![@perf-gate go](https://example.org/x.png)",
        "Thanks!\n\n-- \n@perf-gate go",
        "<details>\n@perf-gate go\n</details>",
        "<details><summary>My log</summary>\n\n@perf-gate go\n\n</details>",
        "<details>\n\n@perf-gate go",
        "<code>@perf-gate go</code>",
        "Say <CODE class='x>y'>@perf-gate go</CODE >, then wait.",
        "<kbd>@perf-gate go</kbd>",
        "<blockquote>\n\n@perf-gate go\n\n</blockquote>",
        "<q>@perf-gate go</q>",
        "<pre>\n\n@perf-gate go\n\n</pre>",
        "So: <pre>x\n@perf-gate go</pre>",
        "<s>@perf-gate go</s>",
        "<del>@perf-gate go</del>",
        "<strike>\n\n- @perf-gate go\n\n</strike>",
        "<h1>@perf-gate go</h1>",
        '<h3 align="center">\n\n@perf-gate go\n\n</h3>',
        "<a href='https://example.org'>@perf-gate go</a>",
        "<details><!-- </details> -->\n\n@perf-gate go\n\n</details>",
        "<code>an unclosed one\n\n@perf-gate go",
        "~~@perf-gate go~~",
        "~@perf-gate go~",
        "~~Please, @perf-gate\ngo~~",
        "**~~@perf-gate skip~~**",
        "See https://example.org/?who=@perf-gate",
        "See www.example.org/;@perf-gate/go",
    ],
)
def test_code_quotes_headings_links_html_and_signatures_never_command(body: str) -> None:
    assert parse_comment(body) is None


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("@perf-gate gooo", "did you mean `go`"),
        ("@perf-gate what is this", "`what` is not a command"),
        ("@perf-gate max_gate=4", "`max_gate` is skip, 1, 2 or 3"),
        ("@perf-gate go now", "after `go`"),
        ("@perf-gate stop it", "takes nothing after it"),
        ("@perf-gate go\n@perf-gate stop", "several"),
        ("@perf-gate go @perf-gate skip", "several"),
        ("@perf-gate exclude", "`exclude stage=NAME`"),
        ("@perf-gate exclude download", "`exclude stage=NAME`"),
        ("@perf-gate exclude stage=", "`exclude stage=NAME`"),
        ('@perf-gate exclude stage=""', "`exclude stage=NAME`"),
        ("@perf-gate include stage=...", "no stage has such a name"),
        (f"@perf-gate exclude stage={'x' * 301}", "no stage has such a name"),
        ("@perf-gate exclude stage=`download`", "without backticks"),
        ("@perf-gate exclude stage=my stage", "in quotes"),
        ("@perf-gate exclude stage=a stage=b", "takes one name"),
        ("@perf-gate exclude stage=a\n@perf-gate exclude stage=b", "several"),
        ("@perf-gate reanalyse now", "takes nothing after it"),
        ("@perf-gate exlude stage=download", "did you mean `exclude`"),
        ("@perf-gate @everyone", "not a command"),
        ("@perf-gate! Could you?", "`could` is not a command"),
        ("cc @perf-gate. Skip this file when you review, it is generated", "this is not a command"),
        ("Thanks @perf-gate! skip to the end", "this is not a command"),
        ("@perf-gate [go](https://example.org)", "not a command"),
        ("@perf-gate ~~go~~ skip", "not a command"),
        ("@perf-gate <s>go</s>", "not a command"),
        ("@perf-gate go ~~max_gate=1~~", "after `go`"),
        ("@perf-gate go [max_gate=1](https://example.org)", "after `go`"),
    ],
)
def test_what_is_not_understood_is_told(body: str, part: str) -> None:
    said = parse_comment(body)
    assert isinstance(said, Misunderstood)
    assert part in said.problem
    assert "@" not in said.problem


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("go", Go()),
        (" Go! ", Go()),
        ("max_gate=2", Go("2")),
        ("max_gate=2 because only minhash", Go("2", "only minhash")),
        ("max_gate=2 because `a` and *b*", Go("2", "`a` and *b*")),
        ("max_gate=2 because\nonly minhash", Go("2", "only minhash")),
        ("max_gate=1\n\nonly minhash moved", Go("1", "only minhash moved")),
        ("max_gate=9", Misunderstood("`max_gate` is skip, 1, 2 or 3")),
        ("go\n\n-- \nada\nsent from a phone", Go()),
        ("go ahead", None),
        ("going", None),
        ("lgtm, go", None),
        ("    go", None),
        ("\tmax_gate=1", None),
        ("# go", None),
        ("go\n==", None),
        ("go\n\nthough I wonder", None),
        ("go\n\n> said somebody", None),
        ("> go", None),
        ("- go", None),
        ("`go`", None),
        ("```\ngo\n```", None),
        ("[go](https://example.org)", None),
        ("~~go~~", None),
        ("<s>go</s>", None),
        ("<details>\n\ngo\n\n</details>", None),
        ("# max_gate=1", None),
        ("max_gate=1\n---", None),
        ("max_gate=`1`", None),
        ("max_gate=~~1~~", None),
        ("max_gate=1\n\n> only minhash", None),
        ("max_gate=1\n\n```\nlog\n```", None),
    ],
)
def test_a_bare_answer_is_the_whole_comment(body: str, said: Said | None) -> None:
    assert parse_bare(body) == said


@given(st.text(max_size=300))
def test_any_text_is_read_without_harm(body: str) -> None:
    parse_bare(body)
    if "@perf-gate" not in body.lower():
        assert parse_comment(body) is None
    parse_comment("@perf-gate " + body)


@given(st.text(max_size=400), st.sampled_from(["exclude stage=", 'include stage="', "exclude ", "exclude stage=x "]))
def test_whatever_follows_a_stage_is_one_name_and_one_reason_or_refused(words: str, before: str) -> None:
    said = parse_comment(f"@perf-gate {before}{words}")
    assert said is None or isinstance(said, Exclude | Include | Misunderstood)
    if isinstance(said, Exclude | Include):
        assert 0 < len(said.stage) <= 300
        assert "\n" not in said.stage + said.reason
        assert said.stage == said.stage.strip()


@given(st.text(alphabet="@perf-gate go\n>`#<!-*[]()|", max_size=80))
def test_a_quoted_comment_never_commands(body: str) -> None:
    quoted = "\n".join("> " + line for line in ("@perf-gate go\n" + body).splitlines())
    assert parse_comment(quoted) is None
