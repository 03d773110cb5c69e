"""The outbox: effects from their insertion in a transition to their end.

`ended_at IS NULL` beside an open status is what lets SQLite use the index of an aggregate's open effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.engine.policy import Lane
from bot.engine.port import Effect, EffectRequest
from bot.engine.times import loaded, stored
from bot.engine.transaction import Tx

PAYLOAD_KEPT = timedelta(days=7)
"""After its end an effect's payload is of use to whoever looks into it; its id stays for all time."""

_EFFECT = "SELECT id, key, kind, payload, scope, attempts, created_at FROM effects"


def insert(tx: Tx, key: str, lane: str, request: EffectRequest, asked_by: int, now: datetime) -> None:
    """Add an effect, unless its id was ever added or an unclaimed one of the same `coalesce` name waits.

    `asked_by`: the log's row that it comes from.
    """
    due = stored(now if request.due is None else request.due)
    if request.coalesce:
        # Held until the commit: claimed before it, the effect would be performed without what is asked for now. One
        # that another process is just claiming waits no more.
        waiting = tx.execute(
            "SELECT seq, attempts FROM effects WHERE key = ? AND coalesce_as = ? AND status = 'pending' "
            f"AND ended_at IS NULL LIMIT 1 {tx.sharing.skip_locked}",
            (key, request.coalesce),
        ).fetchone()
        if waiting is not None:
            # A tried one keeps its wait: that is its back-off.
            tx.execute("UPDATE effects SET due = ? WHERE seq = ? AND attempts = 0 AND due > ?", (due, waiting[0], due))
            return
    added = tx.execute(
        "INSERT INTO effects (id, key, kind, lane, partition, scope, coalesce_as, payload, status, due, created_at, "
        "asked_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (
            request.id,
            key,
            request.kind,
            lane,
            request.partition,
            request.scope,
            request.coalesce,
            msgspec.json.encode(request.payload),
            due,
            stored(now),
            asked_by,
        ),
    )
    if added.rowcount:
        tx.sharing.waits(tx, request.id)


def revoke(tx: Tx, key: str, scope: str, now: datetime) -> None:
    """Cancel the unclaimed effects of the scope; mark the claimed ones and have their performers told."""
    cancelled = tx.execute(
        "UPDATE effects SET status = 'cancelled', revoked = 1, ended_at = ? "
        "WHERE key = ? AND scope = ? AND status = 'pending' AND ended_at IS NULL RETURNING id",
        (stored(now), key, scope),
    ).fetchall()
    tx.sharing.ended(tx, [effect_id for (effect_id,) in cancelled])
    told = tx.execute(
        "UPDATE effects SET revoked = 1 WHERE key = ? AND scope = ? AND status = 'claimed' AND revoked = 0 "
        f"AND ended_at IS NULL RETURNING id, CASE WHEN {tx.sharing.held_here} THEN 1 ELSE 0 END",
        (key, scope),
    ).fetchall()
    tx.sharing.told(tx, [effect_id for effect_id, _ in told])
    tx.revoked.extend(effect_id for effect_id, here in told if here)


def claim(tx: Tx, lanes: Iterable[Lane], now: datetime) -> list[Effect]:
    """Claim what is due, oldest first, as far as each partition of each lane has room.

    Coalesced effects are single-flight: while one runs, the next of its aggregate and name waits.
    """
    tx.sharing.lock_claims(tx)
    claimed: list[Effect] = []
    for lane in lanes:
        partitions = tx.execute(
            "SELECT DISTINCT partition FROM effects WHERE status = 'pending' AND lane = ? AND due <= ? "
            "ORDER BY partition",
            (lane.name, stored(now)),
        ).fetchall()
        for (partition,) in partitions:
            (running,) = tx.execute(
                "SELECT count(*) FROM effects WHERE status = 'claimed' AND lane = ? AND partition = ?",
                (lane.name, partition),
            ).fetchone()
            while running < lane.limit and (effect := _claim_next(tx, lane.name, partition, now)):
                claimed.append(effect)
                running += 1
    return claimed


