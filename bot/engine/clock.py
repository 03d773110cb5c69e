"""The clock of a running process. Tests move one of their own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

# The event loop counts monotonic time, due times are wall-clock: look again this often, so that a stepped or suspended
# machine is at most this late.
LOOK_AGAIN = timedelta(minutes=1)


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def wait(self, wake: asyncio.Event, until: datetime | None) -> None:
        while not wake.is_set():
            left = None if until is None else until - self.now()
            if left is not None and left <= timedelta(0):
                return
            try:
                async with asyncio.timeout(None if left is None else min(left, LOOK_AGAIN).total_seconds()):
                    await wake.wait()
            except TimeoutError:
                continue
