"""One process per database: an exclusive lock on a file beside it, held until the process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from bot.engine.port import CannotStart


class InUse(CannotStart):
    """Another process holds the lock; `holder` is its id, None where it has not written it yet."""

    def __init__(self, message: str, holder: int | None) -> None:
        super().__init__(message)
        self.holder = holder


class ProcessLock:
    """The kernel drops the lock when the process dies, however it dies. Children that exec do not inherit it."""

    def __init__(self, database: Path) -> None:
        """Take the lock. Raises InUse naming the process that holds it."""
        path = database.with_name(database.name + ".lock")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(self._descriptor)
            raise InUse(
                f"{database} is in use by process {holder} (lock file {path}); two processes on one database would do "
                "things twice: stop that one first",
                int(holder) if holder.isdecimal() else None,
            ) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._descriptor)
