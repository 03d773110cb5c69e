"""Events whose `step` raised: kept apart, so that what caused them need not happen again, and tried again."""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.engine.times import stored
from bot.engine.transaction import Tx


class Stalled(msgspec.Struct, frozen=True):
    """`attempts` already failed."""

    seq: int
    key: str
    event: bytes
    cause: str
    attempts: int


def keep(tx: Tx, key: str, event: bytes, cause: str, error: str, retry_at: datetime) -> None:
    tx.execute(
        "INSERT INTO stalled (key, event, cause, attempts, error, due) VALUES (?, ?, ?, 1, ?, ?)",
        (key, event, cause, error, stored(retry_at)),
    )


def next_due(tx: Tx, now: datetime) -> tuple[int, str] | None:
    """(seq, key) of the event that is due the longest."""
    row: tuple[int, str] | None = tx.execute(
        "SELECT seq, key FROM stalled WHERE dead = 0 AND due <= ? ORDER BY due, seq LIMIT 1", (stored(now),)
    ).fetchone()
    return row


def take(tx: Tx, seq: int, key: str, now: datetime) -> Stalled | None:
    """Lock the aggregate, then read the event; None where another process tried it meanwhile."""
    tx.sharing.lock(tx, key)
    row = tx.execute(
        "SELECT seq, key, event, cause, attempts FROM stalled WHERE seq = ? AND dead = 0 AND due <= ?",
        (seq, stored(now)),
    ).fetchone()
    return Stalled(*row) if row else None


def delivered(tx: Tx, event: Stalled) -> None:
    tx.execute("DELETE FROM stalled WHERE seq = ?", (event.seq,))


def failed(tx: Tx, event: Stalled, error: str, retry_at: datetime | None) -> None:
    """Keep it for another try, or (`retry_at` None) dead, for a human."""
    dead, due = (1, 0) if retry_at is None else (0, stored(retry_at))
    tx.execute(
        "UPDATE stalled SET dead = ?, due = ?, error = ?, attempts = attempts + 1 WHERE seq = ?",
        (dead, due, error, event.seq),
    )


def revive(tx: Tx, now: datetime) -> None:
    tx.execute("UPDATE stalled SET dead = 0, attempts = 0, due = ? WHERE dead = 1", (stored(now),))
