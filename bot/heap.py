"""How the C library keeps the process's memory."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's malloc.h."""


def share_one_heap() -> bool:
    """Let all threads allocate from one heap, before there are any; False where the C library has no such choice.

    glibc gives each its own, and keeps in each what was once used there. Here threads take turns anyway.
    Source: mallopt(3).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_ARENA_MAX, 1))


@contextmanager
def uncollected() -> Iterator[None]:
    """Build what stays without looking for garbage among it, and never look there again.

    A start makes a hundred thousand objects and hardly any garbage; looking through them took an eighth of its time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
