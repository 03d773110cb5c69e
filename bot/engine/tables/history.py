"""What happened, read back: the log with its events, effects with their attempts, deliveries by GUID."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from bot.engine.port import StoreError
from bot.engine.tables import attempts
from bot.engine.tables.schema import FORMAT
from bot.engine.times import loaded, stored
from bot.engine.transaction import Tx
from bot.engine.views import ActView, History, MoveView, ReceivedView

_MOVE = "SELECT seq, key, at, kind, event, cause, reason FROM log"
_ACT = (
    "SELECT id, key, kind, scope, payload, status, attempts, due, created_at, claimed_at, ended_at, last_error, "
    "asked_by FROM effects"
)
_RECEIVED = "SELECT guid, event, received_at, status, attempts, error FROM deliveries"


def check_format(tx: Tx) -> None:
    """Raises StoreError where no process of a release that remembers attempts has opened the store yet."""
    (found,) = tx.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    if found < FORMAT:
        raise StoreError(
            f"the state is of an older release (format {found}, this one reads {FORMAT}): start this release's "
            "perf-gate serve with it once",
            transient=False,
        )


def of_key(tx: Tx, key: str) -> History:
    return History(tuple(moves(tx, key)), tuple(acts(tx, key)), tuple(attempts.of_key(tx, key)))


def moves(tx: Tx, key: str) -> list[MoveView]:
    """All an aggregate went through, oldest first."""
    return _moves(tx.execute(f"{_MOVE} WHERE key = ? ORDER BY seq", (key,)).fetchall())


def moves_of(tx: Tx, kinds: Collection[str], since: datetime | None = None) -> list[MoveView]:
    """Of every aggregate, the moves of these kinds, oldest first."""
    places = ", ".join("?" for _ in kinds)
    after = -1 if since is None else stored(since)
    rows = tx.execute(f"{_MOVE} WHERE kind IN ({places}) AND at >= ? ORDER BY seq", (*sorted(kinds), after))
    return _moves(rows.fetchall())


def moved_by(tx: Tx, cause: str) -> list[MoveView]:
    """What a cause such as `delivery:GUID` set in motion at once, in any aggregate."""
    return _moves(tx.execute(f"{_MOVE} WHERE cause = ? ORDER BY seq", (cause,)).fetchall())


def acts(tx: Tx, key: str) -> list[ActView]:
    """All effects of an aggregate, oldest first."""
    return [_act(row) for row in tx.execute(f"{_ACT} WHERE key = ? ORDER BY seq", (key,)).fetchall()]


def received(tx: Tx, guid: str) -> ReceivedView | None:
    row = tx.execute(f"{_RECEIVED} WHERE guid = ?", (guid,)).fetchone()
    if row is None:
        return None
    found, event, received_at, status, attempts, error = row
    return ReceivedView(found, event, loaded(received_at), status, attempts, error)


def _moves(rows: Sequence[Sequence[Any]]) -> list[MoveView]:
    return [
        MoveView(seq, key, loaded(at), kind, event, cause, reason) for seq, key, at, kind, event, cause, reason in rows
    ]


def _act(row: Sequence[Any]) -> ActView:
    effect_id, key, kind, scope, payload, status, attempts, due, created, claimed, ended, error, asked_by = row
    return ActView(
        id=effect_id,
        key=key,
        kind=kind,
        scope=scope,
        payload=payload,
        status=status,
        attempts=attempts,
        due=loaded(due),
        created_at=loaded(created),
        claimed_at=None if claimed is None else loaded(claimed),
        ended_at=None if ended is None else loaded(ended),
        last_error=error,
        asked_by=asked_by,
    )
