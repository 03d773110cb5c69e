"""How much a comment may hold, and what is given up first when it would be more."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot.comment.markdown import length

# GitHub answers 422 above 65,536 characters and holds 262,144 bytes; what it counts is not documented, so stay below.
MOST_CHARACTERS = 65_000
MOST_BYTES = 260_000


class Section(msgspec.Struct, frozen=True):
    """A part of the comment. `cut` is what stands there instead when there is no room.

    A part without `cut` goes only when all that can be cut is, and never when it `stays`.
    """

    body: str
    cut: str | None = None
    stays: bool = False


def fits(text: str) -> bool:
    return length(text) <= MOST_CHARACTERS and len(text.encode("utf-8", "replace")) <= MOST_BYTES


def join(sections: Sequence[Section]) -> str:
    """The sections with a blank line between. From the last on, what may be cut is, then dropped, until all fits."""
    parts = [section for section in sections if section.body]
    bodies = [section.body for section in parts]
    for shorten in (lambda part: part.cut, lambda part: None if part.stays else _DROPPED):
        for index in reversed(range(len(parts))):
            if fits(_joined(bodies)):
                return _joined(bodies)
            shorter = shorten(parts[index])
            if shorter is not None and len(shorter) < len(bodies[index]):
                bodies[index] = shorter
    return _joined(bodies)


_DROPPED = "_(A part of this comment was too long and was cut.)_"


def _joined(bodies: Sequence[str]) -> str:
    return "\n\n".join(body for body in bodies if body)
