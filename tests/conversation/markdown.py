"""Comments as people write them, made up: each knows by construction what it says to the bot, without any parser.

A comment is blocks with blank lines between them. Live blocks address the bot in running text; dead ones hold the same
words where they must never count: code, quotes, headings, links, HTML, other people's names, below a signature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from bot.conversation.commands import (
    Answer,
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
)

# What is written after the mention → what it means. `Misunderstood` stands for any refusal.
REFUSED = Misunderstood("")
MEANT: dict[str, Said] = {
    "": Assess(),
    "assess": Assess(),
    "help": Help(),
    "go": Go(),
    "Go!": Go(),
    "go max_gate=2": Go("2"),
    "max_gate=1 because only minhash": Go("1", "only minhash"),
    "max_gate=skip": Go("skip"),
    "skip — docs only": Skip("docs only"),
    "continue": Continue(),
    "retry": Retry(),
    "stop.": Stop(),
    "status": Status(),
    "exclude stage=normalize because noisy": Exclude("normalize", "noisy"),
    "include stage=normalize": Include("normalize"),
    "reanalyse": Reanalyse(),
    "answer lib/a/__init__.py cpu=no because cold": Answer("lib/a/__init__.py", "cpu", False, "cold"),
    "answer `lib/a/b_c.py` trivial=yes": Answer("lib/a/b_c.py", "trivial", True),
    "answer lib/a.py speed=no": REFUSED,
    "gooo": REFUSED,
    "please be so kind": REFUSED,
    "max_gate=9": REFUSED,
    "stop it": REFUSED,
}


@dataclass(frozen=True)
class Written:
    """A comment's Markdown, and what it says to the bot: None where it does not address it."""

    body: str
    said: Said | None


MENTIONS = st.sampled_from(["@perf-gate", "@Perf-Gate", "@PERF-GATE", "@perf-gate[bot]", "@perf-gate,", "@perf-gate:"])
WORDS = st.sampled_from(sorted(MEANT))

_LIVE: tuple[Callable[[str, str], str], ...] = (
    lambda mention, words: f"{mention} {words}",
    lambda mention, words: f"Thanks, this is nice. {mention} {words}",
    lambda mention, words: f"One line,\nand another:\n{mention} {words}",
    lambda mention, words: f"- {mention} {words}",
    lambda mention, words: f"1. {mention} {words}",
    lambda mention, words: f"**{f'{mention} {words}'.strip()}**",
    lambda mention, words: f"| what |\n|---|\n| {mention} {words} |",
    lambda mention, words: "Hm…\\" + f"\n_{f'{mention} {words}'.strip()}_",
)
_DEAD: tuple[Callable[[str, str], str], ...] = (
    lambda mention, words: f"`{mention} {words}`",
    lambda mention, words: f"Say ``{mention} {words}`` to run it.",
    lambda mention, words: f"```\n{mention} {words}\n```",
    lambda mention, words: f"~~~suggestion\n{mention} {words}\n~~~",
    lambda mention, words: f"- a list\n\n  ```\n  {mention} {words}\n  ```",
    lambda mention, words: f"So:\n\n    {mention} {words}",
    lambda mention, words: f"> {mention} {words}",
    lambda mention, words: f"> > {mention} {words}\n> said somebody",
    lambda mention, words: f"> quoted\n{mention} {words}",
    lambda mention, words: f"- > {mention} {words}",
    lambda mention, words: f"# {mention} {words}",
    lambda mention, words: f"{mention} {words}\n===",
    lambda mention, words: f"[{mention} {words}](https://example.org)",
    lambda mention, words: f"![{mention} {words}](https://example.org/x.png)",
    lambda mention, words: f"<!-- {mention} {words} -->",
    lambda mention, words: f"<details>\n{mention} {words}\n</details>",
    lambda mention, words: f"<pre>\n{mention} {words}\n\n{mention} {words}\n</pre>",
    lambda mention, words: f"<details>\n\n{mention} {words}\n\n</details>",
    lambda mention, words: f"<details><summary>{mention} {words}</summary>\n\n- {mention} {words}\n\n</details>",
    lambda mention, words: f"<blockquote>\n\n{mention} {words}\n\n</blockquote>",
    lambda mention, words: f"Say <code>{mention} {words}</code> to run it.",
    lambda mention, words: f"<kbd>{mention} {words}</kbd>",
    lambda mention, words: f"<S>{mention} {words}</S>",
    lambda mention, words: f"No <del>{mention}\n{words}</del>",
    lambda mention, words: f'<h3 align="center">\n\n{mention} {words}\n\n</h3>',
    lambda mention, words: f'<a href="https://example.org">{mention} {words}</a>',
    lambda mention, words: f"~~{f'{mention} {words}'.strip()}~~",
    lambda mention, words: f"Not ~{f'{mention} {words}'.strip()}~, please.",
    lambda mention, words: f"> [!NOTE]\n> {mention} {words}",
    lambda mention, words: f"<https://example.org/{mention}>",
    lambda mention, words: f"https://example.org/?who={mention}",
    lambda mention, words: f"@perf-gate-bot {words}",
    lambda mention, words: f"me@perf-gate {words}",
    lambda mention, words: f"@perf-gates {words}",
    lambda mention, words: f"@perf-gate/team {words}",
    lambda mention, words: f"perf-gate {words}",
)
# A whole comment that answers the bot's question without naming it → what it means, and how it must not be written.
_ANSWERS: dict[str, Said] = {
    "go": Go(),
    "GO!": Go(),
    " go. ": Go(),
    "go\n\n-- \nada": Go(),
    "max_gate=2": Go("2"),
    "max_gate=skip": Go("skip"),
    "max-gate = 1 — only `minhash`": Go("1", "only `minhash`"),
    "max_gate=1 because\nonly minhash": Go("1", "only minhash"),
    "max_gate=3\n\nit spills": Go("3", "it spills"),
}
_NO_ANSWER: tuple[Callable[[str], str], ...] = (
    lambda words: f"    {words}",
    lambda words: f"\t{words}",
    lambda words: f"# {words}",
    lambda words: f"{words}\n---",
    lambda words: f"> {words}",
    lambda words: f"- {words}",
    lambda words: f"`{words}`",
    lambda words: f"```\n{words}\n```",
    lambda words: f"~~{words}~~",
    lambda words: f"[{words}](https://example.org)",
    lambda words: f"<!-- {words} -->",
    lambda words: f"<s>{words}</s>",
    lambda words: f"<details>\n\n{words}\n\n</details>",
    lambda words: f"<pre>\n\n{words}\n\n</pre>",
    lambda words: f"LGTM, {words}",
    lambda words: f"{words}\n\n> it was said",
    lambda words: f"{words}\n\n```\nlog\n```",
)


