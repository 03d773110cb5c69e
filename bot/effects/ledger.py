"""GitHub's pace in the engine's store: what GitHub asked for holds after a restart, and for every process."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from bot.engine.port import StoreError
from bot.faults import Fault


class Moments(Protocol):
    """What is asked of the engine."""

    async def remember(self, name: str, at: datetime, *, not_after: datetime | None = None) -> None: ...
    async def remembered(self, name: str) -> datetime | None: ...
    async def take_turn(self, name: str, every: timedelta) -> bool: ...


class PaceLedger:
    """Raises a retryable Fault while the store is away: without it nobody knows whether GitHub may be asked."""

    def __init__(self, engine: Moments) -> None:
        self._engine = engine

    async def remember(self, name: str, at: datetime, *, not_after: datetime | None = None) -> None:
        try:
            await self._engine.remember(name, at, not_after=not_after)
        except StoreError as error:
            raise _away(error) from error

    async def remembered(self, name: str) -> datetime | None:
        try:
            return await self._engine.remembered(name)
        except StoreError as error:
            raise _away(error) from error

    async def take_turn(self, name: str, every: timedelta) -> bool:
        try:
            return await self._engine.take_turn(name, every)
        except StoreError as error:
            raise _away(error) from error


def _away(error: StoreError) -> Fault:
    return Fault("perf-gate's database does not answer.", str(error), retryable=True)
