"""Moments that outlive the process and that all processes share: when something was last done, or may be done again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.engine.times import loaded, stored
from bot.engine.transaction import Tx

_PUT = "INSERT INTO moments (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at WHERE "


def remember(tx: Tx, name: str, at: datetime, not_after: datetime | None = None) -> None:
    """The later of this moment and the one that is known, unless that one lies after `not_after`."""
    believed = stored(not_after or datetime.max.replace(tzinfo=UTC))
    tx.execute(f"{_PUT} moments.at < excluded.at OR moments.at > ?", (name, stored(at), believed))


def remembered(tx: Tx, name: str) -> datetime | None:
    row = tx.execute("SELECT at FROM moments WHERE name = ?", (name,)).fetchone()
    return None if row is None else loaded(row[0])


def take_turn(tx: Tx, name: str, every: timedelta, now: datetime) -> bool:
    """Whether nobody took this turn within `every`; whoever hears True has taken it.

    A turn that lies further ahead than `every` was taken by a clock that went wrong: nobody waits for that one.
    """
    within = (stored(now - every), stored(now + every))
    taken = tx.execute(f"{_PUT} moments.at <= ? OR moments.at > ?", (name, stored(now), *within))
    return bool(taken.rowcount)
