"""The tables in a SQLite file."""

from __future__ import annotations

import sqlite3

from bot.engine.port import CannotStart
from bot.engine.sqlite.alone import Alone
from bot.engine.tables import schema

_KEY = "INTEGER PRIMARY KEY"


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
    ours = schema.first_meta(state_schema)
    if not tables:
        for statement in schema.statements(seq=_KEY, blob="BLOB", empty=Alone.empty):
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", ours.items())
        return
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    schema.check(meta, ours)
    for statement in schema.upgrades(meta["format"], seq=_KEY, blob="BLOB"):
        connection.execute(statement)
    connection.executemany("UPDATE meta SET value = ? WHERE name = ?", [(value, name) for name, value in ours.items()])
