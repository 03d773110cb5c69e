"""What a caged command takes of memory and disk, with all it started: rlimits bound one process and one file each.

A control group would count the same, but making one takes a right that a container seldom has.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bot.sandbox.model import Limits

_MB = 2**20
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SCRATCH = ("tmp", "dev/shm")  # below the cage's root


class Usage:
    """`folders` are what the command can fill on disk."""

    def __init__(self, memory_mb: int, limits: Limits, folders: Sequence[Path]) -> None:
        self._memory_mb = memory_mb
        self._limits = limits
        self._folders = tuple(folders)

    async def exceeded(self, first: int) -> str:
        """Watch the process namespace that began with the process `first`, until it takes too much of something."""
        loop = asyncio.get_running_loop()
        next_disk = loop.time() + self._limits.disk_every
        while True:
            await asyncio.sleep(self._limits.memory_every)
            if await asyncio.to_thread(memory_bytes, first, self._memory_mb * _MB) > self._memory_mb * _MB:
                return f"its processes and what they keep in /tmp took more than {self._memory_mb} MB of memory"
            if loop.time() >= next_disk:
                if why := await asyncio.to_thread(self._disk):
                    return why
                next_disk = loop.time() + self._limits.disk_every

    def _disk(self) -> str:
        size = files = 0
        for folder in self._folders:
            for one in _sizes(folder):
                size, files = size + one, files + 1
                if size > self._limits.disk_bytes:
                    return f"it wrote more than {self._limits.disk_bytes // _MB} MB to the disk"
                if files > self._limits.disk_files:
                    return f"it made more than {self._limits.disk_files} files"
        return ""


def memory_bytes(first: int, enough: int) -> int:
    """Memory of that process and all below it, with their files in memory.

    Pages that forks share are first counted for each of them, which is quick; only where that is more than `enough`,
    each process is asked for its share.
    """
    processes = list(_below(first))
    scratch = sum(_used(Path(f"/proc/{first}/root", place)) for place in _SCRATCH)
    quick = scratch + sum(_own(pid) for pid in processes)
    return quick if quick <= enough else scratch + sum(_share(pid) for pid in processes)


def _below(first: int) -> Iterator[int]:
    """The process and its descendants. An orphan in the namespace becomes a child of its first process."""
    waiting = [first]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 — names are wanted
                with suppress(OSError):
                    waiting += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text("ascii").split())


def _own(pid: int) -> int:
    """Resident memory without what files back (proc_pid_statm(5))."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE


def _share(pid: int) -> int:
    """This process' part of anonymous pages, and what of them is swapped out (proc_pid_smaps_rollup)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return _own(pid)
    kilobytes = [line.split()[1] for line in lines if line.startswith(("Pss_Anon:", "SwapPss:"))]
    return sum(map(int, kilobytes)) * 1024


def _used(place: Path) -> int:
    try:
        found = os.statvfs(place)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _sizes(folder: Path) -> Iterator[int]:
    """What every entry below takes on disk, in bytes. No link is followed; what vanishes meanwhile counts nothing."""
    waiting = [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as listing:
            for entry in listing:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
