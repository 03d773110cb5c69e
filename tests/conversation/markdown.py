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
    lambda mention, words: f"<https://example.org/{mention}>",
    lambda mention, words: f"@perf-gate-bot {words}",
    lambda mention, words: f"me@perf-gate {words}",
    lambda mention, words: f"@perf-gates {words}",
    lambda mention, words: f"@perf-gate/team {words}",
    lambda mention, words: f"perf-gate {words}",
)
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
