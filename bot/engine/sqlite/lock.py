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


_LOCKS = Path("/proc/locks")


def is_held(database: Path) -> bool | None:
    """Whether a process of this machine holds the lock, found without a touch: trying it could refuse one that starts.

    None where it cannot be seen.
    """
    path = database.with_name(database.name + ".lock")
    try:
        holder, inode = path.read_text("utf-8").strip(), path.stat().st_ino
        known = _LOCKS.read_text("utf-8")
    except FileNotFoundError as error:
        return False if error.filename == str(path) else None
    except (OSError, UnicodeDecodeError):
        return None
    # As `proc_locks(5)` has it: number, FLOCK, ADVISORY, WRITE, process, major:minor:inode, start, end.
    rows = (line.split() for line in known.splitlines())
    return any(
        len(row) >= 6
        and (row[1], row[3], row[4]) == ("FLOCK", "WRITE", holder)
        and row[5].rpartition(":")[2] == str(inode)
        for row in rows
    )


class ProcessLock:
    """The kernel drops the lock when the process dies, however it dies. Children that exec do not inherit it."""

    def __init__(self, database: Path) -> None:
        """Take the lock. Raises InUse naming the process that holds it, and CannotStart where its id cannot be kept."""
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
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(self._descriptor)
            raise CannotStart(f"{path} cannot be written: {error.strerror}") from error

    def release(self) -> None:
        os.close(self._descriptor)
