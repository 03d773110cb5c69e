"""What the writer's jobs write through, and the savepoint that isolates one job, delivery or event from the next."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Tx:
    """An open transaction, and what is to be told once it has committed; a savepoint undone takes its part back.

    `revoked`: ids of claimed effects whose performers must hear. `notes`: lines for the log, with the ids they carry.
    """

    connection: sqlite3.Connection
    revoked: list[str] = field(default_factory=list)
    notes: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def note(self, line: str, **ids: Any) -> None:
        """Log `line` after the commit: the log must not tell of what was undone."""
        self.notes.append((line, ids))

    def tell(self) -> None:
        for line, ids in self.notes:
            logger.info(line, extra=ids)


class Savepoint:
    """Undoes what its body wrote when the body raised, and keeps the error for the caller to judge.

    The one place where errors of foreign code (a machine's `step`, a codec) are caught whatever they are: one poisonous
    delivery must not take the engine with it. Only BaseExceptions that end the process pass through.
    """

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._marks = (0, 0)
        self.error: Exception | None = None

    def __enter__(self) -> Savepoint:
        self._marks = (len(self._tx.revoked), len(self._tx.notes))
        self._tx.connection.execute("SAVEPOINT attempt")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        connection = self._tx.connection
        if error is None:
            connection.execute("RELEASE attempt")
            return False
        del self._tx.revoked[self._marks[0] :]
        del self._tx.notes[self._marks[1] :]
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
