"""A copy of the database of a moment, made beside the running bot."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.engine.port import StoreError


def back_up(database: Path, target: Path) -> int:
    """Copy to `target`, which must not exist; it appears whole and on disk, or not at all. Returns its size in bytes.

    SQLite's own online copy: it reads one moment and holds up no writer. Raises StoreError.
    """
    if not database.is_file():
        raise StoreError(f"there is no database at {database}", transient=False)
    if target.exists():
        raise StoreError(f"{target} exists; name a file that does not", transient=False)
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        _copy(database, unfinished)
        _make_durable(unfinished)
        unfinished.rename(target)
        _make_durable(target.parent)
    except (sqlite3.Error, OSError) as error:
        unfinished.unlink(missing_ok=True)
        raise StoreError(f"{database} could not be copied to {target}: {error}", transient=False) from error
    return target.stat().st_size


def damage(connection: sqlite3.Connection) -> str | None:
    """What is wrong with the file's structure, in SQLite's words; None where it is sound. Reads all of it."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return None if found == "ok" else " ".join(str(found).split())


def _copy(database: Path, target: Path) -> None:
    # Nobody else may read it: it holds deliveries and states.
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    with (
        closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        # One file, that needs no other beside it.
        copy.execute("PRAGMA journal_mode = DELETE")
        if wrong := damage(copy):
            raise sqlite3.DatabaseError(f"the copy is damaged: {wrong}")
        # Of a file that was emptied or mixed up, a backup that is checked and tells nothing would be the last of all.
        if copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone() is None:
            raise sqlite3.DatabaseError("it holds no state of perf-gate")


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
