"""How fast the bot may go: writes one at a time and spaced, and silence for as long as GitHub asked for it.

"If you are making a large number of POST, PATCH, PUT, or DELETE requests, wait at least one second between each
request" and "continuing to make requests while you are rate limited may result in the banning of your integration"
(GitHub, "Best practices for using the REST API").
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta

from bot.faults import Fault
from bot.github.names import Identity

WRITE_SPACING = timedelta(seconds=1)


class Pace:
    """Kept per identity: each installation has limits of its own. `monotonic` in seconds; `wait` sleeps that long."""

    def __init__(
        self,
        clock: Callable[[], datetime],
        *,
        spacing: timedelta = WRITE_SPACING,
        monotonic: Callable[[], float] = time.monotonic,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._spacing = spacing.total_seconds()
        self._monotonic = monotonic
        self._wait = wait
        self._turns: defaultdict[Identity, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._last_write: dict[Identity, float] = {}
        self._silent_until: dict[Identity, datetime] = {}

    def check(self, who: Identity, doing: str) -> None:
        """Raise the retryable Fault that GitHub would answer, without asking it, while it wants silence."""
        until = self._silent_until.get(who)
        if until is None:
            return
        left = until - self._clock()
        if left > timedelta(0):
            public = f"GitHub asks perf-gate to slow down; it will {doing} later."
            raise Fault(public, f"silent until {until.isoformat()}", retryable=True, retry_after=left)
        del self._silent_until[who]

    @contextmanager
    def heeding(self, who: Identity) -> Iterator[None]:
        """What is raised inside may hold GitHub's wish for silence: from then on `check` raises for `who`."""
        try:
            yield
        except Fault as fault:
            if fault.retry_after is not None:
                self.silence(who, fault.retry_after)
            raise

    def silence(self, who: Identity, wait: timedelta) -> None:
        """GitHub asked this identity to wait. An answer that came late does not shorten an earlier wish."""
        until = self._clock() + wait
        self._silent_until[who] = max(until, self._silent_until.get(who, until))

    @asynccontextmanager
    async def writing(self, who: Identity) -> AsyncIterator[None]:
        """The turn of one write: after the one before it has ended, and the spacing after that."""
        async with self._turns[who]:
            last = self._last_write.get(who)
            if last is not None and (left := last + self._spacing - self._monotonic()) > 0:
                await self._wait(left)
            try:
                yield
            finally:
                self._last_write[who] = self._monotonic()
