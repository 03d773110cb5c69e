"""The inbox: deliveries by GUID, and what becomes of those that cannot be handled."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class Arrived:
    delivery: Delivery
    at: datetime


def store(tx: Tx, arrived: Sequence[Arrived]) -> list[bool]:
    """For each, False where its GUID is known. A delivery without a body is handled by being known."""
    guids = [one.delivery.guid for one in arrived]
    if len(arrived) > 1 and (len(set(guids)) < len(guids) or _known(tx, guids)):
        return [added for one in arrived for added in store(tx, [one])]
    results: list[bool] = []
    while rest := arrived[len(results) :]:
        # Few different statements, which the store then prepares once.
        together = rest[: 1 << (len(rest).bit_length() - 1)]
        added = _insert(tx, together)
        if added not in (0, len(together)):
            raise RuntimeError("another process took some of these in between: one at a time tells which")
        results += [added > 0] * len(together)
    return results


def _known(tx: Tx, guids: Sequence[str]) -> bool:
    padded = [*guids, *[guids[0]] * ((1 << (len(guids) - 1).bit_length()) - len(guids))]
    sql = f"SELECT 1 FROM deliveries WHERE guid IN ({', '.join('?' * len(padded))}) LIMIT 1"
    return tx.execute(sql, padded).fetchone() is not None


def _insert(tx: Tx, arrived: Sequence[Arrived]) -> int:
    row = "(?, ?, ?, ?, ?, ?)"
    sql = (
        "INSERT INTO deliveries (guid, event, body, received_at, status, due) VALUES "
        f"{', '.join([row] * len(arrived))} ON CONFLICT DO NOTHING"
    )
    values: list[object] = []
    for one in arrived:
        delivery, at = one.delivery, stored(one.at)
        status = "handled" if delivery.body is None else "waiting"
        values += (delivery.guid, delivery.event, delivery.body, at, status, at)
    return tx.execute(sql, values).rowcount


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