@st.composite
def bare_comments(draw: st.DrawFn) -> Written:
    """An answer as a whole comment, or the same words in a way that is none."""
    words = draw(st.sampled_from(sorted(_ANSWERS)))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    if draw(st.booleans()):
        return Written(words.replace("\n", newline), _ANSWERS[words])
    one_line = " ".join(words.split())
    return Written(draw(st.sampled_from(_NO_ANSWER))(one_line).replace("\n", newline), None)


# Prose without anything that opens a block, and without an @.
_PROSE = st.text(
    alphabet=st.characters(
        blacklist_categories=("Cs", "Cc", "Zl", "Zp"), blacklist_characters="@<`~#>=-+*|[]_&\\:1234567890\t "
    ),
    max_size=30,
).map(lambda text: f"Well, {text}")
# Signatures end what is read, so they come last. A blank line must stand before.
_SIGNATURES = st.sampled_from(["", "", "-- \nada\n@perf-gate go", "-- \n@perf-gate stop"])


@st.composite
def comments(draw: st.DrawFn) -> Written:
    """A comment of one to six blocks, of which any number address the bot."""
    blocks, meant = [], []
    for kind in draw(st.lists(st.sampled_from(["prose", "dead", "dead", "live"]), min_size=1, max_size=6)):
        mention, words = draw(MENTIONS), draw(WORDS)
        if kind == "prose":
            blocks.append(draw(_PROSE))
        elif kind == "dead":
            blocks.append(draw(st.sampled_from(_DEAD))(mention, words))
        else:
            blocks.append(draw(st.sampled_from(_LIVE))(mention, words))
            meant.append(MEANT[words])
    if signature := draw(_SIGNATURES):
        blocks.append(signature)
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return Written("\n\n".join(blocks).replace("\n", newline), _said(meant))


def _said(meant: list[Said]) -> Said | None:
    if not meant:
        return None
    # The same thing said twice is one command; two that are not understood need not be understood alike.
    return meant[0] if len(set(meant)) == 1 else REFUSED


# Anything at all, with the mention and Markdown's own signs made likely.
WILD = st.lists(
    st.one_of(
        st.sampled_from(
            ["@perf-gate ", "go", "skip", "stop", "\n", "\n\n", "`", "```", "> ", "# ", "<!--", "-->", "    "]
        ),
        st.sampled_from(
            ["- ", "1. ", "[", "](x)", "|", "---", "**", "_", "\\", "&#64;", "<pre>", "max_gate=", "because "]
        ),
        st.text(max_size=8),
    ),
    max_size=24,
).map("".join)
