"""What this process has done, counted as it happens: plain numbers, so that counting costs nothing.

A process that starts counts from zero, as Prometheus expects of counters.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from datetime import datetime

import msgspec

OUTCOMES = ("done", "retried", "given up", "revoked", "interrupted")
"""How an attempt at an effect ended. `interrupted`: by its deadline, or with the process."""

BUCKETS = (0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 60.0, 300.0, 1800.0)
"""Seconds to a first reaction. Beyond 25 s people think that nobody listens (Prow counts there, too)."""

_MOST_REACTIONS = 1000


class Reaction(msgspec.Struct, frozen=True):
    """A comment got its first answer: which transition asked for it, and when it was there."""

    key: str
    asked_at: datetime
    done_at: datetime


class Tally(msgspec.Struct):
    """`effects` by kind and outcome, `verdicts` by gate and verdict, `deliveries` by what became of them.

    `reactions` wait until somebody asks how long they took, the latest thousand of them.
    """

    effects: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    verdicts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    deliveries: Counter[str] = msgspec.field(default_factory=Counter)
    reactions: deque[Reaction] = msgspec.field(default_factory=lambda: deque(maxlen=_MOST_REACTIONS))
    waits: Counter[float] = msgspec.field(default_factory=Counter)
    waited: float = 0.0

    def take_reactions(self) -> tuple[Reaction, ...]:
        """Those that wait, for one who asks: of two who ask at once only one gets them."""
        taken = tuple(self.reactions)
        self.reactions.clear()
        return taken

    def put_back(self, taken: Sequence[Reaction]) -> None:
        """What was taken and could not be looked up waits again, before what came since."""
        self.reactions.extendleft(reversed(taken[: _MOST_REACTIONS - len(self.reactions)]))

    def observe(self, seconds: Sequence[float]) -> None:
        """So long first reactions took."""
        for one in seconds:
            self.waits[next((bound for bound in BUCKETS if one <= bound), float("inf"))] += 1
            self.waited += one
