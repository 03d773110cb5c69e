"""Listening on a port: the express way in for deliveries, and behind it the whole HTTP server for all else."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.server.crowded import MOST_CONNECTIONS, Crowded
from bot.server.express import Express
from bot.server.webhook import Door

IDLE = timedelta(seconds=75)
"""A kept connection on which nothing comes is closed: aiohttp's own keep-alive, for those it does not serve."""

SLOW = timedelta(seconds=1)
"""GitHub sends a request within milliseconds; one that takes longer is awaited only while there is room."""


class Listening:
    """Made by `start`, ended by `stop`."""

    def __init__(
        self, application: web.Application, door: Door, most: int = MOST_CONNECTIONS, slow: timedelta = SLOW
    ) -> None:
        """`most` connections are served at once. One that nobody uses makes room, else one whose request has not come
        within `slow`; else the next is refused."""
        application.middlewares.append(self._answering)
        self._runner = web.AppRunner(
            application,
            access_log=None,
            handle_signals=False,
            keepalive_timeout=IDLE.total_seconds(),
            # What is told slowly by a stranger must not use up the time in which running effects may end.
            shutdown_timeout=door.patience.total_seconds(),
        )
        self._door = door
        self._most = most
        self._here: set[Express] = set()
        self._refused: set[Crowded] = set()
        self._slow = slow.total_seconds()
        self._asked: dict[web.RequestHandler, tuple[web.Request, float]] = {}
        self._empty = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._looking: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int) -> int:
        """The port listened on, another than asked for where that is 0. Raises OSError."""
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connected, host, port, backlog=128)
        self._look_for_idle()
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Take nothing new; what is being stored is answered first, for as long as a delivery may take."""
        if self._looking is not None:
            self._looking.cancel()
        if self._server is not None:
            self._server.close()
        for connection in list(self._here):
            connection.end()
        for refused in list(self._refused):
            refused.abort()
        self._connection_left()
        await asyncio.gather(self._all_gone(), self._runner.cleanup())
        self._door.heard.tell()

    async def _all_gone(self) -> None:
        try:
            async with asyncio.timeout(self._door.patience.total_seconds()):
                await self._empty.wait()
        except TimeoutError:
            for connection in list(self._here):
                connection.abort()

    @property
    def here(self) -> Collection[Express]:
        """The connections that the HTTP server has not taken over."""
        return self._here

    @property
    def unfinished(self) -> int:
        """Requests that have begun to come, and are awaited."""
        return len(list(self._awaited()))

    def _connected(self) -> asyncio.Protocol:
        server = self._runner.server
        assert server is not None, "set up by start"  # noqa: S101
        if len(self._here) + len(server.connections) >= self._most and not self._one_goes():
            return Crowded(self._refused, self._door.heard)
        return Express(self._door, server, self._here, self._connection_left)

    def _one_goes(self) -> bool:
        """Who keeps connections without using them, or as good as that, must not keep others out."""
        return self._one_idle_goes() or self._one_slow_goes()

    def _one_idle_goes(self) -> bool:
        """The one that was silent for longest."""
        idle = [connection for connection in self._here if connection.idle and not connection.ending]
        if idle:
            min(idle, key=lambda connection: connection.heard_at).end()
            return True
        server = self._runner.server
        assert server is not None, "set up by start"  # noqa: S101
        # Half a head is waited for without end there. They are in the order in which they came.
        unasked = (one for one in server.connections if one not in self._asked and one.transport is not None)
        if (longest := next(unasked, None)) is None:
            return False
        longest.force_close()
        return True

    def _one_slow_goes(self) -> bool:
        """The one whose request is awaited for longest: a stranger's, unsigned, may never come to its end."""
        since, go = min(self._awaited(), key=lambda one: one[0], default=(math.inf, None))
        if go is None or time.monotonic() - since < self._slow:
            return False
        go()
        return True

    def _awaited(self) -> Iterator[tuple[float, Callable[[], None]]]:
        """Since when, by `time.monotonic`, and how to end it; of each request that has not come to its end."""
        for connection in self._here:
            if (since := connection.waits_since) is not None:
                yield since, connection.make_room
        for asked, (request, begun) in self._asked.items():
            if asked.transport is not None and not request.content.is_eof():
                yield begun, asked.force_close

    @web.middleware
    async def _answering(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A connection of the HTTP server with a request under way is in use."""
        self._asked[request.protocol] = request, time.monotonic()
        try:
            return await handler(request)
        finally:
            del self._asked[request.protocol]

    def _connection_left(self) -> None:
        if self._here:
            self._empty.clear()
        else:
            self._empty.set()

    def _look_for_idle(self) -> None:
        loop = asyncio.get_running_loop()
        since = time.monotonic() - IDLE.total_seconds()
        for connection in [one for one in self._here if one.heard_at < since]:
            if connection.ending:
                connection.abort()
            elif connection.idle:
                connection.end()
        self._looking = loop.call_later(IDLE.total_seconds() / 5, self._look_for_idle)
