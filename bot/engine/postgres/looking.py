"""A look into the database from outside the processes that share it: reads one moment, joins nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from bot.engine.port import NothingStored, StoreError
from bot.engine.postgres.session import Session, describe, with_defaults
from bot.engine.postgres.sharing import PRESENCE, ManyProcesses
from bot.engine.tables import inspection
from bot.engine.transaction import Tx


def are_present(address: str) -> bool:
    """Whether a process shares the database now: its session, which ends with it, holds a lock. Raises StoreError."""
    try:
        url = with_defaults(address)
    except psycopg.Error:
        raise StoreError("the database's address is none", transient=False) from None
    with closing(Session(url)) as session:
        try:
            row = (
                session.ready()
                .execute(
                    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted "
                    "AND classid::bigint = ? AND database = "
                    "(SELECT oid FROM pg_database WHERE datname = current_database()))",
                    (PRESENCE,),
                )
                .fetchone()
            )
        except psycopg.Error as error:
            raise StoreError(f"{describe(url)} cannot be read: {error}", transient=False) from error
    return bool(row and row[0])


@contextmanager
def looking(address: str, state_schema: int) -> Iterator[Tx]:
    """One moment of the store. Raises CannotStart (of a newer release) and StoreError (not there, not reachable)."""
    try:
        url = with_defaults(address)
    except psycopg.Error:
        # The driver's own words would repeat the address, and with it the password.
        raise StoreError(
            "the database's address is not of the form postgresql://user:password@host/name", transient=False
        ) from None
    with closing(Session(url)) as session:
        try:
            tx = Tx(session.ready(), ManyProcesses(stalled_after=0))
            tx.execute(tx.sharing.begin_reading)
            inspection.check_release(tx, state_schema)
            yield tx
        except psycopg.errors.UndefinedTable as error:
            raise NothingStored(
                f"there is no state in {describe(url)}: no perf-gate serve has run with it", transient=False
            ) from error
        except psycopg.Error as error:
            raise StoreError(f"{describe(url)} cannot be read: {error}", transient=False) from error