def _claim_next(tx: Tx, lane: str, partition: str, now: datetime) -> Effect | None:
    row = tx.execute(
        "SELECT id, claimed_at FROM effects AS waiting "
        "WHERE status = 'pending' AND lane = ? AND partition = ? AND due <= ? "
        "AND (coalesce_as = '' OR NOT EXISTS (SELECT 1 FROM effects AS running WHERE running.key = waiting.key "
        "AND running.coalesce_as = waiting.coalesce_as AND running.status = 'claimed' AND running.ended_at IS NULL)) "
        f"ORDER BY due, seq LIMIT 1 {tx.sharing.skip_locked}",
        (lane, partition, stored(now)),
    ).fetchone()
    if row is None:
        return None
    tx.execute(
        "UPDATE effects SET status = 'claimed', attempts = attempts + 1, claimed_at = ? WHERE id = ?",
        (stored(now), row[0]),
    )
    tx.sharing.claimed(tx, row[0])
    return replace(one(tx, row[0]), first=row[1] is None)


def one(tx: Tx, effect_id: str) -> Effect:
    return _effect(tx.execute(f"{_EFFECT} WHERE id = ?", (effect_id,)).fetchone())


def _effect(row: Sequence[Any]) -> Effect:
    effect_id, key, kind, payload, scope, attempts, created_at = row
    return Effect(effect_id, key, kind, msgspec.json.decode(payload), scope, attempts, loaded(created_at))


def is_held(tx: Tx, effect: Effect) -> bool:
    """Whether this attempt still is the effect's claim: a process taken for dead may come back with an outcome."""
    tx.sharing.lock(tx, effect.key)
    held: tuple[int] = tx.execute(
        "SELECT count(*) FROM effects WHERE id = ? AND status = 'claimed' AND attempts = ?", (effect.id, effect.attempt)
    ).fetchone()
    return bool(held[0])


def is_revoked(tx: Tx, effect: Effect) -> bool:
    (revoked,) = tx.execute("SELECT revoked FROM effects WHERE id = ?", (effect.id,)).fetchone()
    return bool(revoked)


def end(tx: Tx, effect: Effect, status: str, now: datetime, error: str | None = None) -> None:
    """`status`: done, failed, cancelled or dead."""
    tx.execute(
        "UPDATE effects SET status = ?, ended_at = ?, last_error = coalesce(?, last_error) WHERE id = ?",
        (status, stored(now), error, effect.id),
    )
    tx.sharing.ended(tx, [effect.id])


def retry(tx: Tx, effect: Effect, error: str, due: datetime) -> None:
    """Back to waiting; the attempt counts."""
    tx.execute(
        "UPDATE effects SET status = 'pending', due = ?, last_error = ? WHERE id = ?", (stored(due), error, effect.id)
    )
    tx.sharing.waits(tx, effect.id)


def hand_back(tx: Tx) -> int:
    """Unclaim what this process stops in good order; such an attempt does not count. Returns how many.

    When it was claimed stays known: it may have acted (`Effect.first`).
    """
    handed_back = tx.execute(
        "UPDATE effects SET status = 'pending', attempts = attempts - 1 WHERE status = 'claimed' AND revoked = 0 "
        f"AND {tx.sharing.held_here} RETURNING id"
    ).fetchall()
    for (effect_id,) in handed_back:
        tx.sharing.waits(tx, effect_id)
    return len(handed_back)


def adopt_registry(tx: Tx, lane_of: dict[str, str]) -> set[str]:
    """Move waiting effects to the lanes of today's registry; returns kinds it does not know."""
    kinds = tx.execute("SELECT DISTINCT kind FROM effects WHERE status IN ('pending', 'claimed')").fetchall()
    for (kind,) in kinds:
        if lane := lane_of.get(kind):
            tx.execute(
                "UPDATE effects SET lane = ? WHERE kind = ? AND status IN ('pending', 'claimed') AND lane <> ?",
                (lane, kind, lane),
            )
    return {kind for (kind,) in kinds} - set(lane_of)


def revive(tx: Tx, now: datetime) -> None:
    """Dead effects are performed again: their performers look before they act."""
    revived = tx.execute(
        "UPDATE effects SET status = 'pending', attempts = 0, due = ?, ended_at = NULL WHERE status = 'dead' "
        "RETURNING id",
        (stored(now),),
    ).fetchall()
    for (effect_id,) in revived:
        tx.sharing.waits(tx, effect_id)


def sweep(tx: Tx, now: datetime) -> None:
    """Drop the payloads of effects that ended long ago."""
    tx.execute(
        f"UPDATE effects SET payload = {tx.sharing.empty} WHERE ended_at < ? AND status <> 'dead' "
        f"AND ended_at IS NOT NULL AND payload <> {tx.sharing.empty}",
        (stored(now - PAYLOAD_KEPT),),
    )
