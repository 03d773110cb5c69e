"""The inbox: deliveries by GUID, and what becomes of those that cannot be handled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache

import msgspec

from bot.engine.port import Delivery
from bot.engine.times import stored
from bot.engine.transaction import Tx

GUID_KEPT = timedelta(days=7)
"""Longer than GitHub offers a delivery for redelivery (3 days), so none can be accepted a second time."""


_MOST_IN_ONE = 64
"""Deliveries in one statement."""


class Waiting(msgspec.Struct, frozen=True):
    """A delivery that is due; `attempts` already failed."""

    seq: int
    delivery: Delivery
    attempts: int


class Arrived(msgspec.Struct, frozen=True):
    delivery: Delivery
    at: datetime


class NotTogether(Exception):
    """Some of several deliveries are known: stored one at a time they tell which."""


def store(tx: Tx, arrived: Sequence[Arrived]) -> list[bool]:
    """For each, False where its GUID is known. A delivery without a body is handled by being known.

    Raises NotTogether, having written the others, where only some of several are.
    """
    added = 0
    for at in range(0, len(arrived), _MOST_IN_ONE):
        added += _insert(tx, arrived[at : at + _MOST_IN_ONE])
    if added not in (0, len(arrived)):
        raise NotTogether
    return [added > 0] * len(arrived)


def _insert(tx: Tx, arrived: Sequence[Arrived]) -> int:
    values: list[object] = []
    for one in arrived:
        delivery, at = one.delivery, stored(one.at)
        status = "handled" if delivery.body is None else "waiting"
        values += (delivery.guid, delivery.event, delivery.body, at, status, at)
    return tx.execute(_insertion(len(arrived)), values).rowcount


@cache
def _insertion(rows: int) -> str:
    """Few different statements, which the store then prepares once."""
    row = "(?, ?, ?, ?, ?, ?)"
    return (
        "INSERT INTO deliveries (guid, event, body, received_at, status, due) VALUES "
        f"{', '.join([row] * rows)} ON CONFLICT DO NOTHING"
    )


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
