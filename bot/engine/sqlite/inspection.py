"""What is open in the tables, as the operator's views."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from bot.engine.sqlite.times import loaded
from bot.engine.views import DeliveryView, EffectView, LogView, Overview, SlotView, StalledView, TimerView


def overview(connection: sqlite3.Connection) -> Overview:
    # One read transaction, so that the parts are of one moment.
    connection.execute("BEGIN")
    try:
        return Overview(
            deliveries=_deliveries(connection),
            effects=_effects(connection),
            timers=_timers(connection),
            slots=_slots(connection),
            stalled=_stalled(connection),
        )
    finally:
        connection.execute("COMMIT")


def log(connection: sqlite3.Connection, key: str) -> tuple[LogView, ...]:
    """All an aggregate went through, oldest first."""
    rows = connection.execute("SELECT key, at, kind, cause, reason FROM log WHERE key = ? ORDER BY seq", (key,))
    return tuple(LogView(key, loaded(at), kind, cause, reason) for key, at, kind, cause, reason in rows)


def unheard(connection: sqlite3.Connection, guids: Collection[str]) -> frozenset[str]:
    """Those of these GUIDs that no delivery has."""
    listed = json.dumps(sorted(guids))
    rows = connection.execute("SELECT guid FROM deliveries WHERE guid IN (SELECT value FROM json_each(?))", (listed,))
    return frozenset(guids) - {guid for (guid,) in rows}


def _deliveries(connection: sqlite3.Connection) -> tuple[DeliveryView, ...]:
    rows = connection.execute(
        "SELECT guid, event, received_at, attempts, error, due, status FROM deliveries "
        "WHERE status = 'waiting' UNION ALL "
        "SELECT guid, event, received_at, attempts, error, due, status FROM deliveries WHERE status = 'dead'"
    )
    return tuple(
        DeliveryView(guid, event, loaded(received), attempts, error, loaded(due), status == "dead")
        for guid, event, received, attempts, error, due, status in rows
    )


def _effects(connection: sqlite3.Connection) -> tuple[EffectView, ...]:
    columns = (
        "SELECT id, key, kind, lane, partition, scope, status, revoked, attempts, due, last_error, created_at, seq "
        "FROM effects"
    )
    rows = connection.execute(
        f"{columns} WHERE status IN ('pending', 'claimed') UNION ALL {columns} WHERE status = 'dead' ORDER BY seq"
    )
    return tuple(_effect(row) for row in rows)


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


def _timers(connection: sqlite3.Connection) -> tuple[TimerView, ...]:
    rows = connection.execute("SELECT key, name, due FROM timers ORDER BY due, seq")
    return tuple(TimerView(key, name, loaded(due)) for key, name, due in rows)


def _slots(connection: sqlite3.Connection) -> tuple[SlotView, ...]:
    rows = connection.execute("SELECT slot, holder, key, granted FROM slots ORDER BY slot, seq")
    return tuple(SlotView(slot, holder, key, bool(granted)) for slot, holder, key, granted in rows)


def _stalled(connection: sqlite3.Connection) -> tuple[StalledView, ...]:
    rows = connection.execute("SELECT key, cause, attempts, error, due, dead FROM stalled ORDER BY seq")
    return tuple(
        StalledView(key, cause, attempts, error, loaded(due), bool(dead))
        for key, cause, attempts, error, due, dead in rows
    )
