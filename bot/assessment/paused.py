"""The cycle collector, paused while one assessment runs, and kept from the end of the process that ran it.

An assessment makes a million syntax nodes, none of which points back to what holds it: there is no cycle to find, and
looking for one again and again takes a fifth of the time. What is freed is freed by counting references, as ever; so
the pause costs no memory, which `bench.assessment speed` measures.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Leaves the collector as it was."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def exit_uncollected() -> None:
    """Let this process end without a last search for cycles among all that it made, which took as long as parsing."""
    atexit.register(gc.freeze)
