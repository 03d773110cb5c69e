"""The inbox: deliveries by GUID, and what becomes of those that cannot be handled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.engine.port import Delivery
from bot.engine.times import stored
from bot.engine.transaction import Tx

GUID_KEPT = timedelta(days=7)
"""Longer than GitHub offers a delivery for redelivery (3 days), so none can be accepted a second time."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A delivery that is due; `attempts` already failed."""

    seq: int
    delivery: Delivery
    attempts: int


def store(tx: Tx, delivery: Delivery, now: datetime) -> bool:
    """False when the GUID is known. A delivery without a body is handled by being known."""
    status = "handled" if delivery.body is None else "waiting"
    added = tx.execute(
        "INSERT INTO deliveries (guid, event, body, received_at, status, due) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (delivery.guid, delivery.event, delivery.body, stored(now), status, stored(now)),
    )
    return bool(added.rowcount)


def next_waiting(tx: Tx, now: datetime) -> Waiting | None:
    row = tx.execute(
        "SELECT seq, guid, event, body, attempts FROM deliveries WHERE status = 'waiting' AND due <= ? "
        f"ORDER BY due, seq LIMIT 1 {tx.sharing.skip_locked}",
        (stored(now),),
    ).fetchone()
    return Waiting(row[0], Delivery(*row[1:4]), row[4]) if row else None


def handled(tx: Tx, waiting: Waiting) -> None:
    tx.execute("UPDATE deliveries SET status = 'handled', body = NULL, error = NULL WHERE seq = ?", (waiting.seq,))


def failed(tx: Tx, waiting: Waiting, error: str, retry_at: datetime | None) -> None:
    """Keep it for another try, or (`retry_at` None) dead, with its body, for a human."""
    status, due = ("dead", 0) if retry_at is None else ("waiting", stored(retry_at))
    tx.execute(
        "UPDATE deliveries SET status = ?, due = ?, error = ?, attempts = attempts + 1 WHERE seq = ?",
        (status, due, error, waiting.seq),
    )


def revive(tx: Tx, now: datetime) -> None:
    tx.execute("UPDATE deliveries SET status = 'waiting', attempts = 0, due = ? WHERE status = 'dead'", (stored(now),))


def sweep(tx: Tx, now: datetime) -> None:
    """Forget handled GUIDs that can no longer come again."""
    tx.execute("DELETE FROM deliveries WHERE received_at < ? AND status = 'handled'", (stored(now - GUID_KEPT),))
