"""The last scheduled run of each tier, asked of GitHub while somebody reads.

A baseline grows old also while nobody asks for a run, and then no run's own baseline tells.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime, timedelta

import msgspec

from bot.faults import Fault

ASKED_EVERY = timedelta(minutes=10)
"""Tiers run daily and weekly; a look takes about five of an installation's 5,000 requests an hour."""

PATIENCE_SECONDS = 2.0
"""A page is not held for longer: what comes later stands on the next one. By the event loop's own time."""

_MOST_REPOSITORIES = 200
_log = logging.getLogger(__name__)


class Scheduled(msgspec.Struct, frozen=True):
    """A tier's last successful scheduled run; `expected_within` of its start the next one should have ended."""

    run_id: int
    run_url: str
    sha: str
    created_at: datetime
    expected_within: timedelta


Tiers = Mapping[int, Scheduled | None]
"""By the tier's number; None: it has no successful scheduled run."""

AskSchedules = Callable[[str, int], Awaitable[Tiers]]
"""Asks GitHub about `owner/name`, reached through an installation. Raises Fault."""


class Schedules(msgspec.Struct):
    ask: AskSchedules
    now: Callable[[], datetime]
    patience_seconds: float = PATIENCE_SECONDS
    _known: dict[str, Tiers] = msgspec.field(default_factory=dict)
    _asked_at: dict[str, datetime] = msgspec.field(default_factory=dict)
    _asking: dict[str, asyncio.Task[None]] = msgspec.field(default_factory=dict)

    async def of(self, repositories: Collection[tuple[str, int]]) -> Mapping[str, Tiers]:
        """What is known of these (`owner/name`, installation); those of which nothing is known are left out."""
        for name, through in repositories:
            if self._is_due(name):
                self._asking[name] = asyncio.create_task(self._look(name, through))
        waits = [self._asking[name] for name, _ in repositories if name in self._asking]
        if waits:
            await asyncio.wait(waits, timeout=self.patience_seconds)
        return {name: self._known[name] for name, _ in repositories if name in self._known}

    async def close(self) -> None:
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _is_due(self, name: str) -> bool:
        asked_at = self._asked_at.get(name)
        return name not in self._asking and (asked_at is None or self.now() - asked_at >= ASKED_EVERY)

    async def _look(self, name: str, through: int) -> None:
        if len(self._asked_at) >= _MOST_REPOSITORIES:
            self._asked_at.clear()
            self._known.clear()
        self._asked_at[name] = self.now()
        try:
            self._known[name] = await self.ask(name, through)
        except Fault as fault:
            # What was known stays, with its age.
            _log.warning("the scheduled runs are not known", extra={"repository": name, "why": str(fault)})
        finally:
            del self._asking[name]
