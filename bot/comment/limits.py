"""How much a comment may hold, and what is given up first when it would be more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.comment.markdown import length

# GitHub answers 422 above 65,536 characters and holds 262,144 bytes; what it counts is not documented, so stay below.
MOST_CHARACTERS = 65_000
MOST_BYTES = 260_000


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the comment. `cut` is what stands there instead when there is no room; None: the part must stay."""

    body: str
    cut: str | None = None


def fits(text: str) -> bool:
    return length(text) <= MOST_CHARACTERS and len(text.encode("utf-8", "replace")) <= MOST_BYTES


def join(sections: Sequence[Section]) -> str:
    """The sections with a blank line between; from the last on, those that may be cut are, until all fits."""
    parts = [section for section in sections if section.body]
    bodies = [section.body for section in parts]
    for index in reversed(range(len(parts))):
        if fits("\n\n".join(bodies)):
            break
        cut = parts[index].cut
        if cut is not None:
            bodies[index] = cut
    whole = "\n\n".join(body for body in bodies if body)
    # Every table has a budget of its own, so this is for what nobody foresaw: better cut than not said at all.
    while not fits(whole):
        whole = whole[: len(whole) * 9 // 10] + "\n\n… (cut)"
    return whole
