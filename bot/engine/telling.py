"""How whoever waits hears what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def known(ask: Callable[[Callable[[T | Exception], None]], None]) -> T:
    """Ask for something, and wait for what becomes of it. Raises what is told as an exception."""
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    ask(partial(_tell, future))
    return await future


def _tell(future: asyncio.Future[T], what: T | Exception) -> None:
    """Whoever waits for it, if anybody still does."""
    if future.done():
        return
    if isinstance(what, Exception):
        future.set_exception(what)
    else:
        future.set_result(what)
