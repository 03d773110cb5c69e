"""Timers: rows with an absolute due time."""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.engine.times import stored
from bot.engine.transaction import Tx


class DueTimer(msgspec.Struct, frozen=True):
    key: str
    name: str
    event: bytes


def set_timer(tx: Tx, key: str, name: str, due: datetime, event: bytes) -> None:
    """Replaces a timer of the same name."""
    cancel_timer(tx, key, name)
    tx.execute("INSERT INTO timers (key, name, due, event) VALUES (?, ?, ?, ?)", (key, name, stored(due), event))


def cancel_timer(tx: Tx, key: str, name: str) -> None:
    tx.execute("DELETE FROM timers WHERE key = ? AND name = ?", (key, name))


def next_due(tx: Tx, now: datetime) -> tuple[int, str] | None:
    """(seq, key) of the timer that is due the longest; one at a time, since its event may cancel the next."""
    row: tuple[int, str] | None = tx.execute(
        "SELECT seq, key FROM timers WHERE due <= ? ORDER BY due, seq LIMIT 1", (stored(now),)
    ).fetchone()
    return row


def take(tx: Tx, seq: int, key: str) -> DueTimer | None:
    """Remove the timer to fire it; None where another process fired or cancelled it.

    The aggregate is locked before the timer, here and wherever one moves, so that no two wait for each other.
    """
    tx.sharing.lock(tx, key)
    row = tx.execute("DELETE FROM timers WHERE seq = ? RETURNING key, name, event", (seq,)).fetchone()
    return DueTimer(*row) if row else None
