"""Reviving from outside what a file's engine gave up: through the process that owns it, or, where none does, directly.

Nobody but the owner of the lock ever writes the file. The owner is asked by a signal, whose effect is then read.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from bot.engine.desk import revive
from bot.engine.port import StoreError
from bot.engine.signals import REVIVE_SIGNAL
from bot.engine.sqlite.alone import Alone
from bot.engine.sqlite.database import connect
from bot.engine.sqlite.lock import InUse, ProcessLock
from bot.engine.transaction import Tx


def revive_or_ask(path: Path, now: datetime) -> int | None:
    """Revive; where a process runs, ask it to, and return its id. Raises StoreError."""
    try:
        lock = ProcessLock(path)
    except InUse as used:
        if used.holder is None:
            raise StoreError("the bot is just starting; try again in a moment", transient=True) from used
        try:
            # The lock is held now, so this id is its owner's and no later process's.
            os.kill(used.holder, REVIVE_SIGNAL)
        except (ProcessLookupError, PermissionError) as error:
            raise StoreError(
                f"perf-gate serve runs as process {used.holder}, which cannot be asked from here "
                f"({error.strerror}); run this on its machine and as its user",
                transient=False,
            ) from error
        return used.holder
    try:
        with closing(connect(path)) as connection:
            tx = Tx(connection, Alone())
            tx.execute(tx.sharing.begin)
            revive(tx, now)
            tx.execute("COMMIT")
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be written: {error}", transient=False) from error
    finally:
        lock.release()
    return None
