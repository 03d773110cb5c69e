"""What the writer's jobs write through, and the savepoint that isolates one job, delivery or event from the next."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from types import TracebackType


@dataclass(slots=True)
class Tx:
    """An open transaction. `revoked` collects ids of claimed effects to be told once it has committed."""

    connection: sqlite3.Connection
    revoked: list[str] = field(default_factory=list)


class Savepoint:
    """Undoes what its body wrote when the body raised, and keeps the error for the caller to judge.

    The one place where errors of foreign code (a machine's `step`, a codec) are caught whatever they are: one poisonous
    delivery must not take the engine with it. Only BaseExceptions that end the process pass through.
    """

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._told = 0
        self.error: Exception | None = None

    def __enter__(self) -> Savepoint:
        self._told = len(self._tx.revoked)
        self._tx.connection.execute("SAVEPOINT attempt")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        connection = self._tx.connection
        if error is None:
            connection.execute("RELEASE attempt")
            return False
        del self._tx.revoked[self._told :]
        # After a full disk or an I/O error SQLite may already have undone the whole transaction.
        if connection.in_transaction:
            connection.execute("ROLLBACK TO attempt")
            connection.execute("RELEASE attempt")
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True

    def bug(self) -> Exception | None:
        """The error, if it was the body's own; an error of the store itself is raised again."""
        if isinstance(self.error, sqlite3.Error):
            raise self.error
        return self.error
