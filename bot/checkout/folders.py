"""What differs between two folders, in the shape that a diff of two commits has. No symbolic link is followed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Set
from pathlib import Path

from bot.assessment.model import FileChange
from bot.checkout.paths import MAX_FILE, printable

_IDENTIFIER = re.compile(rb"\w+")
PIECE = 2**20  # bytes compared at a time


class UnreadableFolder(Exception):
    """A file or folder could not be read; the message names it."""


def compare_folders(
    base: Path, head: Path, wanted: Callable[[str], bool], max_bytes: int = MAX_FILE
) -> list[FileChange]:
    """Every file that differs, in order of path. Moves appear as deleted and added. `.git` is left out at any depth.

    Contents are read for `wanted` paths alone, up to `max_bytes`. Raises UnreadableFolder.
    """
    try:
        before, after = (dict(_walk(os.fsencode(folder))) for folder in (base, head))
        changes = []
        for path in sorted(before.keys() | after.keys()):
            name = printable(path)
            change = _compare(before.get(path), after.get(path), name, max_bytes if wanted(name) else -1)
            if change is not None:
                changes.append(change)
    except OSError as error:
        raise UnreadableFolder(f"{os.fsdecode(error.filename or b'')}: {error.strerror}") from None
    return changes


def read_folder(root: Path, below: str, wanted: Callable[[str], bool], max_bytes: int = MAX_FILE) -> dict[str, bytes]:
    """Every wanted regular file of a tree below one of its folders, by its path. Raises UnreadableFolder."""
    found: dict[str, bytes] = {}
    start = root / below
    if not start.is_dir() or not start.resolve().is_relative_to(root.resolve()):
        return found
    try:
        for path, entry in _walk(os.fsencode(start)):
            name = f"{below.rstrip('/')}/{printable(path)}"
            data = _read(entry, max_bytes) if wanted(name) and _is_regular(entry) else None
            if data is not None:
                found[name] = data
    except OSError as error:
        raise UnreadableFolder(f"{os.fsdecode(error.filename or b'')}: {error.strerror}") from None
    return found


def words_written(
    root: Path, words: Set[str], wanted: Callable[[str], bool], max_bytes: int = MAX_FILE
) -> frozenset[str]:
    """Which of these identifiers stand as whole words in the wanted files of a tree. Raises UnreadableFolder."""
    left = {word.encode() for word in words}
    found: set[bytes] = set()
    try:
        for path, entry in _walk(os.fsencode(root)) if left else ():
            if wanted(printable(path)) and _is_regular(entry) and (text := _read(entry, max_bytes)) is not None:
                found |= left.intersection(_IDENTIFIER.findall(text))
    except OSError as error:
        raise UnreadableFolder(f"{os.fsdecode(error.filename or b'')}: {error.strerror}") from None
    return frozenset(word.decode() for word in found)


def _walk(root: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """(path below the root, entry) of everything that is not a folder. Without recursion: any depth is fine."""
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for entry in listing:
                if entry.name == b".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield os.path.relpath(entry.path, root), entry


def _compare(
    base: os.DirEntry[bytes] | None, head: os.DirEntry[bytes] | None, name: str, max_bytes: int
) -> FileChange | None:
    if base is not None and head is not None:
        if not (_is_regular(base) and _is_regular(head)):
            return None if _same_special(base, head) else FileChange(name, "special")
        if _same_bytes(base, head):
            return None
        return FileChange(name, "modified", None, _read(base, max_bytes), _read(head, max_bytes))
    only = base or head
    if only is None or not _is_regular(only):
        return FileChange(name, "special")
    if base is not None:
        return FileChange(name, "deleted", None, _read(base, max_bytes), None)
    return FileChange(name, "added", None, None, _read(only, max_bytes))


def _is_regular(entry: os.DirEntry[bytes]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _same_special(base: os.DirEntry[bytes], head: os.DirEntry[bytes]) -> bool:
    """Links that lead to the same place. Pipes, sockets and devices are never opened, and equal by their kind."""
    if base.is_symlink() and head.is_symlink():
        return _path(base).readlink() == _path(head).readlink()
    kinds = [stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode) for entry in (base, head)]
    return kinds[0] == kinds[1]


def _same_bytes(base: os.DirEntry[bytes], head: os.DirEntry[bytes]) -> bool:
    first, second = base.stat(follow_symlinks=False), head.stat(follow_symlinks=False)
    if first.st_size != second.st_size:
        return False
    if os.path.samestat(first, second):
        return True
    with _path(base).open("rb") as one, _path(head).open("rb") as other:
        while piece := one.read(PIECE):
            if piece != other.read(PIECE):
                return False
    return True


def _read(entry: os.DirEntry[bytes], max_bytes: int) -> bytes | None:
    if entry.stat(follow_symlinks=False).st_size > max_bytes:
        return None
    return _path(entry).read_bytes()


def _path(entry: os.DirEntry[bytes]) -> Path:
    return Path(os.fsdecode(entry.path))
