"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Idling(Protocol):
    async def idle(self) -> None: ...

    async def next_due(self) -> datetime | None: ...


class ManualClock:
    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._waiting: dict[asyncio.Event, datetime] = {}

    def now(self) -> datetime:
        return self._now

    async def wait(self, wake: asyncio.Event, until: datetime | None) -> None:
        if until is None:
            await wake.wait()
            return
        come = asyncio.Event()
        if until <= self._now:
            return
        self._waiting[come] = until
        sides = [asyncio.ensure_future(event.wait()) for event in (wake, come)]
        try:
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._waiting[come]
            for side in sides:
                side.cancel()

    def advance(self, by: timedelta) -> None:
        """Move at once; whoever waited for a moment on the way wakes at the new time."""
        self.move_to(self._now + by)

    def move_to(self, moment: datetime) -> None:
        if moment < self._now:
            raise ValueError("time does not go back")
        self._now = moment
        for come, until in self._waiting.items():
            if until <= moment:
                come.set()

    async def advance_to_next(self, engine: Idling) -> bool:
        """Let the engine come to rest, move to when the next thing is due, let it come to rest again.

        False, and time stands, where nothing waits.
        """
        await engine.idle()
        due = await engine.next_due()
        if due is None:
            return False
        self.move_to(due)
        await engine.idle()
        return True

    async def pass_time(self, engine: Idling, by: timedelta) -> None:
        """Live through `by`: everything that comes due on the way happens at its own time."""
        end = self._now + by
        await engine.idle()
        while (due := await engine.next_due()) is not None and due <= end:
            self.move_to(due)
            await engine.idle()
        self.move_to(end)
        await engine.idle()
