"""What a caged command takes of memory and disk, with all it started: rlimits bound one process and one file each."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import msgspec

from bot.sandbox.disk import TooDeep, deleted_sizes, sizes
from bot.sandbox.memory import memory_bytes
from bot.sandbox.model import Limits

_MB = 2**20


class Excess(msgspec.Struct, frozen=True):
    """Why a command must end. Where it is not `proven` to have taken too much, that is no verdict on the command."""

    why: str
    proven: bool = True


class Usage:
    """`folders` are what the command can fill on disk."""

    def __init__(self, memory_mb: int, limits: Limits, folders: Sequence[Path]) -> None:
        self._memory_mb = memory_mb
        self._limits = limits
        self._folders = tuple(folders)
        self._disks = {folder.stat().st_dev for folder in folders}

    async def exceeded(self, first: int) -> Excess:
        """Watch the process namespace that began with the process `first`, until it takes too much of something."""
        # Side by side: a walk over a disk that is slow, or made slow, lets no memory be taken meanwhile.
        looks = [asyncio.create_task(look) for look in (self._memory_exceeded(first), self._disk_exceeded(first))]
        try:
            done, _ = await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for look in looks:
                look.cancel()
            await asyncio.gather(*looks, return_exceptions=True)

    async def _memory_exceeded(self, first: int) -> Excess:
        # A thread of its own: one that waits behind a bucket or a walk over a disk would count as a look that is slow.
        thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox-memory")
        try:
            return await self._look_at_memory(first, thread)
        finally:
            # One that still looks comes to its end once the processes are gone.
            thread.shutdown(wait=False)

    async def _look_at_memory(self, first: int, thread: ThreadPoolExecutor) -> Excess:
        loop, most = asyncio.get_running_loop(), self._memory_mb * _MB
        pause, within = 0.0, self._limits.memory_within
        while True:
            await asyncio.sleep(max(self._limits.memory_every, pause))
            began = loop.time()
            try:
                async with asyncio.timeout(within):
                    taken = await loop.run_in_executor(thread, memory_bytes, first, most)
            except TimeoutError:
                return Excess(
                    f"what it takes of memory could not be counted within {within:g} s, so nothing kept it to "
                    f"{self._memory_mb} MB; it was ended",
                    proven=False,
                )
            if taken > most:
                return Excess(f"its processes and what they keep in /tmp took more than {self._memory_mb} MB of memory")
            pause = (loop.time() - began) / 2

    async def _disk_exceeded(self, first: int) -> Excess:
        while True:
            await asyncio.sleep(self._limits.disk_every)
            if why := await asyncio.to_thread(self._disk, first):
                return Excess(why)

    def _disk(self, first: int) -> str:
        size = files = 0
        try:
            for one in chain(deleted_sizes(first, self._disks), *map(sizes, self._folders)):
                size, files = size + one, files + 1
                if size > self._limits.disk_bytes:
                    return f"it wrote more than {self._limits.disk_bytes // _MB} MB to the disk"
                if files > self._limits.disk_files:
                    return f"it made more than {self._limits.disk_files} files"
        except TooDeep:
            return "it made folders that stand too deep in one another to count what is in them"
        return ""


def ending_first() -> list[str]:
    """What goes before a command line so that, where memory becomes short all the same, the kernel ends the cage's
    processes and not the bot (proc_pid_oom_score_adj(5)). They cannot undo it where the bot has CAP_SYS_RESOURCE."""
    choom = shutil.which("choom")
    return [choom, "-n", "1000", "--"] if choom else []
