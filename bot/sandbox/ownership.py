"""Handing a throw-away tree to the unprivileged user that its code runs as. Only root needs any of this."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

_ENTER = 0o001


def first_unreachable(paths: Sequence[Path]) -> Path | None:
    """The first folder that keeps an ordinary user from one of `paths`: on the way each must be enterable by others."""
    for path in paths:
        real = path.resolve()
        for parent in reversed(real.parents):
            if not parent.stat().st_mode & _ENTER:
                return parent
    return None


def give(tree: Path, user: int) -> None:
    """Make `user` the owner of the tree and all in it; links themselves, not what they lead to. The top comes last:
    where it belongs to the user, everything does."""
    if tree.stat().st_uid == user:
        return
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            os.chown(Path(folder, name), user, user, follow_symlinks=False)
    os.chown(tree, user, user)
