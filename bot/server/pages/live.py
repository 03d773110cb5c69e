"""Server-sent events: whoever has a page open gets its new content when there is some.

The stored state is asked for a few numbers every two seconds, and only while somebody listens.
Source: HTML Living Standard, "Server-sent events".
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from aiohttp import web

from bot.engine.port import CannotStart, Clock, StoreError

LOOK_EVERY = timedelta(seconds=2)
DRAW_AT_LEAST = timedelta(seconds=30)
"""Ages on a page grow also while nothing happens; and a proxy closes what is silent for a minute."""
MOST_LISTENERS = 100
"""Beyond it pages are read as they are: a page without news is better than no memory for deliveries."""
_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_log = logging.getLogger(__name__)

Draw = Callable[[], Awaitable[str | None]]
"""A page's content as it is now; None where this reader may not see it any more."""


def seen(html: str) -> str:
    return hashlib.sha256(html.encode()).hexdigest()[:16]


class Live:
    def __init__(self, pulse: Callable[[], Awaitable[tuple[int, ...]]], clock: Clock) -> None:
        self._pulse = pulse
        self._clock = clock
        self._closing = asyncio.Event()
        self._turn = asyncio.Event()
        self._listeners = 0
        self._looking: asyncio.Task[None] | None = None

    @property
    def full(self) -> bool:
        return self._listeners >= MOST_LISTENERS

    async def tell(self, request: web.Request, draw: Draw, known: str) -> web.StreamResponse:
        """Send the page's content, now and whenever it is another than `known`, until somebody goes."""
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        async with self._listening():
            try:
                await response.write(b"retry: 3000\n\n")
                while not self._closing.is_set():
                    turn = self._turn
                    html = await draw()
                    if html is None:
                        break
                    if seen(html) != known:
                        known = seen(html)
                        news = json.dumps({"seen": known, "html": html})
                        await response.write(f"event: page\ndata: {news}\n\n".encode())
                    else:
                        await response.write(b": nothing new\n\n")
                    await turn.wait()
            except (ConnectionError, StoreError, CannotStart):
                # The reader went, or the state cannot be read: the browser comes again by itself.
                pass
        return response

    async def close(self, _application: web.Application) -> None:
        """Let everybody go: a server that stops waits for its streams."""
        self._closing.set()
        self._next_turn()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        self._listeners += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            self._listeners -= 1

    async def _look(self) -> None:
        before: tuple[int, ...] | None = None
        drawn_at: datetime = self._clock.now()
        while self._listeners:
            await self._clock.wait(self._closing, self._clock.now() + LOOK_EVERY)
            try:
                now = await self._pulse()
            except (StoreError, CannotStart) as error:
                _log.warning("the pages cannot see what is new", extra={"why": str(error)})
                continue
            if now != before or self._clock.now() - drawn_at >= DRAW_AT_LEAST:
                before, drawn_at = now, self._clock.now()
                self._next_turn()

    def _next_turn(self) -> None:
        self._turn.set()
        self._turn = asyncio.Event()
