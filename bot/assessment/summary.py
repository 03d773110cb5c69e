"""One line a file, as a reviewer would write it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.assessment.definitions import Defined
from bot.assessment.evidence.model import Evidence

MOST_NAMES = 4
_VERBS = ("changes", "adds", "removes", "moves", "moves in", "moves out")


def of_evidence(evidence: Sequence[Evidence]) -> str:
    """The weightiest finding and what it does; how many more there are."""
    first = evidence[0]
    more = f" (and {len(evidence) - 1} more)" if len(evidence) > 1 else ""
    return f"{first.what}: {first.why}{more}"


def of_definitions(told: Sequence[tuple[str, Defined]]) -> str:
    """Such as "changes Writer.flush; adds _encode: the same calls, conditions and values"."""
    parts = []
    for verb in _VERBS:
        names = list(dict.fromkeys(item.name for said, item in told if said == verb))
        if names:
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            parts.append(f"{verb} {', '.join(names[:MOST_NAMES])}{more}")
    if not parts:
        return "imports only"
    return "; ".join(parts) + "; nothing that runs often, sizes a buffer or sets a rule differs"
