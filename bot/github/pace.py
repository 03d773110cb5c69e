"""How fast the bot may go: writes one at a time and spaced, and silence for as long as GitHub asked for it.

"If you are making a large number of POST, PATCH, PUT, or DELETE requests, wait at least one second between each
request" and "continuing to make requests while you are rate limited may result in the banning of your integration"
(GitHub, "Best practices for using the REST API").
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Protocol

from bot.faults import Fault
from bot.github.names import Identity
from bot.github.turns import Turns

WRITE_SPACING = timedelta(seconds=1)
LONGEST_SILENCE = timedelta(hours=1)
"""GitHub's windows are an hour long: who is to be silent for longer was told so by a clock that went wrong."""


class Ledger(Protocol):
    """Where moments outlive the process; calls raise Fault."""

    async def remember(self, name: str, at: datetime, *, not_after: datetime | None = None) -> None:
        """The later moment stays, but none after `not_after`."""

    async def remembered(self, name: str) -> datetime | None: ...
    async def take_turn(self, name: str, every: timedelta) -> bool:
        """False where somebody took it, or something was remembered, within `every`; of all who ask, one hears True."""


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
        self._turns: defaultdict[Identity, Turns] = defaultdict(Turns)
        self._last_write: dict[Identity, float] = {}
        self._silent_until: dict[Identity, datetime] = {}
        self._ledger: Ledger | None = None
        self._shared = False
        self._recalled: set[Identity] = set()

    def keep_in(self, ledger: Ledger, *, shared: bool) -> None:
        """From now on keep the pace across restarts too. `shared`: other processes ask GitHub as the same App."""
        self._ledger, self._shared = ledger, shared

    async def check(self, who: Identity, doing: str) -> None:
        """Raise the retryable Fault that GitHub would answer, without asking it, while it wants silence."""
        await self._recall(who)
        until = self._silent_until.get(who)
        if until is None:
            return
        left = until - self._clock()
        if timedelta(0) < left <= LONGEST_SILENCE:
            public = f"GitHub asks perf-gate to slow down; it will {doing} later."
            raise Fault(public, f"silent until {until.isoformat()}", retryable=True, retry_after=left)
        self._silent_until.pop(who, None)

    async def _recall(self, who: Identity) -> None:
        """What a former life was told, and what another process was told meanwhile."""
        if self._ledger is None or (who in self._recalled and not self._shared):
            return
        until = await self._ledger.remembered(_silence_of(who))
        self._recalled.add(who)
        if until is not None:
            self._silent_until[who] = max(until, self._silent_until.get(who, until))

    @asynccontextmanager
    async def heeding(self, who: Identity) -> AsyncIterator[None]:
        """What is raised inside may hold GitHub's wish for silence: from then on `check` raises for `who`."""
        try:
            yield
        except Fault as fault:
            if fault.retry_after is not None:
                await self.silence(who, fault.retry_after)
            raise

    async def silence(self, who: Identity, wait: timedelta) -> None:
        """GitHub asked this identity to wait. An answer that came late does not shorten an earlier wish."""
        now = self._clock()
        until, furthest = now + min(wait, LONGEST_SILENCE), now + LONGEST_SILENCE
        known = self._silent_until.get(who, until)
        self._silent_until[who] = max(until, known) if known <= furthest else until
        if self._ledger is not None:
            await self._ledger.remember(_silence_of(who), until, not_after=furthest)

    @asynccontextmanager
    async def writing(self, who: Identity, *, urgent: bool = False) -> AsyncIterator[None]:
        """The turn of one write: after the one before it has ended, and the spacing after that.

        What is `urgent` goes before all that waits, also before what waits out the spacing.
        """
        turns = self._turns[who]
        await turns.take(urgent=urgent)
        ours = True
        try:
            await self._spaced(who)
            while True:
                if not urgent:
                    ours = False
                    passed = await turns.let_the_urgent_pass()
                    ours = True
                    if passed:
                        await self._spaced(who)
                        continue
                if await self._first_of_all(who):
                    break
                await self._spaced(who)
            try:
                yield
            finally:
                self._last_write[who] = self._monotonic()
                if self._shared and self._ledger is not None:
                    await self._ledger.remember(_write_of(who), self._clock())
        finally:
            if ours:
                turns.give()

    async def _first_of_all(self, who: Identity) -> bool:
        """Whether no other process began or ended a write within the spacing; then none begins one now."""
        if not self._shared or self._ledger is None:
            return True
        return await self._ledger.take_turn(_write_of(who), timedelta(seconds=self._spacing))

    async def _spaced(self, who: Identity) -> None:
        if (left := await self._until_next_write(who)) > 0:
            await self._wait(left)

    async def _until_next_write(self, who: Identity) -> float:
        """Seconds. The outbox lets two processes write for an installation at most: `_first_of_all` says which one."""
        last = self._last_write.get(who)
        left = 0.0 if last is None else last + self._spacing - self._monotonic()
        if self._shared and self._ledger is not None:
            theirs = await self._ledger.remembered(_write_of(who))
            if theirs is not None:
                # No clock of another machine may keep this one waiting for longer than the pause itself.
                left = max(left, min(self._spacing - (self._clock() - theirs).total_seconds(), self._spacing))
        return left


def _silence_of(who: Identity) -> str:
    return f"github {who} silent until"


def _write_of(who: Identity) -> str:
    return f"github {who} wrote"
