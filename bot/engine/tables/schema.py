"""The tables of both shells, and the refusal to touch those of a newer release."""

from __future__ import annotations

from collections.abc import Mapping

from bot.engine.port import CannotStart

FORMAT = 2
"""Raised by one whenever the tables change; `upgrades` holds the step from each former format."""

# Statuses. deliveries: waiting → handled | dead. effects: pending → claimed → done | failed | dead, or → cancelled.
# `dead` effects are failed ones whose failure could not even be told to the machine. All times: see `times`.
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL);

CREATE TABLE deliveries (
  seq {seq}, guid TEXT NOT NULL UNIQUE, event TEXT NOT NULL, body {blob}, received_at BIGINT NOT NULL,
  status TEXT NOT NULL, attempts BIGINT NOT NULL DEFAULT 0, error TEXT, due BIGINT NOT NULL);
CREATE INDEX deliveries_waiting ON deliveries (due, seq) WHERE status = 'waiting';
CREATE INDEX deliveries_dead ON deliveries (seq) WHERE status = 'dead';
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE aggregates (
  key TEXT PRIMARY KEY, schema BIGINT NOT NULL, state {blob} NOT NULL, updated_at BIGINT NOT NULL);

CREATE TABLE log (
  seq {seq}, key TEXT NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL, event {blob} NOT NULL,
  cause TEXT NOT NULL, reason TEXT NOT NULL);
CREATE INDEX log_of_key ON log (key, seq);

CREATE TABLE effects (
  seq {seq}, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, kind TEXT NOT NULL, lane TEXT NOT NULL,
  partition TEXT NOT NULL, scope TEXT NOT NULL, coalesce_as TEXT NOT NULL, payload {blob} NOT NULL,
  status TEXT NOT NULL, revoked BIGINT NOT NULL DEFAULT 0, attempts BIGINT NOT NULL DEFAULT 0, due BIGINT NOT NULL,
  claimed_at BIGINT, last_error TEXT, created_at BIGINT NOT NULL, ended_at BIGINT, asked_by BIGINT{job});
CREATE INDEX effects_pending ON effects (lane, partition, due, seq) WHERE status = 'pending';
CREATE INDEX effects_next ON effects (due) WHERE status = 'pending';
CREATE INDEX effects_claimed ON effects (lane, partition) WHERE status = 'claimed';
CREATE INDEX effects_open ON effects (key, scope) WHERE ended_at IS NULL;
CREATE INDEX effects_dead ON effects (seq) WHERE status = 'dead';
CREATE INDEX effects_ended ON effects (ended_at) WHERE ended_at IS NOT NULL AND payload <> {empty};

CREATE TABLE timers (
  seq {seq}, key TEXT NOT NULL, name TEXT NOT NULL, due BIGINT NOT NULL, event {blob} NOT NULL,
  UNIQUE (key, name));
CREATE INDEX timers_due ON timers (due, seq);

CREATE TABLE slots (
  seq {seq}, slot TEXT NOT NULL, holder TEXT NOT NULL UNIQUE, key TEXT NOT NULL, granted BIGINT NOT NULL,
  event {blob} NOT NULL);
CREATE UNIQUE INDEX slots_held ON slots (slot) WHERE granted = 1;
CREATE INDEX slots_waiting ON slots (slot, seq);

CREATE TABLE stalled (
  seq {seq}, key TEXT NOT NULL, event {blob} NOT NULL, cause TEXT NOT NULL, attempts BIGINT NOT NULL,
  error TEXT NOT NULL, due BIGINT NOT NULL, dead BIGINT NOT NULL DEFAULT 0);
CREATE INDEX stalled_due ON stalled (due, seq) WHERE dead = 0;
"""

# Format 2: who asked for an effect (the log's seq), every attempt at one that ended, and moments that are shared.
_SINCE_2 = """
CREATE TABLE attempts (
  seq {seq}, effect TEXT NOT NULL, key TEXT NOT NULL, attempt BIGINT NOT NULL, began_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL, ended_as TEXT NOT NULL, error TEXT, notes {blob} NOT NULL);
CREATE INDEX attempts_of_key ON attempts (key, seq);
CREATE INDEX attempts_ended ON attempts (ended_at);

CREATE TABLE moments (name TEXT PRIMARY KEY, at BIGINT NOT NULL);
"""


def statements(*, seq: str, blob: str, empty: str, of_effects: str = "") -> list[str]:
    """What creates the tables, in the store's own words: a growing key, bytes, no bytes, further columns of effects."""
    text = _TABLES.format(seq=seq, blob=blob, empty=empty, job=of_effects) + _SINCE_2.format(seq=seq, blob=blob)
    return _split(text)


def upgrades(found: int, *, seq: str, blob: str) -> list[str]:
    """What brings tables of the format that was found to today's."""
    if found >= FORMAT:
        return []
    return ["ALTER TABLE effects ADD COLUMN asked_by BIGINT", *_split(_SINCE_2.format(seq=seq, blob=blob))]


def _split(text: str) -> list[str]:
    return [statement for statement in text.split(";") if statement.strip()]


def first_meta(state_schema: int) -> dict[str, int]:
    return {"format": FORMAT, "state_schema": state_schema}


def check(meta: Mapping[str, int], ours: Mapping[str, int]) -> None:
    """Raises CannotStart where the store was written by a release that knows more than this one."""
    for name, known in ours.items():
        if meta[name] > known:
            raise CannotStart(
                f"the database was written by a newer release ({name} {meta[name]}, this release knows {known}); "
                "start that release, or restore a backup made before it ran"
            )
