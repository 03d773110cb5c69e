"""The end of a program's output: bounded in memory and on disk, and safe to show."""

from __future__ import annotations

import re
from pathlib import Path

KEPT = 64 * 2**10  # bytes of a log
SHOWN = 4 * 2**10  # bytes of a tail that is shown
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


class TailLog:
    """Keeps the last `KEPT` bytes fed to it, in `file` as well, which may be read while it grows (to twice as much)."""

    def __init__(self, file: Path | None = None) -> None:
        self._kept = bytearray()
        self._file = file.open("wb") if file else None

    def feed(self, data: bytes) -> None:
        self._kept += data
        cut = len(self._kept) - KEPT
        if cut > 0:
            del self._kept[:cut]
        if self._file is None:
            return
        if self._file.tell() + len(data) > 2 * KEPT:
            self._file.seek(0)
            self._file.truncate()
            self._file.write(self._kept)
        else:
            self._file.write(data)
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def tail(self, limit: int = SHOWN) -> str:
        """The last whole lines within `limit` bytes, as `plain` text."""
        data = bytes(self._kept)
        if len(data) > limit:
            data = data[-limit:]
            data = data[data.find(b"\n") + 1 :]
        return plain(data)


def plain(data: bytes) -> str:
    """Text without terminal sequences and control characters; bytes that are no text become U+FFFD."""
    text = _ESCAPES.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in text if char in "\n\t" or char.isprintable()).strip("\n")
