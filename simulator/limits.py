"""The primary rate limit, and how both limits look (docs.github.com "Rate limits for the REST API")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from simulator.auth import Caller
from simulator.clock import Clock
from simulator.errors import Refusal

WINDOW = timedelta(hours=1)
# An installation has at least 5,000 requests an hour; nobody in particular has 60.
INSTALLATION_LIMIT = 5_000
ANONYMOUS_LIMIT = 60


@dataclass
class Window:
    resets_at: datetime
    used: int = 0


class RateLimits:
    """`limit`: requests an hour for an installation or App; a test lowers it to reach the end."""

    def __init__(self, clock: Clock) -> None:
        self.limit = INSTALLATION_LIMIT
        self._clock = clock
        self._windows: dict[str, Window] = {}

    def spend(self, caller: Caller) -> dict[str, str]:
        """Count one request and give the headers of its answer. Raises Refusal 403 when none was left."""
        window = self._window(caller)
        if window.used >= self._limit(caller):
            raise self.exhausted(caller)
        window.used += 1
        return self.headers(caller)

    def refund(self, caller: Caller) -> None:
        """A 304 costs nothing."""
        self._window(caller).used -= 1

    def headers(self, caller: Caller) -> dict[str, str]:
        window, limit = self._window(caller), self._limit(caller)
        return {
            "x-ratelimit-limit": str(limit),
            "x-ratelimit-remaining": str(max(0, limit - window.used)),
            "x-ratelimit-used": str(window.used),
            "x-ratelimit-reset": str(int(window.resets_at.timestamp())),
            "x-ratelimit-resource": "core",
        }

    def exhausted(self, caller: Caller, status: int = 403) -> Refusal:
        headers = {**self.headers(caller), "x-ratelimit-remaining": "0"}
        return Refusal(status, f"API rate limit exceeded for {caller_name(caller)}.", headers=headers)

    def secondary(self, seconds: float | None, status: int = 403) -> Refusal:
        headers = {"retry-after": str(int(seconds))} if seconds is not None else {}
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        return Refusal(status, message, headers=headers)

    def _limit(self, caller: Caller) -> int:
        return min(self.limit, ANONYMOUS_LIMIT) if caller.kind == "anonymous" else self.limit

    def _window(self, caller: Caller) -> Window:
        now, name = self._clock.now(), caller_name(caller)
        window = self._windows.get(name)
        if window is None or window.resets_at <= now:
            window = self._windows[name] = Window(now + WINDOW)
        return window


def caller_name(caller: Caller) -> str:
    if caller.token is not None:
        return f"installation ID {caller.token.installation.id}"
    return f"app ID {caller.app.id}" if caller.app is not None else "anonymous"
