"""What lies in folders that hostile code may fill, and what it keeps on their disks without a name.

A deleted file takes its place until nobody has it open. One that is only mapped any more is seen by nobody from here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Set
from contextlib import suppress
from pathlib import Path

from bot.sandbox.processes import below, open_files

# The kernel's, of a path with its final NUL and of a name in it (limits.h).
_PATH_MAX, _NAME_MAX = 4096, 255


class TooDeep(Exception):
    """Folders stand so deep in one another that no path leads there: what is in them cannot be counted."""


def sizes(folder: Path) -> Iterator[int]:
    """What every entry below takes on disk, in bytes. No link is followed; what vanishes meanwhile counts nothing.
    Raises TooDeep."""
    waiting = [os.fspath(folder)]
    while waiting:
        place = waiting.pop()
        if len(os.fsencode(place)) + len("/") + _NAME_MAX >= _PATH_MAX:
            raise TooDeep
        with suppress(OSError), os.scandir(place) as listing:
            for entry in listing:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)


def deleted_sizes(first: int, disks: Set[int]) -> list[int]:
    """Bytes of each deleted file on `disks` (numbers of devices) that the process `first` or one below it has open."""
    found = {
        (status.st_dev, status.st_ino): status.st_blocks * 512
        for pid in below(first)
        for status in open_files(pid)
        if status.st_nlink == 0 and status.st_dev in disks and stat.S_ISREG(status.st_mode)
    }
    return list(found.values())
