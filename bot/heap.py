"""How the process keeps its memory: the C library's heap, and the collector while it starts."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's malloc.h, as are the next two: M_TRIM_THRESHOLD and M_MMAP_THRESHOLD."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_THRESHOLD = 128 * 1024
"""glibc's own first value. Left alone it grows with the largest block ever freed, and what is kept grows with it."""


def share_one_heap() -> bool:
    """Let all threads allocate from one heap, before there are any; False where the C library has no such choice.

    glibc gives each its own, and keeps in each what was once used there. Here threads take turns anyway.
    Source: mallopt(3).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    wanted = ((_ARENA_MAX, 1), (_TRIM_THRESHOLD, _THRESHOLD), (_MMAP_THRESHOLD, _THRESHOLD))
    taken = [bool(mallopt(name, value)) for name, value in wanted]
    return all(taken)


@contextmanager
def uncollected() -> Iterator[None]:
    """Build what stays without looking for garbage among it: looking took an eighth of the time of a start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
