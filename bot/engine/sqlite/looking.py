"""A look into the file from outside, beside the process that owns it or after its crash: no writing, no lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bot.engine.port import StoreError
from bot.engine.sqlite.alone import Alone
from bot.engine.tables import inspection
from bot.engine.transaction import Tx

_BUSY_SECONDS = 5.0
"""A start after a crash holds readers up for the moment in which it reads the write-ahead log."""


@contextmanager
def looking(path: Path, state_schema: int) -> Iterator[Tx]:
    """One moment of the store. Raises CannotStart (of a newer release) and StoreError (not there, not readable)."""
    if not path.is_file():
        raise StoreError(f"there is no state at {path}: no perf-gate serve has run with this folder", transient=False)
    try:
        # SQLite itself needs to write beside the file: the index of the write-ahead log, shared with the owner.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)) as opened:
            opened.isolation_level = None
            tx = Tx(opened, Alone())
            tx.execute(tx.sharing.begin_reading)
            inspection.check_release(tx, state_schema)
            yield tx
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read: {error}; {_advice(error)}", transient=False) from error


def _advice(error: sqlite3.Error) -> str:
    if "no such table" in str(error):
        return "it is not perf-gate's, or no perf-gate serve has finished starting with it"
    return "look as the user that runs perf-gate serve, or restore a backup where it is damaged"
