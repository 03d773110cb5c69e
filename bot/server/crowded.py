"""More connections than there is room for: each further one is told so, and let go."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec

from bot.server.checks import Refusal
from bot.server.head import ENDING
from bot.server.heard import Heard

MOST_CONNECTIONS = 500
"""GitHub keeps some dozens, pages some more; the usual 1,024 open files of a process must do for all else, too."""

MOST_TOLD = 50
"""Who comes while so many are being told is hung up on."""

SECONDS = 1.0
"""Somebody who has heard the answer hangs up sooner."""

CROWDED = Refusal(503, "perf-gate has as many connections as it takes; it asks GitHub again for what it missed.")


class Crowded(asyncio.Protocol):
    """One connection. `all_here`: it is among these while it lasts."""

    def __init__(self, all_here: set[Crowded], heard: Heard) -> None:
        self._all_here = all_here
        self._heard = heard
        self._transport: asyncio.Transport | None = None
        self._end: asyncio.TimerHandle | None = None
        self._told = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if len(self._all_here) >= MOST_TOLD:
            self._transport.abort()
            return
        self._all_here.add(self)
        self._end = asyncio.get_running_loop().call_later(SECONDS, self.abort)

    def data_received(self, data: bytes) -> None:
        """Answer what is asked first; go on taking the rest of it, or hanging up would take the answer away."""
        if self._told or self._transport is None:
            return
        self._told = True
        self._heard.refused(CROWDED)
        body = msgspec.json.encode({"error": CROWDED.sentence})
        lines = [
            "HTTP/1.1 503 Service Unavailable",
            "Content-Type: application/json; charset=utf-8",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        self._transport.write("\r\n".join(lines).encode() + ENDING + body)
        self._transport.write_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._all_here.discard(self)
        if self._end is not None:
            self._end.cancel()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
