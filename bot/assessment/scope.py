"""Which changed files the gate is about: glob rules of the repository's `[scope]` table.

A pattern matches a whole repository path: `*` and `?` stay inside one folder, `**` crosses folders (`**/x` also matches
`x`, `x/**` matches everything below `x`). Every other character stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from posixpath import basename
from typing import Literal

import msgspec

from bot.config.schema import Scope

_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?")
_REGEX = {"**/": "(?:.*/)?", "/**": "/.+", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Placement(msgspec.Struct, frozen=True):
    """Where one path stands. `reason` is empty for a gated path."""

    kind: Literal["in", "flagged", "out"]
    reason: str = ""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression for `fullmatch`. `.` means any character: file names may hold line breaks."""
    parts, last = [], 0
    for token in _TOKEN.finditer(pattern):
        parts += [re.escape(pattern[last : token.start()]), _REGEX[token.group()]]
        last = token.end()
    return re.compile("".join(parts) + re.escape(pattern[last:]), re.DOTALL)


def first_match(path: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that matches the whole path."""
    return next((pattern for pattern in patterns if compile_pattern(pattern).fullmatch(path)), None)


def place(path: str, scope: Scope) -> Placement:
    """Exclude wins over include; flag wins over exclude, because a flagged file is always put to the reviewer; doubt
    speaks last."""
    excluded = first_match(path, scope.exclude)
    if excluded is None and first_match(path, scope.include):
        return Placement("in")
    if flagged := first_match(path, scope.flag):
        return Placement("flagged", f"not gated by itself (scope rule {flagged}): the reviewer decides")
    if excluded is None and (doubtful := first_match(path, scope.doubt)):
        return Placement("flagged", f"may reach what the gate measures (scope rule {doubtful}): the reviewer decides")
    if excluded is None:
        return Placement("out", "not part of what the gate measures: no include rule of its scope matches")
    return Placement("out", f"{_kind(excluded)} (scope rule {excluded})")


def gated(path: str, scope: Scope) -> bool:
    """Is this path the gate's to judge? Only such files' contents are worth reading."""
    return place(path, scope).kind == "in"


def _kind(pattern: str) -> str:
    if pattern.endswith((".md", ".rst")) or "docs" in pattern.split("/"):
        return "documentation"
    return "tests" if "tests" in pattern.split("/") or "test" in basename(pattern) else "excluded from this gate"
