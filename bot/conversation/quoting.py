"""Names that came from outside, in what the bot says: shown, and powerless."""

from __future__ import annotations

from collections.abc import Sequence


def quoted(name: str, limit: int = 60) -> str:
    """A name out of a report or a comment as a code span, in which nothing of it acts."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in name).split()).replace("`", "'")
    return f"`{flat if len(flat) <= limit else f'{flat[: limit - 1]}…'}`" if flat else "`—`"


def quoted_list(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(map(quoted, names[:most])) + more) if names else "nothing"
