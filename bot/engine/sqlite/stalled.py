"""Events whose `step` raised: kept apart, so that what caused them need not happen again, and tried again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.engine.sqlite.times import stored
from bot.engine.sqlite.transaction import Tx


@dataclass(frozen=True, slots=True)
class Stalled:
    """`attempts` already failed."""

    seq: int
    key: str
    event: bytes
    cause: str
    attempts: int


def keep(tx: Tx, key: str, event: bytes, cause: str, error: str, retry_at: datetime) -> None:
    tx.connection.execute(
        "INSERT INTO stalled (key, event, cause, attempts, error, due) VALUES (?, ?, ?, 1, ?, ?)",
        (key, event, cause, error, stored(retry_at)),
    )


def next_stalled(tx: Tx, now: datetime) -> Stalled | None:
    row = tx.connection.execute(
        "SELECT seq, key, event, cause, attempts FROM stalled WHERE NOT dead AND due <= ? ORDER BY due, seq LIMIT 1",
        (stored(now),),
    ).fetchone()
    return Stalled(*row) if row else None


def delivered(tx: Tx, event: Stalled) -> None:
    tx.connection.execute("DELETE FROM stalled WHERE seq = ?", (event.seq,))


def failed(tx: Tx, event: Stalled, error: str, retry_at: datetime | None) -> None:
    """Keep it for another try, or (`retry_at` None) dead, for a human."""
    dead, due = (1, 0) if retry_at is None else (0, stored(retry_at))
    tx.connection.execute(
        "UPDATE stalled SET dead = ?, due = ?, error = ?, attempts = attempts + 1 WHERE seq = ?",
        (dead, due, error, event.seq),
    )


def revive(tx: Tx, now: datetime) -> None:
    tx.connection.execute("UPDATE stalled SET dead = 0, attempts = 0, due = ? WHERE dead", (stored(now),))
