"""Removing a folder that hostile code has filled: links are never followed, depth and permissions do not matter."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path


def remove_tree(folder: Path) -> None:
    """Remove a folder and all below it; nothing when it is not there. A link by its name is removed, not followed.

    Every subfolder is first moved up to the top and emptied there: code can nest folders deeper than a recursion or
    PATH_MAX reaches. Raises OSError when something cannot be removed.
    """
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
        return
    if not folder.exists():
        return
    folder.chmod(0o700)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        numbers = count()
        waiting = _empty(top, top, numbers)
        while waiting:
            name = waiting.pop()
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                waiting += _empty(inner, top, numbers)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    folder.rmdir()


def _empty(folder: int, top: int, numbers: count[int]) -> list[str]:
    """Unlink the files of an open folder and move its subfolders to `top`; their new names there."""
    moved = []
    with os.scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.name, dir_fd=folder)
            continue
        # Moving a folder rewrites its "..", which needs permission to write in it.
        os.chmod(entry.name, 0o700, dir_fd=folder)
        moved.append(_move(entry.name, folder, top, numbers))
    return moved


def _move(name: str, folder: int, top: int, numbers: count[int]) -> str:
    """Rename to a name that is free in `top`: a rename would silently replace an empty folder that has it."""
    fresh = next(free for number in numbers if not _exists(free := f"removing-{number}", top))
    os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=top)
    return fresh


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
