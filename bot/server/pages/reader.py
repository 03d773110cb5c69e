"""One thread that looks into the stored state and draws pages, so that neither holds up a webhook.

Only one page is drawn at a time: readers wait for each other, deliveries for none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TypeVar

import msgspec

from bot.engine.tables import inspection
from bot.engine.transaction import Tx
from bot.engine.views import Overview
from bot.gating.model import PullRequest
from bot.runs.reading import Outlines

T = TypeVar("T")


class Moment(msgspec.Struct, frozen=True):
    """The stored state at one moment: all pull requests in outline, all that is open, and the way to the rest."""

    tx: Tx
    outlines: dict[str, PullRequest]
    overview: Overview
    now: datetime


class Reader:
    def __init__(self, looking: Callable[[], AbstractContextManager[Tx]], now: Callable[[], datetime]) -> None:
        """`looking` opens a look of its own, and so meets no lock of the engine's."""
        self._looking = looking
        self._now = now
        self._outlines = Outlines()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pages")

    async def read(self, work: Callable[[Moment], T]) -> T:
        """Run `work` over the state as it is now. Raises StoreError, CannotStart and what `work` raises."""

        def look() -> T:
            with self._looking() as tx:
                return work(Moment(tx, self._outlines.of(tx), inspection.overview(tx), self._now()))

        return await self.apart(look)

    async def glance(self, work: Callable[[Tx, dict[str, PullRequest]], T]) -> T:
        """The same without what is open: for numbers that are asked for all the time."""

        def look() -> T:
            with self._looking() as tx:
                return work(tx, self._outlines.of(tx))

        return await self.apart(look)

    async def pulse(self) -> tuple[int, ...]:
        """Other numbers than before, whenever there is something new to see."""

        def look() -> tuple[int, ...]:
            with self._looking() as tx:
                return inspection.pulse(tx)

        return await self.apart(look)

    async def apart(self, work: Callable[[], T]) -> T:
        """Run it where it is in nobody's way."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Wait for the page that is being drawn, and let the thread go."""
        self._thread.shutdown(cancel_futures=True)
