"""Every attempt at an effect that ended: when, how, and what its performer noted. For tracing, never for deciding."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from bot.engine.port import Effect, Json
from bot.engine.times import loaded, stored
from bot.engine.transaction import Tx
from bot.engine.views import AttemptView

KEPT = timedelta(days=90)
"""Longer than anybody asks how a run came about; the log itself stays."""

MOST_NOTES = 100
"""Of one attempt: git is called some ten times for an assessment, a hundred times by nobody."""


class Begun(msgspec.Struct, frozen=True):
    """An attempt under way. `notes` grows while it is performed."""

    at: datetime
    notes: Sequence[Json]


def record(tx: Tx, effect: Effect, begun: Begun, ended_as: str, now: datetime, error: str | None = None) -> None:
    """`ended_as`: done, broke or died."""
    tx.execute(
        "INSERT INTO attempts (effect, key, attempt, began_at, ended_at, ended_as, error, notes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            effect.id,
            effect.key,
            effect.attempt,
            stored(begun.at),
            stored(now),
            ended_as,
            error,
            _encoded(begun.notes[:MOST_NOTES]),
        ),
    )


def _encoded(notes: Sequence[Json]) -> bytes:
    """Whatever a performer noted, as far as it can be said: a note that cannot must not undo the attempt's end."""
    try:
        return msgspec.json.encode(list(notes))
    except (UnicodeEncodeError, TypeError):
        return json.dumps(list(notes), ensure_ascii=False, default=str).encode("utf-8", "replace")


def record_death(tx: Tx, effect: Effect, now: datetime) -> None:
    """Of an attempt whose process is gone: it was claimed then, and what it noted went with it."""
    (claimed_at,) = tx.execute("SELECT claimed_at FROM effects WHERE id = ?", (effect.id,)).fetchone()
    began = now if claimed_at is None else loaded(claimed_at)
    record(tx, effect, Begun(began, ()), "died", now, "the process died while it was performed")


def broken(tx: Tx, effect: Effect) -> int:
    """How many attempts at it ended in an error: its process outlived those. Revived it begins anew: only so many of
    its last attempts are of this life as it counts."""
    counting = (
        "SELECT count(*) FROM (SELECT ended_as FROM attempts WHERE key = ? AND effect = ? ORDER BY seq DESC LIMIT ?) "
        "AS latest WHERE ended_as = 'broke'"
    )
    (count,) = tx.execute(counting, (effect.key, effect.id, effect.attempt)).fetchone()
    return int(count)


def of_key(tx: Tx, key: str) -> list[AttemptView]:
    rows = tx.execute(
        "SELECT effect, attempt, began_at, ended_at, ended_as, error, notes FROM attempts WHERE key = ? ORDER BY seq",
        (key,),
    ).fetchall()
    return [
        AttemptView(effect, attempt, loaded(began), loaded(ended), ended_as, error, msgspec.json.decode(notes))
        for effect, attempt, began, ended, ended_as, error, notes in rows
    ]


def notes_of(tx: Tx, kinds: Collection[str]) -> Iterator[tuple[str, str, list[Any]]]:
    """(key, effect, notes) of the attempts at effects of these kinds, in every aggregate, oldest first."""
    places = ", ".join("?" for _ in kinds)
    rows = tx.execute(
        "SELECT attempts.key, attempts.effect, attempts.notes FROM attempts "
        f"JOIN effects ON effects.id = attempts.effect WHERE effects.kind IN ({places}) ORDER BY attempts.seq",
        tuple(sorted(kinds)),
    )
    for key, effect, notes in rows.fetchall():
        yield key, effect, msgspec.json.decode(notes)


def sweep(tx: Tx, now: datetime) -> None:
    tx.execute("DELETE FROM attempts WHERE ended_at < ?", (stored(now - KEPT),))
