"""The outbox: effects from their insertion in a transition to their end.

`ended_at IS NULL` beside an open status is what lets SQLite use the index of an aggregate's open effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from bot.engine.port import Effect, EffectRequest, Lane
from bot.engine.sqlite.times import loaded, stored
from bot.engine.sqlite.transaction import Tx

PAYLOAD_KEPT = timedelta(days=7)
"""After its end an effect's payload is of use to whoever looks into it; its id stays for all time."""

_EFFECT = "SELECT id, key, kind, payload, scope, attempts, created_at FROM effects"


def insert(tx: Tx, key: str, lane: str, request: EffectRequest, now: datetime) -> None:
    """Add an effect, unless its id was ever added or an unclaimed one of the same `coalesce` name waits."""
    due = stored(now if request.due is None else request.due)
    if request.coalesce:
        waiting = tx.connection.execute(
            "SELECT seq, attempts FROM effects WHERE key = ? AND coalesce_as = ? AND status = 'pending' "
            "AND ended_at IS NULL",
            (key, request.coalesce),
        ).fetchone()
        if waiting is not None:
            # A tried one keeps its wait: that is its back-off.
            tx.connection.execute(
                "UPDATE effects SET due = min(due, ?) WHERE seq = ? AND attempts = 0", (due, waiting[0])
            )
            return
    payload = msgspec.json.encode(request.payload)
    tx.connection.execute(
        "INSERT OR IGNORE INTO effects (id, key, kind, lane, partition, scope, coalesce_as, payload, status, due, "
        "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
        (
            request.id,
            key,
            request.kind,
            lane,
            request.partition,
            request.scope,
            request.coalesce,
            payload,
            due,
            stored(now),
        ),
    )


def revoke(tx: Tx, key: str, scope: str, now: datetime) -> None:
    """Cancel the unclaimed effects of the scope; mark the claimed ones and have their performers told."""
    tx.connection.execute(
        "UPDATE effects SET status = 'cancelled', revoked = 1, ended_at = ? "
        "WHERE key = ? AND scope = ? AND status = 'pending' AND ended_at IS NULL",
        (stored(now), key, scope),
    )
    told = tx.connection.execute(
        "UPDATE effects SET revoked = 1 WHERE key = ? AND scope = ? AND status = 'claimed' AND NOT revoked "
        "AND ended_at IS NULL RETURNING id",
        (key, scope),
    ).fetchall()
    tx.revoked.extend(effect_id for (effect_id,) in told)


def claim(tx: Tx, lanes: Iterable[Lane], now: datetime) -> list[Effect]:
    """Claim what is due, oldest first, as far as each partition of each lane has room."""
    claimed: list[Effect] = []
    for lane in lanes:
        rooms = tx.connection.execute(
            "SELECT partition, (SELECT count(*) FROM effects AS running WHERE running.status = 'claimed' "
            "AND running.lane = waiting.lane AND running.partition = waiting.partition) "
            "FROM effects AS waiting WHERE status = 'pending' AND lane = ? AND due <= ? GROUP BY partition",
            (lane.name, stored(now)),
        ).fetchall()
        for partition, running in rooms:
            if running < lane.limit:
                claimed += _claim(tx, lane.name, partition, lane.limit - running, now)
    return claimed


def _claim(tx: Tx, lane: str, partition: str, most: int, now: datetime) -> list[Effect]:
    ids = tx.connection.execute(
        "SELECT id FROM effects WHERE status = 'pending' AND lane = ? AND partition = ? AND due <= ? "
        "ORDER BY due, seq LIMIT ?",
        (lane, partition, stored(now), most),
    ).fetchall()
    tx.connection.executemany(
        "UPDATE effects SET status = 'claimed', attempts = attempts + 1, claimed_at = ? WHERE id = ?",
        [(stored(now), effect_id) for (effect_id,) in ids],
    )
    return [_one(tx, effect_id) for (effect_id,) in ids]


def _one(tx: Tx, effect_id: str) -> Effect:
    row = tx.connection.execute(f"{_EFFECT} WHERE id = ?", (effect_id,)).fetchone()
    return _effect(row)


def _effect(row: Sequence[Any]) -> Effect:
    effect_id, key, kind, payload, scope, attempts, created_at = row
    return Effect(effect_id, key, kind, msgspec.json.decode(payload), scope, attempts, loaded(created_at))


def is_revoked(tx: Tx, effect: Effect) -> bool:
    (revoked,) = tx.connection.execute("SELECT revoked FROM effects WHERE id = ?", (effect.id,)).fetchone()
    return bool(revoked)


def end(tx: Tx, effect: Effect, status: str, now: datetime, error: str | None = None) -> None:
    """`status`: done, failed, cancelled or dead."""
    tx.connection.execute(
        "UPDATE effects SET status = ?, ended_at = ?, last_error = coalesce(?, last_error) WHERE id = ?",
        (status, stored(now), error, effect.id),
    )


def retry(tx: Tx, effect: Effect, error: str, due: datetime) -> None:
    tx.connection.execute(
        "UPDATE effects SET status = 'pending', due = ?, last_error = ? WHERE id = ?", (stored(due), error, effect.id)
    )


def hand_back(tx: Tx) -> int:
    """Unclaim what this process stops in good order; such an attempt does not count. Returns how many."""
    return tx.connection.execute(
        "UPDATE effects SET status = 'pending', attempts = attempts - 1 WHERE status = 'claimed' AND NOT revoked"
    ).rowcount


def orphans(tx: Tx) -> tuple[list[Effect], list[Effect]]:
    """Effects claimed by a process that died: (to be performed again, revoked meanwhile and not to be)."""
    rows = tx.connection.execute(
        "SELECT id, key, kind, payload, scope, attempts, created_at, revoked FROM effects WHERE status = 'claimed' "
        "ORDER BY seq"
    ).fetchall()
    return [_effect(row[:-1]) for row in rows if not row[-1]], [_effect(row[:-1]) for row in rows if row[-1]]


def unclaim(tx: Tx, effect: Effect) -> None:
    """Back to waiting; the attempt that died counts."""
    tx.connection.execute("UPDATE effects SET status = 'pending' WHERE id = ?", (effect.id,))


def adopt_registry(tx: Tx, lane_of: dict[str, str]) -> set[str]:
    """Move waiting effects to the lanes of today's registry; returns kinds it does not know."""
    kinds = tx.connection.execute("SELECT DISTINCT kind FROM effects WHERE status IN ('pending', 'claimed')").fetchall()
    for (kind,) in kinds:
        if lane := lane_of.get(kind):
            tx.connection.execute(
                "UPDATE effects SET lane = ? WHERE kind = ? AND status IN ('pending', 'claimed') AND lane <> ?",
                (lane, kind, lane),
            )
    return {kind for (kind,) in kinds} - set(lane_of)


def revive(tx: Tx, now: datetime) -> None:
    """Dead effects are performed again: their performers look before they act."""
    tx.connection.execute(
        "UPDATE effects SET status = 'pending', attempts = 0, due = ?, ended_at = NULL WHERE status = 'dead'",
        (stored(now),),
    )


def sweep(tx: Tx, now: datetime) -> None:
    """Drop the payloads of effects that ended long ago."""
    tx.connection.execute(
        "UPDATE effects SET payload = x'' WHERE ended_at < ? AND status <> 'dead' "
        "AND ended_at IS NOT NULL AND payload <> x''",
        (stored(now - PAYLOAD_KEPT),),
    )
