"""Reviving from outside what the processes on a database gave up: it is everybody's, so nobody need be asked."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime

import psycopg

from bot.engine.desk import revive
from bot.engine.port import StoreError
from bot.engine.postgres.session import Session, describe, with_defaults
from bot.engine.postgres.sharing import ManyProcesses
from bot.engine.transaction import Tx


def revive_in(address: str, now: datetime) -> None:
    """Running processes notice at once, or with their next heartbeat. Raises StoreError."""
    url = with_defaults(address)
    with closing(Session(url)) as session:
        try:
            tx = Tx(session.ready(), ManyProcesses(stalled_after=0))
            tx.execute(tx.sharing.begin)
            revive(tx, now)
            tx.execute("COMMIT")
        except psycopg.Error as error:
            raise StoreError(f"{describe(url)} cannot be written: {error}", transient=False) from error
