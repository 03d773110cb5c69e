"""What a caged command takes of memory and disk, with all it started: rlimits bound one process and one file each."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bot.sandbox.memory import memory_bytes
from bot.sandbox.model import Limits

_MB = 2**20


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


def ending_first() -> list[str]:
    """What goes before a command line so that, where memory becomes short all the same, the kernel ends the cage's
    processes and not the bot (proc_pid_oom_score_adj(5)). They cannot undo it where the bot has CAP_SYS_RESOURCE."""
    choom = shutil.which("choom")
    return [choom, "-n", "1000", "--"] if choom else []


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
