"""What is known of the package around a change: who reads a name may live in a file that the diff does not touch."""

from __future__ import annotations

import msgspec


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


def whole(base: dict[str, bytes], head: dict[str, bytes], package_root: str) -> PackageView | None:
    """The view, or None where a side holds no `__init__.py`: an extract proves nothing about the whole."""
    entry = package_root.rstrip("/") + "/__init__.py"
    return PackageView(base, head) if entry in base and entry in head else None
