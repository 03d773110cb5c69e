"""Who holds the operator token, and so may read every run. What everybody may read, `visibility` knows."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from datetime import datetime, timedelta

from aiohttp import web

COOKIE = "perf_gate_operator"
SESSION = timedelta(days=7)
_STAMP = re.compile(r"(\d{1,12})\.([0-9a-f]{64})")


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
