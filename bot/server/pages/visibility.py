"""Which repositories everybody may see: GitHub says, asked at most every few minutes and only while somebody reads.

Where it says nothing, a repository counts as private, but for one that it called public lately and only because it
cannot be reached: those who want to know whether the bot is well come while GitHub is not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta

import msgspec

from bot.faults import Fault

BELIEVED_FOR = timedelta(minutes=5)
"""How long an answer about a repository counts: what is made private is closed here as soon."""

ASKED_AGAIN = timedelta(seconds=10)
"""How soon GitHub is asked again where it never said anything: that it could not be asked is no answer."""

OUTLIVES_GITHUB = timedelta(hours=6)
"""How long a repository stays public here while GitHub cannot be reached, where nobody can make it private either."""

PATIENCE_SECONDS = 5.0
"""A page is not held for longer. The request goes on by the event loop's own time, as sockets do."""

_MOST_REPOSITORIES = 200
_log = logging.getLogger(__name__)

IsPublic = Callable[[str, int], Awaitable[bool]]
"""Asks GitHub about `owner/name`, reached through an installation. Raises Fault."""


class _Known(msgspec.Struct, frozen=True):
    """`said_at`: when GitHub said so, None where it never said anything; `until` when it is asked again."""

    public: bool
    said_at: datetime | None
    until: datetime


class Visibility(msgspec.Struct):
    ask: IsPublic
    now: Callable[[], datetime]
    patience_seconds: float = PATIENCE_SECONDS
    _known: dict[str, _Known] = msgspec.field(default_factory=dict)

    async def public(self, repositories: Collection[tuple[str, int]]) -> frozenset[str]:
        """Of these (`owner/name`, installation) the names that are public now."""
        asked = list(repositories)
        answers = await asyncio.gather(*(self._is_public(name, through) for name, through in asked))
        return frozenset(name for (name, _), public in zip(asked, answers, strict=True) if public)

    async def _is_public(self, name: str, through: int) -> bool:
        known, now = self._known.get(name), self.now()
        if known is not None and now < known.until:
            return known.public
        if len(self._known) >= _MOST_REPOSITORIES:
            self._known.clear()
        try:
            async with asyncio.timeout(self.patience_seconds):
                answer = _Known(await self.ask(name, through), now, now + BELIEVED_FOR)
        except (Fault, TimeoutError) as problem:
            details = {"repository": name, "why": str(problem) or "no answer in time"}
            _log.warning("it is not known whether a repository is public", extra=details)
            unreachable = isinstance(problem, TimeoutError) or problem.retryable
            # A refusal is an answer of a kind.
            said_at = now if not unreachable else known.said_at if known is not None else None
            lately = known is not None and known.public and said_at is not None and now - said_at < OUTLIVES_GITHUB
            wait = ASKED_AGAIN if said_at is None else BELIEVED_FOR
            answer = _Known(unreachable and lately, said_at, now + wait)
        self._known[name] = answer
        return answer.public
