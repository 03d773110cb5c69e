"""A comment's Markdown as safe HTML: GitHub's tables and strike-through, the few tags it lets through, no comments."""

from __future__ import annotations

import html
import re
from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_TAGS = ("details", "summary", "sub", "sup", "kbd", "br")
_VOID = {"br"}
_PIECE = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?P<close>/?)(?P<tag>{'|'.join(_TAGS)})(?P<open>\s+open)?(?:\s[^<>]*)?\s*/?>",
    re.DOTALL | re.IGNORECASE,
)


def _parser() -> MarkdownIt:
    # In comments GitHub keeps line ends, which it does not in files.
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])

    def raw(tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        return allowed_html(tokens[index].content)

    parser.renderer.rules["html_block"] = raw  # type: ignore[attr-defined]
    parser.renderer.rules["html_inline"] = raw  # type: ignore[attr-defined]
    return parser


_PARSER = _parser()


def allowed_html(source: str) -> str:
    """The source with allowed tags kept bare, HTML comments gone and everything else escaped."""
    parts, position = [], 0
    for piece in _PIECE.finditer(source):
        parts.append(html.escape(source[position : piece.start()]))
        position = piece.end()
        if piece["tag"]:
            attribute = " open" if piece["open"] and not piece["close"] else ""
            parts.append(f"<{piece['close']}{piece['tag'].lower()}{attribute}>")
    return "".join([*parts, html.escape(source[position:])])


def rendered(markdown: str) -> str:
    """HTML that cannot reach beyond its own box: tags left open are closed at its end."""
    tokens, env = _PARSER.parse(markdown), {}  # type: ignore[var-annotated]
    for token in tokens:
        # The page's policy lets no inline style through; the older attribute says the same.
        if style := token.attrs.pop("style", None):
            token.attrs["align"] = str(style).removeprefix("text-align:")
    result: str = _PARSER.renderer.render(tokens, _PARSER.options, env)
    for tag in reversed(_TAGS):
        if tag not in _VOID:
            left_open = len(re.findall(rf"<{tag}(?: open)?>", result)) - result.count(f"</{tag}>")
            result += f"</{tag}>" * max(0, left_open)
    return result
