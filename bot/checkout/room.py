"""How much of the disk a mirror takes, and how it is made smaller: pull requests decide what is fetched into it."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from bot.checkout.git import succeed
from bot.checkout.upkeep import clear, half_made

MIRROR_BYTES = 8 * 2**30
SHRINK_TIMEOUT = 1800.0  # seconds; a whole repository is packed anew
# Heads of pull requests and single commits: whoever needs one again has it fetched again.
_KEPT_FOR_RUNS = ("refs/perf-gate/pull", "refs/perf-gate/pin")
# What was fetched a moment ago is being laid out by somebody else.
_SPARED = "1.hour.ago"


async def taken(git_dir: Path) -> int:
    """Bytes on disk."""
    return await asyncio.to_thread(_taken, git_dir)


async def shrink(git_dir: Path) -> None:
    """Let go of every head that was fetched for a run, and of all that only those led to. Raises Fault."""
    listed = await succeed(git_dir, "for-each-ref", "--format=delete %(refname)", *_KEPT_FOR_RUNS)
    if listed:
        await succeed(git_dir, "update-ref", "--stdin", stdin=listed, writes=True)
    await succeed(git_dir, "gc", "--quiet", f"--prune={_SPARED}", seconds=SHRINK_TIMEOUT, writes=True)
    await clear(git_dir)


async def cut_off(git_dir: Path, at: int) -> bool:
    """Whether a fetch left a pack that was ended at that size."""
    return await asyncio.to_thread(lambda: any(file.stat().st_size >= at for file in half_made(git_dir)))


def _taken(folder: Path) -> int:
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            with suppress(FileNotFoundError):
                total += Path(root, name).lstat().st_blocks * 512
    return total
