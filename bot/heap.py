"""How the C library keeps the process's memory."""

from __future__ import annotations

import ctypes

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
