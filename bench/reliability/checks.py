"""What must hold after any death: nothing lost, nothing twice, everything said once, nothing left behind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from difflib import unified_diff

from bench.reliability.trial import Told

# The ladder's first look at a ferry and its later ones, as the trials' configuration has them, by what sets the timer.
INTERVALS = {"Submitted": timedelta(minutes=3), "Watched": timedelta(minutes=10)}


def doubled(told: Told) -> int:
    """Ferries that were submitted more than once."""
    return sum(count - 1 for count in told.submissions)


def problems(told: Told, calm: Told) -> Iterator[str]:
    """Where a trial's end differs from the calm run's, a sentence each; none where all is well."""
    if told.submissions != calm.submissions:
        yield f"submissions {told.submissions}, calm {calm.submissions}"
    if bool(told.stops) != bool(calm.stops):
        yield f"the ferry was stopped {told.stops} times, calm {calm.stops}"
    if told.canonical != 1:
        yield f"{told.canonical} canonical comments"
    if told.comments != calm.comments:
        sides = [sorted((one.comments - other.comments).elements()) for one, other in ((calm, told), (told, calm))]
        before, after = ("\n".join(side).splitlines() for side in sides)
        yield "other comments:\n" + "\n".join(unified_diff(before, after, "calm", "killed", lineterm="", n=1))
    if told.reactions != calm.reactions:
        yield f"reactions {told.reactions}, calm {calm.reactions}"
    if told.inside.dead or told.inside.left or told.trees:
        yield f"{told.inside.dead} dead, {told.inside.left} left open, trees {told.trees}"
    yield from told.late
    yield from _early(told)


def _early(told: Told) -> Iterator[str]:
    """No deadline comes before its time, whoever set it and whoever waited for it."""
    due = None
    for moved in told.inside.log:
        if moved.cause.startswith("timer:check:") and due is not None and moved.at < due:
            yield f"a look at {moved.at} was due at {due}"
        if moved.kind in INTERVALS:
            due = moved.at + INTERVALS[moved.kind]
