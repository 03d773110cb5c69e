"""Who may read which run: everybody where the repository is public, else who holds the operator token.

Whether a repository is public GitHub says, asked at most every few minutes and only while somebody reads. Where it does
not say, the repository counts as private.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from aiohttp import web

from bot.faults import Fault

COOKIE = "perf_gate_operator"
SESSION = timedelta(days=7)
BELIEVED_FOR = timedelta(minutes=5)
"""How long an answer about a repository counts: what is made private is closed here as soon."""
_STAMP = re.compile(r"(\d{1,12})\.([0-9a-f]{64})")
_MOST_REPOSITORIES = 200
_log = logging.getLogger(__name__)

IsPublic = Callable[[str, int], Awaitable[bool]]
"""Asks GitHub about `owner/name`, reached through an installation. Raises Fault."""


class Operators:
    """Sessions of those who know the token. A session is a signed date, so that nothing has to be kept."""

    def __init__(self, token: str | None, now: Callable[[], datetime]) -> None:
        self._key = None if token is None else hashlib.sha256(b"perf-gate pages\0" + token.encode()).digest()
        self._now = now

    @property
    def possible(self) -> bool:
        """Whether there is a token at all."""
        return self._key is not None

    def knows(self, given: str) -> bool:
        """Whether this is the token; takes as long for any other."""
        theirs = hashlib.sha256(b"perf-gate pages\0" + given.encode("utf-8", "replace")).digest()
        return self._key is not None and hmac.compare_digest(theirs, self._key)

    def session(self) -> str:
        """A cookie's value for the next week."""
        until = int((self._now() + SESSION).timestamp())
        return f"{until}.{self._signature(str(until))}"

    def admits(self, request: web.Request) -> bool:
        """By its session, or by the token itself as a bearer's: for programs."""
        kind, _, bearer = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.knows(bearer.strip()):
            return True
        stamp = _STAMP.fullmatch(request.cookies.get(COOKIE, ""))
        if self._key is None or stamp is None:
            return False
        signed = hmac.compare_digest(stamp[2], self._signature(stamp[1]))
        return signed and int(stamp[1]) > self._now().timestamp()

    def _signature(self, words: str) -> str:
        return hmac.new(self._key or b"", b"session\0" + words.encode(), "sha256").hexdigest()


@dataclass(slots=True)
class Visibility:
    """Which repositories everybody may see."""

    ask: IsPublic
    now: Callable[[], datetime]
    _known: dict[str, tuple[datetime, bool]] = field(default_factory=dict)

    async def public(self, repositories: Collection[tuple[str, int]]) -> frozenset[str]:
        """Of these (`owner/name`, installation) the names that are public now."""
        return frozenset([name for name, through in repositories if await self._is_public(name, through)])

    async def _is_public(self, name: str, through: int) -> bool:
        known = self._known.get(name)
        if known is not None and self.now() - known[0] < BELIEVED_FOR:
            return known[1]
        try:
            answer = await self.ask(name, through)
        except Fault as fault:
            _log.warning(
                "it is not known whether a repository is public", extra={"repository": name, "why": str(fault)}
            )
            answer = False
        if len(self._known) >= _MOST_REPOSITORIES:
            self._known.clear()
        self._known[name] = (self.now(), answer)
        return answer
