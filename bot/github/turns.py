"""One at a time, the urgent first: whose turn it is to write."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress


class Turns:
    """Like a lock, in the order of asking, but who is urgent comes before who is not."""

    def __init__(self) -> None:
        self._taken = False
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()

    async def take(self, *, urgent: bool) -> None:
        if not self._taken:
            self._taken = True
            return
        await self._wait_in(self._urgent if urgent else self._others, first=False)

    async def let_the_urgent_pass(self) -> bool:
        """Whoever has the turn and is not urgent gives it up and takes it again; False where nobody urgent waits.

        Cancelled meanwhile, the turn is somebody else's: then it must not be given back.
        """
        if not any(not waiting.done() for waiting in self._urgent):
            return False
        self.give()
        await self._wait_in(self._others, first=True)
        return True

    def give(self) -> None:
        for queue in (self._urgent, self._others):
            while queue:
                waiting = queue.popleft()
                if not waiting.done():
                    # It stays taken, by the one that is woken.
                    waiting.set_result(None)
                    return
        self._taken = False

    async def _wait_in(self, queue: deque[asyncio.Future[None]], *, first: bool) -> None:
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (queue.appendleft if first else queue.append)(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self.give()
            with suppress(ValueError):
                queue.remove(mine)
            raise
