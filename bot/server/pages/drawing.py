"""Templates to pages. jinja2, markdown-it and nh3 are imported by the first page and not by the start of serve."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.server.pages import words

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
STATIC = {"style.css": "text/css", "live.js": "text/javascript", "mark.svg": "image/svg+xml"}
"""All that a page loads beside itself."""
# What GitHub lets through of a comment, and less: no picture, no address but of the web, nothing that runs.
_TEXT = ("a", "br", "code", "del", "em", "kbd", "s", "strong", "sub", "sup")
_BLOCKS = ("blockquote", "details", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "summary", "ul")
_TABLES = ("table", "tbody", "td", "th", "thead", "tr")
_TAGS = frozenset((*_TEXT, *_BLOCKS, *_TABLES))


class Drawing:
    """`base` stands before every path: where a proxy serves the pages below a folder."""

    def __init__(self, base: str, github_url: str) -> None:
        self._base = base
        self._github_url = github_url.rstrip("/")
        self.files = {name: (_HERE / "static" / name).read_bytes() for name in STATIC}
        self.version = hashlib.sha256(b"".join(self.files.values())).hexdigest()[:12]

    def page(self, template: str, **values: Any) -> str:
        """A whole page; every value in it is escaped."""
        return self._environment.get_template(template).render(values)

    def main(self, template: str, **values: Any) -> str:
        """What stands in a page's <main>, for those who have the rest."""
        made = self._environment.get_template(template)
        return "".join(made.blocks["main"](made.new_context(values)))

    def comment(self, markdown: str) -> str:
        """A comment's Markdown as HTML in which nothing acts, whatever it quotes."""
        import nh3
        from markdown_it import MarkdownIt

        made = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])

        def fence(renderer: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
            if tokens[index].info.strip() == "mermaid":
                return "<p><em>Here GitHub draws a chart; the same history is on the tier's page.</em></p>"
            return str(type(renderer).fence(renderer, tokens, index, options, env))

        made.add_render_rule("fence", fence)
        html: str = made.render(markdown)
        return nh3.clean(
            html,
            tags=set(_TAGS),
            attributes={"a": {"href"}, "details": {"open"}},
            url_schemes={"http", "https"},
            link_rel="noopener noreferrer nofollow",
            strip_comments=True,
        )

    @cached_property
    def _environment(self) -> Environment:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup

        made = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        made.globals |= {"base": self._base, "github": self._github_url, "version": self.version}
        for name in ("tone", "mark", "label", "span", "ago", "until", "moment", "clock", "day", "iso", "link"):
            made.filters[name] = getattr(words, name)
        made.filters["comment"] = lambda markdown: Markup(self.comment(markdown))  # noqa: S704  # cleaned
        return made
