"""The processes of a cage and what they have open, as this machine sees them (proc_pid(5))."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def below(first: int) -> Iterator[int]:
    """The process and its descendants. An orphan in the namespace becomes a child of its first process."""
    waiting = [first]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 — names are wanted
                with suppress(OSError):
                    waiting += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text("ascii").split())


def open_files(pid: int) -> Iterator[os.stat_result]:
    """What is known of each file that the process has open; a file of several descriptors comes several times."""
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as listing:
        for entry in listing:
            with suppress(OSError):
                yield entry.stat()
