"""What the shells' tables are written through: a transaction, its savepoints, and what several processes must settle.

The SQL of `tables` is the part that SQLite and PostgreSQL share, with `?` for parameters; where they differ, and where
several processes work on one store, it asks the transaction's `Sharing`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol

import msgspec

from bot.engine.port import StoreError

logger = logging.getLogger(__name__)


class Rows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """One session with the store; `total_changes` counts written rows."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def total_changes(self) -> int: ...
    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Rows: ...


class Sharing(Protocol):
    """How a store is shared with other processes. Each method works in the transaction it is given."""

    errors: tuple[type[Exception], ...]
    """What the store raises: never a machine's bug."""
    passing: tuple[type[Exception], ...]
    """Errors that the same work may not meet later."""
    collisions: tuple[type[Exception], ...]
    """Errors of two transactions in each other's way: the work is to be done again at once."""
    begin: str
    """Starts a transaction that writes."""
    begin_reading: str
    empty: str
    """No bytes, as a literal."""
    skip_locked: str
    """Ends a SELECT of one row to work on: what another process works on is not waited for."""

    @property
    def held_here(self) -> str:
        """A condition on `effects`: of the claimed ones, those that this process claimed."""

    def lock(self, tx: Tx, key: str) -> None:
        """From here to the end of the transaction nobody else moves this aggregate."""

    def lock_slot(self, tx: Tx, slot: str) -> None: ...
    def lock_claims(self, tx: Tx) -> None:
        """One process at a time counts what runs in the lanes and claims."""

    def waits(self, tx: Tx, effect_id: str) -> None:
        """The effect was inserted, or is pending again after an attempt."""

    def claimed(self, tx: Tx, effect_id: str) -> None: ...
    def ended(self, tx: Tx, effect_ids: Sequence[str]) -> None: ...
    def told(self, tx: Tx, effect_ids: Sequence[str]) -> None:
        """These claimed effects were revoked: after the commit their performers hear of it, wherever they are."""

    def orphans(self, tx: Tx) -> Sequence[str]:
        """Ids of effects whose performers died with their process."""


class Tx(msgspec.Struct):
    """An open transaction, and what is to be told once it has committed; a savepoint undone takes its part back.

    `revoked`: ids of effects claimed here whose performers must hear. `notes`: lines for the log, with their ids.
    """

    connection: Connection
    sharing: Sharing
    revoked: list[str] = msgspec.field(default_factory=list)
    notes: list[tuple[str, Mapping[str, Any]]] = msgspec.field(default_factory=list)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        return self.connection.execute(sql, parameters)

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

    def __init__(self, tx: Tx, *, first: bool = False) -> None:
        """`first`: nothing was written before it, so all is undone with it, and where all is well it costs nothing."""
        self._tx = tx
        self._first = first
        self._marks = (0, 0)
        self.error: Exception | None = None

    def __enter__(self) -> Savepoint:
        self._marks = (len(self._tx.revoked), len(self._tx.notes))
        if not self._first:
            self._tx.execute("SAVEPOINT attempt")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            if not self._first:
                self._tx.execute("RELEASE SAVEPOINT attempt")
            return False
        del self._tx.revoked[self._marks[0] :]
        del self._tx.notes[self._marks[1] :]
        # After a full disk, an I/O error or a lost connection the store may already have undone the whole transaction.
        if self._tx.connection.in_transaction:
            self._undo()
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True

    def _undo(self) -> None:
        if self._first:
            self._tx.execute("ROLLBACK")
            self._tx.execute(self._tx.sharing.begin)
        else:
            self._tx.execute("ROLLBACK TO SAVEPOINT attempt")
            self._tx.execute("RELEASE SAVEPOINT attempt")

    def bug(self) -> Exception | None:
        """The error, if it was the body's own; an error of the store itself is raised again."""
        error = self.error
        if error is not None and isinstance(error, (*self._tx.sharing.errors, StoreError)):
            raise error
        return error
