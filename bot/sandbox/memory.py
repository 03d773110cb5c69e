"""How much memory a tree of processes takes, with what belongs to none of them alone.

A control group would count the same, but making one takes a right that a container seldom has. Shared memory is a file
on a file system that only the kernel sees, be it made by memfd_create(2), shmget(2) or a shared mapping: it counts
while it is open or mapped. What is neither (a segment that nobody is attached to, a file on its way through a socket)
nobody can see from here: for that the kernel is told whom to end first when memory is short (`cage`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Set
from contextlib import suppress
from functools import cache
from pathlib import Path

from bot.sandbox.processes import below, open_files

_SCRATCH = ("tmp", "dev/shm")  # below the cage's root
# ADDRESS PERMISSIONS OFFSET MAJOR:MINOR INODE …, the first line of each mapping (proc_pid_smaps(5)).
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+)")
_KB = 2**10


def memory_bytes(first: int, enough: int) -> int:
    """Memory of that process and all below it, with their files in memory; anything above `enough` once that much is
    found. How long this takes is up to those processes: the caller bounds it.

    What processes share is first counted for each of them, which is quick; only where that is more than `enough`,
    each process is asked for its share. Each is read when it is met: what lives in processes that soon end, forked one
    from the other, would be gone once all were found.
    """
    scratch = _scratch(first)
    opened: dict[int, int] = {}
    quick = 0
    for pid in below(first):
        quick += _own(pid)
        opened |= _open_memory(pid)
    total = scratch + sum(opened.values())
    if total + quick <= enough:
        return total + quick
    for pid in below(first):
        total += _share(pid, opened.keys())
        if total > enough:
            break
    return total


def _open_memory(pid: int) -> dict[int, int]:
    """Bytes of each file without a place that the process has open, by inode: whether it is mapped too or not."""
    opened = (status for status in open_files(pid) if status.st_dev == _memory_device())
    return {status.st_ino: status.st_blocks * 512 for status in opened}


def _own(pid: int) -> int:
    """Resident and swapped memory without files of the disk (proc_pid_status(5))."""
    return _sum(Path(f"/proc/{pid}/status"), ("RssAnon:", "RssShmem:", "VmSwap:"))


def _share(pid: int, opened: Set[int]) -> int:
    """This process' part of anonymous pages, of what of them is swapped out, and of shared memory that is mapped and
    not among `opened`. Files in the cage's scratch folders are counted there."""
    rollup = Path(f"/proc/{pid}/smaps_rollup")
    anonymous = _sum(rollup, ("Pss_Anon:", "SwapPss:"))
    return anonymous + (_mapped(pid, opened) if _sum(rollup, ("Pss_Shmem:",)) else 0)


def _mapped(pid: int, opened: Set[int]) -> int:
    total, counts = 0, False
    with suppress(OSError), Path(f"/proc/{pid}/smaps").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if mapping := _MAPPING.match(line):
                device = os.makedev(int(mapping[1], 16), int(mapping[2], 16))
                counts = device == _memory_device() and int(mapping[3]) not in opened
            elif counts and line.startswith("Pss:"):
                total += int(line.split()[1]) * _KB
    return total


@cache
def _memory_device() -> int:
    """Of the file system that holds memory without a place; there is one on a machine (shm_mnt of mm/shmem.c)."""
    file = os.memfd_create("perf-gate")
    try:
        return os.fstat(file).st_dev
    finally:
        os.close(file)


def _sum(file: Path, names: tuple[str, ...]) -> int:
    """Bytes of those lines of a file of the kernel, which has them in kilobytes."""
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(names)) * _KB


def _scratch(first: int) -> int:
    """What lies in the cage's folders in memory. Until the cage is set up, its root is this machine's own."""
    root = Path(f"/proc/{first}/root")
    try:
        if root.samefile("/"):
            return 0
    except OSError:
        return 0
    return sum(_used(root / place) for place in _SCRATCH)


def _used(place: Path) -> int:
    try:
        found = os.statvfs(place)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize
