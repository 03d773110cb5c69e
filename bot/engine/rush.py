"""A rush: deliveries come faster than they are handled. Then accepting goes before handling, for a while.

Handling one takes several times as long as accepting it, and whoever delivers gives up after some seconds, while what
was accepted is on disk and waits well. Handling goes on slowly, so that effects and timers do; a rush that lasts is no
rush: then both go side by side. All times are the process's own, as the rush is a matter of the machine's speed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

MOST_AT_ONCE = 8
"""Items one transaction consumes: a backlog shares fsyncs, and an `accept` behind it waits for some milliseconds, as an
item takes about one. More at once save fsyncs and make those that are answered meanwhile wait longer."""

WINDOW = 0.05
MANY = 10
"""Deliveries in a window, 200 in a second: as many as are accepted and handled with a quarter of a core."""

PAUSE = 0.025
"""Between two items in a rush: they take some percent of the time, and nobody waits for more than one of them."""

CROWD = 50
"""Deliveries in a window, 1,000 in a second: accepting them takes all there is, and each item holds many up."""

LONG_PAUSE = 2.0
"""Between two items then: each of them, and the effects that follow it, hold up all that is being accepted."""

LONGEST = 10.0
"""Seconds. A backlog of more is no burst any more, and people wait for answers."""


class Rush:
    def __init__(
        self,
        seconds: Callable[[], float] = time.monotonic,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._seconds = seconds
        self._wait = wait
        self._window = seconds()
        self._count = 0
        self._before = 0
        self._since: float | None = None

    def came(self) -> None:
        """A delivery did."""
        self._turn(self._seconds())
        self._count += 1

    @property
    def on(self) -> bool:
        now = self._seconds()
        self._turn(now)
        if self._most < MANY:
            return False
        if self._since is None:
            self._since = now
        return now - self._since < LONGEST

    async def give_way(self) -> int:
        """Let those pass that are to be accepted, if there is a rush; how many items to handle then."""
        if not self.on:
            return MOST_AT_ONCE
        until = self._seconds() + LONG_PAUSE
        await self._wait(PAUSE)
        # In small steps: who speaks at the end of a crowd waits for no more than one of them.
        while self._most >= CROWD and self._seconds() < until and self.on:
            await self._wait(PAUSE)
        return 1 if self.on else MOST_AT_ONCE

    @property
    def _most(self) -> int:
        """In this window and in the one just before, which still tells of a rush."""
        return max(self._count, self._before)

    def _turn(self, now: float) -> None:
        """Begin a window where the last is over."""
        passed = now - self._window
        if passed >= WINDOW:
            self._before = self._count if passed < 2 * WINDOW else 0
            self._window, self._count = now, 0
            if self._before < MANY:
                self._since = None
