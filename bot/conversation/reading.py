"""A comment's Markdown as running text: what a person says in their own, plain words, as GitHub shows it.

Code, quotes, headings, links and what is struck out are not said, whether they are written in Markdown or in HTML; what
is folded into `<details>` mostly came from elsewhere, and is not said either. Of all that a sign remains, so that the
words on both sides of it are never read as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Stands in running text for what is not said.
NO_TEXT = "￼"
_SIGNATURE = re.compile(r"^-- ?$")
# Elements whose text is not said. One that is never closed goes on to the end of the comment, as browsers show it.
_CODE = {"code", "kbd", "pre", "samp", "tt", "var"}
_QUOTES = {"blockquote", "cite", "q"}
_STRUCK_OUT = {"del", "s", "strike"}
_HEADINGS = {f"h{level}" for level in range(1, 9)}
_UNSAID = _CODE | _QUOTES | _STRUCK_OUT | _HEADINGS | {"a", "details", "summary"}
# A comment, or a tag: its attributes may hold a > in quotes.
_HTML = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(?P<end>/?)(?P<name>[a-z][a-z0-9]*)(?=[\s/>])(?:[^>"']|"[^"]*"|'[^']*')*""",
    re.DOTALL | re.IGNORECASE,
)
_INVISIBLE = re.compile(r"<!--|<w?br\b", re.IGNORECASE)
# What a whole comment may be made of to be an answer: paragraphs, and lists after them.
_PLAIN = frozenset({"inline", "paragraph", "bullet_list", "ordered_list", "list_item"})


class _Elements:
    """HTML elements that are open at a place in the comment."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def see(self, html: str) -> None:
        for tag in _HTML.finditer(html):
            name = (tag["name"] or "").lower()
            if name in _UNSAID:
                self._open[name] = max(0, self._open[name] + (-1 if tag["end"] else 1))

    @property
    def unsaid(self) -> bool:
        return self._open.total() > 0


def lines(body: str) -> Iterator[tuple[str, str]]:
    """The lines of running text, each with its Markdown where that is known, in order, up to an e-mail signature."""
    quoted = heading = 0
    elements = _Elements()
    for token in _markdown().parse(body):
        if token.type in ("blockquote_open", "blockquote_close", "alert_open", "alert_close"):
            quoted += token.nesting
        elif token.type in ("heading_open", "heading_close"):
            heading += token.nesting
        elif token.type == "html_block":
            elements.see(token.content)
        elif token.type == "inline":
            said, sources = _said(token.children or [], elements).split("\n"), token.content.split("\n")
            if quoted or heading:
                continue
            for index, line in enumerate(said):
                if _SIGNATURE.match(line):
                    return
                # A code span over two lines is one line of running text: then none is told from the other.
                yield line, sources[index] if len(said) == len(sources) else ""


def whole(body: str) -> tuple[str, str] | None:
    """A comment that is running text throughout, as one line of it, with its Markdown; None where it is more."""
    blocks = [re.sub(r"_(?:open|close)$", "", token.type) for token in _markdown().parse(body)]
    if not blocks or blocks[0] != "paragraph" or not _PLAIN.issuperset(blocks):
        return None
    said = list(lines(body))
    text, sources = (" ".join(" ".join(part[side] for part in said).split()) for side in (0, 1))
    return text, sources if all(source for line, source in said if line.strip()) else ""


def running_text(source: str) -> str:
    """One line of Markdown as running text."""
    (inline,) = _markdown().parseInline(source)
    return _said(inline.children or [], _Elements())


def _said(tokens: list[Token], elements: _Elements) -> str:
    parts, linked, struck = [], 0, 0
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type == "text":
            parts.append("" if linked or struck or elements.unsaid else token.content)
        elif token.type == "html_inline":
            elements.see(token.content)
            parts.append(" " if _INVISIBLE.match(token.content) else f" {NO_TEXT} ")
        elif token.type in ("link_open", "link_close"):
            linked += token.nesting
            parts.append(f" {NO_TEXT} " if token.nesting == 1 else "")
        elif token.type in ("s_open", "s_close"):
            struck += token.nesting
            parts.append(f" {NO_TEXT} " if token.nesting == 1 else "")
        elif token.type in ("code_inline", "image"):
            parts.append(f" {NO_TEXT} ")
    return "".join(parts)


def prepare() -> None:
    """Load what comments are read with, so that the first one need not wait for it."""
    _markdown()


@cache
def _markdown() -> MarkdownIt:
    # Where it is used: a bot that starts need not read anything before it listens.
    from markdown_it import MarkdownIt

    # GitHub strikes out between single tildes too.
    options = {"html": True, "strikethrough_single_tilde": True}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
