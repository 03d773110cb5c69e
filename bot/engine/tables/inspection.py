"""What is open in the tables, as the operator's views."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from bot.engine.tables import schema
from bot.engine.times import loaded
from bot.engine.transaction import Tx
from bot.engine.views import Counts, DeliveryView, EffectView, LogView, Overview, SlotView, StalledView, TimerView

_AT_ONCE = 500
"""GUIDs in one query: fewer than any release of either store takes parameters."""


def overview(tx: Tx) -> Overview:
    """In one transaction, so that the parts are of one moment."""
    return Overview(
        deliveries=_deliveries(tx),
        effects=_effects(tx),
        timers=_timers(tx),
        slots=_slots(tx),
        stalled=_stalled(tx),
    )


def state(tx: Tx, key: str) -> tuple[int, bytes] | None:
    """An aggregate's (schema, state)."""
    row: tuple[int, bytes] | None = tx.execute("SELECT schema, state FROM aggregates WHERE key = ?", (key,)).fetchone()
    return row


def states(tx: Tx) -> list[tuple[str, int, bytes]]:
    """Every aggregate's (key, schema, state), the one that moved last first."""
    return tx.execute("SELECT key, schema, state FROM aggregates ORDER BY updated_at DESC, key").fetchall()


def moved(tx: Tx) -> list[tuple[str, int]]:
    """Every aggregate's (key, when it moved), the one that moved last first; without the states, which may be large."""
    return tx.execute("SELECT key, updated_at FROM aggregates ORDER BY updated_at DESC, key").fetchall()


def pulse(tx: Tx) -> tuple[int, ...]:
    """Numbers that are others whenever something changed that an operator may see. By indexes alone."""
    row = tx.execute(
        "SELECT coalesce((SELECT max(seq) FROM log), 0), "
        "(SELECT count(*) FROM deliveries WHERE status = 'waiting'), "
        "(SELECT count(*) FROM deliveries WHERE status = 'dead'), "
        "(SELECT coalesce(sum(attempts * 1000 + 1), 0) FROM effects WHERE status = 'pending'), "
        "(SELECT coalesce(sum(seq), 0) FROM effects WHERE status = 'claimed'), "
        "(SELECT count(*) FROM effects WHERE status = 'dead'), "
        "(SELECT coalesce(sum(seq), 0) FROM slots)"
    ).fetchone()
    return tuple(map(int, row))


def open_effects(tx: Tx) -> dict[tuple[str, str], int]:
    """How many effects are open, by kind and status."""
    rows = tx.execute(
        "SELECT kind, status, count(*) FROM effects WHERE status = 'pending' GROUP BY kind, status UNION ALL "
        "SELECT kind, status, count(*) FROM effects WHERE status = 'claimed' GROUP BY kind, status"
    )
    return {(kind, status): count for kind, status, count in rows.fetchall()}


def check_release(tx: Tx, state_schema: int) -> None:
    """Raises CannotStart where a newer release has written the store; changes nothing."""
    meta = dict(tx.execute("SELECT name, value FROM meta").fetchall())
    schema.check(meta, schema.first_meta(state_schema))


def counts(tx: Tx) -> Counts:
    """By indexes alone, however much is parked: asked every few seconds."""
    oldest, *dead = tx.execute(
        "SELECT (SELECT min(received_at) FROM deliveries WHERE status = 'waiting'), "
        "(SELECT count(*) FROM deliveries WHERE status = 'dead'), "
        "(SELECT count(*) FROM effects WHERE status = 'dead'), "
        "(SELECT count(*) FROM stalled WHERE dead = 1)"
    ).fetchone()
    return Counts(None if oldest is None else loaded(oldest), *dead)


def log(tx: Tx, key: str) -> tuple[LogView, ...]:
    """All an aggregate went through, oldest first."""
    rows = tx.execute("SELECT key, at, kind, cause, reason FROM log WHERE key = ? ORDER BY seq", (key,))
    return tuple(LogView(key, loaded(at), kind, cause, reason) for key, at, kind, cause, reason in rows.fetchall())


def unheard(tx: Tx, guids: Collection[str]) -> frozenset[str]:
    """Those of these GUIDs that no delivery has."""
    asked = sorted(guids)
    heard: set[str] = set()
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        places = ", ".join("?" for _ in some)
        rows = tx.execute(f"SELECT guid FROM deliveries WHERE guid IN ({places})", some)
        heard.update(guid for (guid,) in rows.fetchall())
    return frozenset(guids) - heard


def _deliveries(tx: Tx) -> tuple[DeliveryView, ...]:
    rows = tx.execute(
        "SELECT guid, event, received_at, attempts, error, due, status FROM deliveries "
        "WHERE status = 'waiting' UNION ALL "
        "SELECT guid, event, received_at, attempts, error, due, status FROM deliveries WHERE status = 'dead' "
        "ORDER BY received_at, guid"
    )
    return tuple(
        DeliveryView(guid, event, loaded(received), attempts, error, loaded(due), status == "dead")
        for guid, event, received, attempts, error, due, status in rows.fetchall()
    )


def _effects(tx: Tx) -> tuple[EffectView, ...]:
    columns = (
        "SELECT id, key, kind, lane, partition, scope, status, revoked, attempts, due, last_error, created_at, seq "
        "FROM effects"
    )
    rows = tx.execute(
        f"{columns} WHERE status IN ('pending', 'claimed') UNION ALL {columns} WHERE status = 'dead' ORDER BY seq"
    )
    return tuple(_effect(row) for row in rows.fetchall())


def _effect(row: Sequence[Any]) -> EffectView:
    effect_id, key, kind, lane, partition, scope, status, revoked, attempts, due, error, created, _ = row
    return EffectView(
        id=effect_id,
        key=key,
        kind=kind,
        lane=lane,
        partition=partition,
        scope=scope,
        status=status,
        revoked=bool(revoked),
        attempts=attempts,
        due=loaded(due),
        last_error=error,
        created_at=loaded(created),
    )


def _timers(tx: Tx) -> tuple[TimerView, ...]:
    rows = tx.execute("SELECT key, name, due FROM timers ORDER BY due, seq")
    return tuple(TimerView(key, name, loaded(due)) for key, name, due in rows.fetchall())


def _slots(tx: Tx) -> tuple[SlotView, ...]:
    rows = tx.execute("SELECT slot, holder, key, granted FROM slots ORDER BY slot, seq")
    return tuple(SlotView(slot, holder, key, bool(granted)) for slot, holder, key, granted in rows.fetchall())


def _stalled(tx: Tx) -> tuple[StalledView, ...]:
    rows = tx.execute("SELECT key, cause, attempts, error, due, dead FROM stalled ORDER BY seq")
    return tuple(
        StalledView(key, cause, attempts, error, loaded(due), bool(dead))
        for key, cause, attempts, error, due, dead in rows.fetchall()
    )
