"""The tables of the SQLite shell, and the refusal to touch those of a newer release."""

from __future__ import annotations

import sqlite3

from bot.engine.port import CannotStart

FORMAT = 1
"""Raised by one whenever the tables change; the step that migrates the former format belongs in `prepare`."""

# Statuses. deliveries: waiting → handled | dead. effects: pending → claimed → done | failed | dead, or → cancelled.
# `dead` effects are failed ones whose failure could not even be told to the machine. All times: see `times`.
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY, guid TEXT NOT NULL UNIQUE, event TEXT NOT NULL, body BLOB, received_at INTEGER NOT NULL,
  status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, error TEXT, due INTEGER NOT NULL);
CREATE INDEX deliveries_waiting ON deliveries (due, seq) WHERE status = 'waiting';
CREATE INDEX deliveries_dead ON deliveries (seq) WHERE status = 'dead';
CREATE INDEX deliveries_received ON deliveries (received_at);

CREATE TABLE aggregates (
  key TEXT PRIMARY KEY, schema INTEGER NOT NULL, state BLOB NOT NULL, updated_at INTEGER NOT NULL);

CREATE TABLE log (
  seq INTEGER PRIMARY KEY, key TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, event BLOB NOT NULL,
  cause TEXT NOT NULL, reason TEXT NOT NULL);
CREATE INDEX log_of_key ON log (key, seq);

CREATE TABLE effects (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, kind TEXT NOT NULL, lane TEXT NOT NULL,
  partition TEXT NOT NULL, scope TEXT NOT NULL, coalesce_as TEXT NOT NULL, payload BLOB NOT NULL, status TEXT NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, claimed_at INTEGER,
  last_error TEXT, created_at INTEGER NOT NULL, ended_at INTEGER);
CREATE INDEX effects_pending ON effects (lane, partition, due, seq) WHERE status = 'pending';
CREATE INDEX effects_next ON effects (due) WHERE status = 'pending';
CREATE INDEX effects_claimed ON effects (lane, partition) WHERE status = 'claimed';
CREATE INDEX effects_open ON effects (key, scope) WHERE ended_at IS NULL;
CREATE INDEX effects_dead ON effects (seq) WHERE status = 'dead';
CREATE INDEX effects_ended ON effects (ended_at) WHERE ended_at IS NOT NULL AND payload <> x'';

CREATE TABLE timers (
  seq INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL, due INTEGER NOT NULL, event BLOB NOT NULL,
  UNIQUE (key, name));
CREATE INDEX timers_due ON timers (due, seq);

CREATE TABLE slots (
  seq INTEGER PRIMARY KEY, slot TEXT NOT NULL, holder TEXT NOT NULL UNIQUE, key TEXT NOT NULL, granted INTEGER NOT NULL,
  event BLOB NOT NULL);
CREATE UNIQUE INDEX slots_held ON slots (slot) WHERE granted;
CREATE INDEX slots_waiting ON slots (slot, seq);

CREATE TABLE stalled (
  seq INTEGER PRIMARY KEY, key TEXT NOT NULL, event BLOB NOT NULL, cause TEXT NOT NULL, attempts INTEGER NOT NULL,
  error TEXT NOT NULL, due INTEGER NOT NULL, dead INTEGER NOT NULL DEFAULT 0);
CREATE INDEX stalled_due ON stalled (due, seq) WHERE NOT dead;
"""


def prepare(connection: sqlite3.Connection, state_schema: int) -> None:
    """Create the tables, or check that this release may use those that exist. Raises CannotStart."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        _prepare(connection, state_schema)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _prepare(connection: sqlite3.Connection, state_schema: int) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if tables and "meta" not in tables:
        raise CannotStart("the database holds tables of something else; give the bot a file of its own")
    if not tables:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('format', ?), ('state_schema', ?)", (FORMAT, state_schema))
        return
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    for name, ours in (("format", FORMAT), ("state_schema", state_schema)):
        if meta[name] > ours:
            raise CannotStart(
                f"the database was written by a newer release ({name} {meta[name]}, this release knows {ours}); "
                "start that release, or restore a backup made before it ran"
            )
    connection.execute("UPDATE meta SET value = ? WHERE name = 'state_schema'", (state_schema,))
