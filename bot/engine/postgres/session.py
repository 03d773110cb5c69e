"""A connection to PostgreSQL for one thread, in the words the shared tables use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from bot.engine.transaction import Rows

_DEFAULTS = {
    "application_name": "perf-gate",
    "connect_timeout": "5",
    # A host that vanished is noticed within a minute, on both ends.
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}

# A process that stands still inside a transaction must not hold up the others for long: transactions take
# milliseconds, and what was undone is done again. `off` would lose the last commits with the power.
_SESSION = (
    "SET idle_in_transaction_session_timeout = '5s'; SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'"
)
_OPEN = (TransactionStatus.ACTIVE, TransactionStatus.INTRANS, TransactionStatus.INERROR)
_WRITES = ("INSERT", "UPDATE", "DELETE")


def with_defaults(url: str) -> str:
    """The address with what it leaves open. Raises psycopg.ProgrammingError where it is none."""
    return make_conninfo(make_conninfo("", **_DEFAULTS), **_parts(url))


def _parts(url: str) -> dict[str, Any]:
    return dict(conninfo_to_dict(url))


def describe(url: str) -> str:
    """How messages call the database: never with its password."""
    parts = _parts(url)
    return f"database {parts.get('dbname', '(default)')} at {parts.get('host', 'the local socket')}"


class Session:
    def __init__(self, url: str) -> None:
        """`url` as `with_defaults` gave it. Connects when first asked."""
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None
        self.total_changes = 0

    def ready(self) -> Session:
        """This session, connected again if it broke. Raises psycopg.Error."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True)
            self._connection.execute(_SESSION)
        return self

    @property
    def raw(self) -> psycopg.Connection[Any]:
        """The driver's own connection, for procrastinate's calls in the open transaction."""
        if self._connection is None:
            raise psycopg.InterfaceError("the session is not connected")
        return self._connection

    @property
    def in_transaction(self) -> bool:
        return self._connection is not None and self._connection.info.transaction_status in _OPEN

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Rows:
        cursor = self._execute(_translated(sql), [_storable(value) for value in parameters])
        word = (cursor.statusmessage or "").partition(" ")[0]
        if word in _WRITES:
            self.total_changes += cursor.rowcount
        elif sql == "COMMIT" and word != "COMMIT":
            raise psycopg.InternalError("the transaction had failed and was undone")
        return cursor

    def _execute(self, sql: str, parameters: list[Any]) -> psycopg.Cursor[Any]:
        try:
            return self.raw.execute(sql, parameters)
        except psycopg.OperationalError:
            # A connection that the server or the network ended in peace tells only now; nothing is lost with it yet.
            if not (sql.startswith("BEGIN") and self.raw.closed):
                raise
        return self.ready().raw.execute(sql, parameters)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


@lru_cache(maxsize=256)
def _translated(sql: str) -> str:
    return sql.replace("?", "%s")


def _storable(value: Any) -> Any:
    """PostgreSQL's text holds every character but one."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value
