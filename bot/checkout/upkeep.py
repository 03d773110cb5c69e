"""Keeping a mirror in working order: what a killed git left goes, and many small packs become few.

All of it is for whoever holds the mirror's turn: nothing else may write there meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from bot.checkout.git import succeed
from bot.faults import Fault

_log = logging.getLogger(__name__)

# As many as git's own upkeep lets come together (git-config(1), gc.autoPackLimit); every look-up asks each.
MOST_PACKS = 50
_PACK_TIMEOUT = 600.0  # seconds
# Without them git refuses to work, packs anew without those packs, or leaves room taken for ever.
_LEFT = ("*.lock", "gc.pid", "objects/pack/*.keep")


async def tidy(git_dir: Path) -> None:
    """Remove locks, marks and half-made packs. Whoever writes here has the turn and ends with this process, so all of
    them are a dead git's, and git would refuse to fetch until somebody removes them by hand."""
    await asyncio.to_thread(_tidy, git_dir)


async def clear(git_dir: Path) -> None:
    """Remove the packs that were not finished."""
    await asyncio.to_thread(_clear, git_dir)


def half_made(git_dir: Path) -> list[Path]:
    objects = git_dir / "objects"
    # git-repack(1) names what is packed so until all of it is; no git but the one that died knows that name again.
    found = [*objects.rglob("tmp_*"), *(objects / "pack").glob(".tmp-*")]
    return [file for file in found if file.is_file()]


async def put_together(git_dir: Path) -> None:
    """Make few packs of many, with every object of theirs: a head that was pushed away has no ref, and a run needs it.

    git does this by itself within a fetch, where its file meets the fetch's bound, so that is off (`git.OPTIONS`).
    Small packs go into one, large ones stay (git-repack(1), --geometric). Trouble is only logged: the fetch has
    brought what it should, and the next one comes here again.
    """
    if len(list((git_dir / "objects" / "pack").glob("pack-*.pack"))) <= MOST_PACKS:
        return
    try:
        await succeed(git_dir, "repack", "--geometric=2", "-d", "--quiet", seconds=_PACK_TIMEOUT, writes=True)
        await succeed(git_dir, "pack-refs", "--all", writes=True)
    except Fault as fault:
        await tidy(git_dir)
        _log.warning("the mirror could not be packed", extra={"folder": str(git_dir), "error": str(fault)})


def _tidy(git_dir: Path) -> None:
    for pattern in _LEFT:
        for file in list(git_dir.rglob(pattern)):
            file.unlink(missing_ok=True)
    _clear(git_dir)


def _clear(git_dir: Path) -> None:
    for file in half_made(git_dir):
        file.unlink(missing_ok=True)
