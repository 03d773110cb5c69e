"""Paths and sizes of the files of a change, whether they come from commits or from folders."""

from __future__ import annotations

MAX_FILE = 2 * 2**20  # bytes; no source file of the gated package comes near, larger ones are answered unread


def printable(path: bytes) -> str:
    """A path as text that JSON can carry: bytes that are not UTF-8 appear as \\xNN."""
    return path.decode("utf-8", "backslashreplace")
