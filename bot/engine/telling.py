"""How whoever waits hears what became of it."""

from __future__ import annotations

import asyncio
from typing import TypeVar

T = TypeVar("T")


def tell(future: asyncio.Future[T], known: T | Exception) -> None:
    """Whoever waits for it, if anybody still does."""
    if future.done():
        return
    if isinstance(known, Exception):
        future.set_exception(known)
    else:
        future.set_result(known)
