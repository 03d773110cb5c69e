"""A comment as a reader of GitHub sees it: Markdown with tables, HTML let through, and what in it acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# What GitHub makes a link or a person of in running text.
_MENTION = re.compile(r"@[A-Za-z0-9][\w/-]*")
_LINKS = re.compile(r"https?://|ftp://|(?<![a-z0-9])www\.[a-z]|#\d|(?<!@)\bgh-\d|[\w.+-]+@[\w-]+\.\w", re.IGNORECASE)
_TAG = re.compile(r"<(/?[A-Za-z][^\s>/]*)([^>]*)>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")


@dataclass
class Page:
    """`tags` are raw HTML tags with attributes, `hidden` HTML comments, `rows` (header cells, row cells) of
    tables, `in_place` the source lines of tables and fences."""

    source: str
    mentions: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: int = 0
    tags: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    rows: list[tuple[int, int]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    text: str = ""

    in_place: set[int] = field(default_factory=set)

    @property
    def loose_pipes(self) -> list[str]:
        """Lines that were meant as rows of a table and are none."""
        lines = enumerate(self.source.split("\n"))
        return [line for number, line in lines if line.startswith("|") and number not in self.in_place]


def read(source: str) -> Page:
    page = Page(source)
    lines, width, heading = source.split("\n"), 0, False
    for token in _MARKDOWN.parse(source):
        if token.type in ("table_open", "fence") and token.map:
            page.in_place |= set(range(*token.map))
        if token.type == "tr_open" and token.map:
            cells = len(_CELL.findall(lines[token.map[0]])) - 1
            width = cells if token.level and _in_head(lines, token.map[0]) else width
            page.rows.append((width, cells))
        elif token.type in ("heading_open", "heading_close"):
            heading = token.nesting == 1
        elif token.type == "html_block":
            _html(page, token.content)
            _running(page, unescape(_TAG.sub("", _COMMENT.sub("", token.content))))
        elif token.type in ("fence", "code_block"):
            page.code.append(token.content)
        elif token.type == "inline":
            _inline(page, token.children or [])
            if heading:
                page.headings.append(token.content)
    return page


def _in_head(lines: list[str], row: int) -> bool:
    return row + 1 < len(lines) and re.fullmatch(r"\|(---\|)+", lines[row + 1]) is not None


def _inline(page: Page, tokens: list[Token]) -> None:
    linked = False
    for token in tokens:
        if token.type == "link_open":
            page.links.append(str(token.attrs.get("href")))
        linked = token.type == "link_open" or (linked and token.type != "link_close")
        if token.type == "image":
            page.images += 1
        elif token.type == "html_inline":
            _html(page, token.content)
        elif token.type == "code_inline":
            page.code.append(token.content)
            page.text += "\N{OBJECT REPLACEMENT CHARACTER}"
        elif token.type == "text" and not linked:
            _running(page, token.content)
        elif token.type in ("softbreak", "hardbreak"):
            page.text += "\n"
    page.text += "\n"


def _running(page: Page, text: str) -> None:
    page.mentions += _MENTION.findall(text)
    page.references += _LINKS.findall(text)
    page.text += text


def _html(page: Page, content: str) -> None:
    page.hidden += _COMMENT.findall(content)
    page.tags += [name + rest for name, rest in _TAG.findall(_COMMENT.sub("", content))]


def own_lines(source: str) -> Iterator[str]:
    """Lines that are one HTML comment and nothing else: where the bot looks for its markers."""
    for line in source.split("\n"):
        if re.fullmatch(r"\s*<!--.*-->\s*", line):
            yield line.strip()
