"""Slots: one holder each, others wait in order of asking."""

from __future__ import annotations

import msgspec

from bot.engine.transaction import Tx


class Grant(msgspec.Struct, frozen=True):
    """A slot just became this aggregate's; the event must be delivered in the same transaction."""

    slot: str
    key: str
    event: bytes


def acquire(tx: Tx, key: str, slot: str, holder: str, event: bytes) -> Grant | None:
    """Take the slot, or wait for it. Asking again under a holder that holds or waits already changes nothing."""
    tx.sharing.lock_slot(tx, slot)
    asked = tx.execute(
        "INSERT INTO slots (slot, holder, key, granted, event) VALUES (?, ?, ?, 0, ?) ON CONFLICT (holder) DO NOTHING",
        (slot, holder, key, event),
    )
    return _grant_next(tx, slot) if asked.rowcount else None


def release(tx: Tx, holder: str) -> Grant | None:
    """Give back what `holder` holds, or withdraw its wait. Returns the grant to whoever is next."""
    row = tx.execute("SELECT slot FROM slots WHERE holder = ?", (holder,)).fetchone()
    if row is None:
        return None
    tx.sharing.lock_slot(tx, row[0])
    given_back = tx.execute("DELETE FROM slots WHERE holder = ?", (holder,))
    return _grant_next(tx, row[0]) if given_back.rowcount else None


def _grant_next(tx: Tx, slot: str) -> Grant | None:
    row = tx.execute(
        "SELECT seq, granted, key, event FROM slots WHERE slot = ? ORDER BY granted DESC, seq LIMIT 1", (slot,)
    ).fetchone()
    if row is None or row[1]:
        return None
    tx.execute("UPDATE slots SET granted = 1 WHERE seq = ?", row[:1])
    return Grant(slot, *row[2:])
