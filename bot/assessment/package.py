"""What is known of the package around a change: who reads a name may live in a file that the diff does not touch."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from bot.assessment.model import FileChange

_PRIVATE = re.compile(rb"\b_[A-Za-z0-9]\w*")
_MEMBER = re.compile(rb"\bdef\s|^\s+\w+\s*(?:=[^=]|:)")
_CLASS = re.compile(rb"\bclass[ \t]+(\w+)")
# Files that tell people about names, and reach none.
_PROSE = (".md", ".rst", ".txt", ".lock")


class PackageView(msgspec.Struct, frozen=True):
    """Every Python file of the gated package on both sides, by repository path.

    Either side may be empty when it was not read: then nothing outside a changed file may be assumed. `outside` are
    names of the package that the head's other files write: its entry points, other packages, scripts and tests.
    """

    base: dict[str, bytes]
    head: dict[str, bytes]
    outside: frozenset[str] = frozenset()


def is_package_file(path: str, package_root: str) -> bool:
    """Is this path a Python file of the gated package?"""
    return path.startswith(package_root.rstrip("/") + "/") and path.endswith(".py")


def whole(
    base: dict[str, bytes], head: dict[str, bytes], package_root: str, outside: frozenset[str] = frozenset()
) -> PackageView | None:
    """The view, or None where a side holds no `__init__.py`: an extract proves nothing about the whole."""
    entry = package_root.rstrip("/") + "/__init__.py"
    return PackageView(base, head, outside) if entry in base and entry in head else None


def names_to_look_for(changes: Iterable[FileChange]) -> frozenset[str]:
    """What a proof may ask about files outside the package: private names of changed lines, and the classes of files
    that lost a member. Empty for most changes, and then nobody needs to look.
    """
    found: set[bytes] = set()
    for change in changes:
        if change.base is None or change.head is None or not change.path.endswith(".py"):
            continue
        lines = [set(side.splitlines()) for side in (change.base, change.head)]
        gone, new = lines[0] - lines[1], lines[1] - lines[0]
        found.update(name for line in (*gone, *new) for name in _PRIVATE.findall(line.partition(b"#")[0]))
        if any(_MEMBER.search(line) for line in gone):
            found.update(_CLASS.findall(change.base))
    return frozenset(name.decode("ascii") for name in found if name.isascii())


def reaches_by_name(path: str, package_root: str) -> bool:
    """May this file of the repository use names of the package? The package's own files are read whole anyway."""
    return not is_package_file(path, package_root) and not path.endswith(_PROSE)
