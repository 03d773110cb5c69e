"""How fast an App may go: silence for as long as a limit asked for it, and a pause between two writes.

docs.github.com "Best practices for using the REST API": "Continuing to make requests while you are rate limited may
result in the banning of your integration"; without `retry-after`, wait at least a minute; a second between writes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simulator.auth import Caller
from simulator.errors import Refusal
from simulator.limits import caller_name
from simulator.world import World

UNTOLD = timedelta(minutes=1)
IN_FLIGHT = timedelta(milliseconds=50)
"""What was sent before the refusal was read is no breach."""


class PaceReferee:
    """Records a violation for each request that comes too soon, by the simulator's clock; `watch` False: for none."""

    def __init__(self, world: World, spacing: timedelta | None, *, watch: bool) -> None:
        self._world = world
        self._spacing = spacing
        self._watch = watch
        self._silent: dict[str, tuple[datetime, datetime]] = {}
        self._wrote: dict[str, datetime] = {}

    def arrives(self, caller: Caller, method: str, path: str) -> None:
        if not self._watch:
            return
        name, now = caller_name(caller), self._world.clock.now()
        since, until = self._silent.get(name, (now, now))
        if since + IN_FLIGHT < now < until:
            late = (until - now).total_seconds()
            self._world.violations.append(f"{method} {path}: {name} was asked for silence for {late:g} s more")
        # Tokens are bought as the App, which writes nothing.
        if self._spacing and method != "GET" and caller.kind == "installation" and name in self._wrote:
            pause = now - self._wrote[name]
            if pause < self._spacing:
                self._world.violations.append(f"{method} {path}: {name} wrote {pause.total_seconds():g} s ago")

    def answered(self, caller: Caller, method: str, status: int) -> None:
        """`status` 0: the connection was dropped. What was refused or sent elsewhere was no write."""
        if method != "GET" and not 300 <= status < 500:
            self._wrote[caller_name(caller)] = self._world.clock.now()

    def refused(self, caller: Caller, refusal: Refusal) -> None:
        """A limit closes a window; any other refusal closes none."""
        if refusal.status not in {403, 429}:
            return
        now, headers = self._world.clock.now(), refusal.headers
        if "retry-after" in headers:
            until = now + timedelta(seconds=int(headers["retry-after"]))
        elif headers.get("x-ratelimit-remaining") == "0":
            until = datetime.fromtimestamp(int(headers["x-ratelimit-reset"]), UTC)
        elif "secondary rate limit" in refusal.message:
            until = now + UNTOLD
        else:
            return
        name = caller_name(caller)
        since, longest = self._silent.get(name, (now, until))
        self._silent[name] = (since if now < longest else now, max(until, longest))
