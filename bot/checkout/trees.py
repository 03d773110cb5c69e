"""Pinned trees: a commit's files as a plain folder, its place derived from ids, made once and removed at the end.

A run has two: `work`, which the pull request's code may do anything to, and `pristine`, which becomes the bundle.
Neither holds git metadata, so no code can replace any.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Set
from pathlib import Path

import msgspec

from bot.checkout.git import succeed
from bot.checkout.refusals import Entry, Quota, Refusal, parse_listing, refuse
from bot.checkout.removal import remove_tree
from bot.checkout.repository import Repository, checked
from bot.checkout.writing import TreeWriter
from bot.faults import Fault

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}")
_PARTIAL, _MARKER = ".partial", ".complete"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LINK = b"120000"
WRITE_TIMEOUT = 600.0  # seconds; a tree at the quota's edge on a slow disk


class Marker(msgspec.Struct, frozen=True):
    """Stands beside a finished tree. After a crash of the whole machine unsynced files may be empty, hence the boot."""

    sha: str
    boot: str


class Trees:
    """The folder that holds every tree. Names come from ids (such as "17-2-work"): letters, digits, `.`, `_`, `-`."""

    def __init__(self, root: Path, quota: Quota | None = None) -> None:
        self.root = root
        self._quota = quota or Quota()

    def path(self, name: str) -> Path:
        """Where the tree of this name is or would be."""
        if not NAME.fullmatch(name) or name.endswith((_PARTIAL, _MARKER)):
            raise Fault("a tree's name is malformed", f"tree name {name!r}")
        return self.root / name

    async def materialise(self, source: Repository, sha: str, name: str) -> Path | Refusal:
        """The folder with this commit's files: found when it is complete, made otherwise. Submodules are left out.

        Raises Fault when git fails or the disk is full; what was written by then is made again next time.
        """
        path, marker = self.path(name), self._marker(name)
        wanted = Marker(checked(sha), _boot())
        if path.is_dir() and _read(marker) == wanted:
            return path
        entries = await _entries(source, sha)
        if refusal := refuse(entries, self._quota):
            return refusal
        await self.remove(name)
        partial = path.with_name(path.name + _PARTIAL)
        partial.mkdir(parents=True)
        await _in_thread(source.git_dir, entries, partial)
        partial.rename(path)
        fresh = marker.with_name(marker.name + _PARTIAL)
        fresh.write_bytes(msgspec.json.encode(wanted))
        fresh.rename(marker)
        return path

    async def remove(self, name: str) -> None:
        """Remove the tree, its marker and any half-made one; nothing when there is none. Raises Fault."""
        path = self.path(name)
        # The marker goes first: a tree that is being removed must not be found complete.
        self._marker(name).unlink(missing_ok=True)
        for folder in (path, path.with_name(path.name + _PARTIAL)):
            await self._remove(folder)

    async def sweep(self, keep: Set[str]) -> list[str]:
        """Remove every tree whose name is not in `keep`, left-overs of crashes included; what was removed, by name."""
        if not self.root.is_dir():
            return []
        kept = {self.path(name).name for name in keep}
        kept |= {name + _MARKER for name in kept}
        removed = sorted(entry.name for entry in self.root.iterdir() if entry.name not in kept)
        # Markers sort after their tree's name, but must go before it.
        for name in sorted(removed, key=lambda name: not name.endswith(_MARKER)):
            await self._remove(self.root / name)
        return [name for name in removed if not name.endswith(_MARKER)]

    async def _remove(self, folder: Path) -> None:
        try:
            await asyncio.to_thread(remove_tree, folder)
        except OSError as error:
            raise Fault("a tree could not be removed from the bot's disk", str(error), retryable=True) from error

    def _marker(self, name: str) -> Path:
        return self.root / (name + _MARKER)


async def _entries(source: Repository, sha: str) -> list[Entry]:
    """Every file and symbolic link of the commit, with where the links lead."""
    output = await succeed(source.git_dir, "ls-tree", "-r", "-z", "-l", "--full-tree", checked(sha))
    listed = list(parse_listing(output))
    links = await source.blobs({blob for mode, blob, _, _ in listed if mode == _LINK}, max_bytes=2**16)
    entries = []
    for mode, blob, size, path in listed:
        # A link too long to be one was not read: an empty target is refused.
        target = links.get(blob, b"") if mode == _LINK else None
        entries.append(Entry(path, blob, size, mode == b"100755", target))
    return entries


async def _in_thread(git_dir: Path, entries: list[Entry], folder: Path) -> None:
    """Write in a thread, and wait for its end also when given up: nobody else may touch the folder before."""
    writer = TreeWriter(git_dir)
    writing = asyncio.ensure_future(asyncio.to_thread(writer.write, entries, folder))
    try:
        async with asyncio.timeout(WRITE_TIMEOUT):
            await asyncio.shield(writing)
    except (asyncio.CancelledError, TimeoutError) as given_up:
        writer.stop()
        await asyncio.wait([writing])
        writing.exception()  # it was told to stop: however it ended is no news
        if isinstance(given_up, TimeoutError):
            raise Fault("making the tree took too long", f"over {WRITE_TIMEOUT:g} s", retryable=True) from None
        raise


def _boot() -> str:
    return _BOOT_ID.read_text("ascii").strip() if _BOOT_ID.exists() else ""


def _read(marker: Path) -> Marker | None:
    try:
        return msgspec.json.decode(marker.read_bytes(), type=Marker)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
