"""Times are stored as whole microseconds since 1970, UTC: exact, ordered, and compact."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


def stored(moment: datetime) -> int:
    """Raises TypeError for a naive datetime."""
    return (moment - _EPOCH) // _TICK


def loaded(ticks: int) -> datetime:
    return _EPOCH + ticks * _TICK
