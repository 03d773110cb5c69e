"""A line for a terminal, in which nothing that somebody wrote in a comment or a log can act."""

from __future__ import annotations


def plain(line: str) -> str:
    """Without control characters: they move the cursor, set a window's title, forge lines and turn words around."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
