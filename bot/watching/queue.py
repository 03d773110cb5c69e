"""Who waits for a tier's one slot behind whom, and when it may be free."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

# A start that moved by less is no news.
_SLACK = timedelta(minutes=10)


class Ahead(msgspec.Struct, frozen=True):
    """A ferry that comes first: `number` of its pull request, 0 where that is of another repository.

    `submitted_at` None: it waits too. `end` is when it may end, None where nobody knows; `takes` are the seconds a
    ferry of its tier usually takes, 0 where nobody knows.
    """

    number: int
    submitted_at: datetime | None = None
    end: datetime | None = None
    takes: float = 0.0


class Queue(msgspec.Struct, frozen=True):
    """`ahead` in their order, the slot's holder first; `starts_at` is when our turn may come, None where unknown."""

    ahead: tuple[Ahead, ...] = ()
    starts_at: datetime | None = None

    @property
    def position(self) -> int:
        """1: the next one."""
        return max(1, len(self.ahead))

    def differs(self, told: Queue | None) -> bool:
        """Whether somebody who read `told` would want to know."""
        if told is None or [one.number for one in self.ahead] != [one.number for one in told.ahead]:
            return True
        if self.starts_at is None or told.starts_at is None:
            return self.starts_at is not told.starts_at
        return abs(self.starts_at - told.starts_at) > _SLACK


def queue(ahead: Sequence[Ahead], now: datetime) -> Queue:
    """Each takes its usual time after the one before it. When a holder that is late will be done, nobody knows."""
    at: datetime | None = now
    for one in ahead:
        if at is None:
            break
        if one.end is not None:
            at = one.end if one.end > now else None
        else:
            at = at + timedelta(seconds=one.takes) if one.takes else None
    return Queue(tuple(ahead), at if ahead else None)
