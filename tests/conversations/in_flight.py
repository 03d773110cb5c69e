"""The bot's requests to GitHub that are not answered yet: what a scene waits for before it lets time pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.github.responses import Answer
from bot.github.transport import Request, Transport


class InFlight:
    """None at first; `counted` is where they are counted."""

    def __init__(self) -> None:
        self._sent = 0
        self._none = asyncio.Event()
        self._none.set()

    async def none(self) -> None:
        """Until every answer has been read."""
        await self._none.wait()

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[None]:
        """While this lasts, every request of this process counts."""
        send = Transport.send

        async def counting(transport: Transport, request: Request, authorization: str) -> Answer:
            self._sent += 1
            self._none.clear()
            try:
                return await send(transport, request, authorization)
            finally:
                self._sent -= 1
                if not self._sent:
                    self._none.set()

        Transport.send = counting  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Transport.send = send  # type: ignore[method-assign]
