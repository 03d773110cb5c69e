"""One process owns the whole file: nothing to settle with anybody."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from bot.engine.transaction import Tx


class Alone:
    """SQLite's `Sharing`: a write transaction excludes every other, and the file's lock every other process."""

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)
    passing: tuple[type[Exception], ...] = (sqlite3.OperationalError,)
    collisions: tuple[type[Exception], ...] = ()
    begin = "BEGIN IMMEDIATE"
    begin_reading = "BEGIN"
    empty = "x''"
    skip_locked = ""
    held_here = "TRUE"

    def lock(self, tx: Tx, key: str) -> None:
        """The transaction is the only one."""

    def lock_slot(self, tx: Tx, slot: str) -> None:
        """The transaction is the only one."""

    def lock_claims(self, tx: Tx) -> None:
        """The transaction is the only one."""

    def waits(self, tx: Tx, effect_id: str) -> None:
        """The row says it."""

    def claimed(self, tx: Tx, effect_id: str) -> None:
        """The row says it."""

    def ended(self, tx: Tx, effect_ids: Sequence[str]) -> None:
        """The row says it."""

    def told(self, tx: Tx, effect_ids: Sequence[str]) -> None:
        """Every performer is in this process, which hears of its own commits."""

    def orphans(self, tx: Tx) -> Sequence[str]:
        """Asked before the first claim of this process: whoever claimed these is gone."""
        rows = tx.execute("SELECT id FROM effects WHERE status = 'claimed' ORDER BY seq").fetchall()
        return [effect_id for (effect_id,) in rows]
