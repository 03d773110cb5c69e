"""Timers: rows with an absolute due time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.engine.sqlite.times import stored
from bot.engine.sqlite.transaction import Tx


@dataclass(frozen=True, slots=True)
class DueTimer:
    key: str
    name: str
    event: bytes


def set_timer(tx: Tx, key: str, name: str, due: datetime, event: bytes) -> None:
    """Replaces a timer of the same name."""
    cancel_timer(tx, key, name)
    tx.connection.execute(
        "INSERT INTO timers (key, name, due, event) VALUES (?, ?, ?, ?)", (key, name, stored(due), event)
    )


def cancel_timer(tx: Tx, key: str, name: str) -> None:
    tx.connection.execute("DELETE FROM timers WHERE key = ? AND name = ?", (key, name))


def take_due(tx: Tx, now: datetime) -> DueTimer | None:
    """Remove and return the timer that is due the longest; one at a time, since its event may cancel the next."""
    row = tx.connection.execute(
        "SELECT seq, key, name, event FROM timers WHERE due <= ? ORDER BY due, seq LIMIT 1", (stored(now),)
    ).fetchone()
    if row is None:
        return None
    tx.connection.execute("DELETE FROM timers WHERE seq = ?", row[:1])
    return DueTimer(*row[1:])
