"""The simulator's clock: tokens, signed addresses, limits and the delivery log all age by it, never by the wall's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, in UTC."""


class MovableClock:
    """Wall time plus an offset, or (with `start`) a time that stands still until it is moved."""

    def __init__(self, start: datetime | None = None) -> None:
        self._start = start
        self._offset = timedelta()

    def now(self) -> datetime:
        return (self._start or datetime.now(UTC)) + self._offset

    def advance(self, by: timedelta) -> None:
        self._offset += by


def stamp(moment: datetime) -> str:
    """GitHub's spelling of a moment: whole seconds, `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else stamp(moment)


def parse_stamp(text: str) -> datetime:
    """Read an ISO 8601 moment; one without an offset is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
