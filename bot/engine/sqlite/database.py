"""The database file: its lock, its settings, its writer and its reader."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TypeVar

from bot.engine.port import CannotStart, Told
from bot.engine.sqlite.alone import Alone
from bot.engine.sqlite.backup import damage
from bot.engine.sqlite.checkpoint import LAST_RESORT_PAGES, Checkpoints
from bot.engine.sqlite.lock import ProcessLock
from bot.engine.sqlite.schema import prepare
from bot.engine.tables import inbox
from bot.engine.transaction import Tx
from bot.engine.writer import MOST_TOGETHER, Committed, Reader, Trouble, Writer

T = TypeVar("T")
_RESTORE = "put a backup in its place, or keep the file aside and start with none"
_NO_ROOM = 1 << 20
"""Bytes: less than a start writes."""


def _nobody_listens(revoked: Sequence[str], rouses: bool) -> None:
    """Until a runner is there to hear of commits."""


class Database:
    def __init__(self, path: Path, state_schema: int) -> None:
        """Open or create. Raises CannotStart. Needs a running event loop."""
        self.path = path
        self.committed: Committed = _nobody_listens
        with ExitStack() as opened:
            lock = ProcessLock(path)
            opened.callback(lock.release)
            try:
                _check(path)
                writing = opened.enter_context(closing(connect(path)))
                prepare(writing, state_schema)
                writing.execute(f"PRAGMA wal_autocheckpoint = {LAST_RESORT_PAGES}")
                reading = opened.enter_context(closing(connect(path)))
                reading.execute("PRAGMA query_only = ON")
            except sqlite3.Error as error:
                raise CannotStart(f"{path} cannot be opened as a database: {error}{_advice(path, error)}") from error
            self._opened = opened.pop_all()
        sharing = Alone()
        trouble = Trouble(str(path), sharing)
        self._checkpoints = Checkpoints(path)
        between = partial(self._checkpoints.between, writing)
        self._writer = Writer(lambda: writing, sharing, trouble, self._after_commit, MOST_TOGETHER, between)
        self._reader = Reader(lambda: reading, sharing, trouble)

    @property
    def commits(self) -> int:
        """Transactions that wrote something."""
        return self._writer.commits

    async def write(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T:
        return await self._writer.write(work, rouses=rouses)

    def take_in(self, arrived: inbox.Arrived, told: Told, *, rouses: bool) -> None:
        """Write what came from outside, before all else that waits."""
        self._writer.take_in(inbox.store, arrived, told, rouses=rouses)

    async def read(self, work: Callable[[Tx], T]) -> T:
        return await self._reader.read(work)

    async def close(self) -> None:
        """Finish what was asked for, then let go of the file."""
        await self._writer.close()
        await self._reader.close()
        self._checkpoints.close()
        self._opened.close()

    def _after_commit(self, revoked: Sequence[str], rouses: bool) -> None:
        self.committed(revoked, rouses)
        self._checkpoints.committed()


def _advice(path: Path, error: sqlite3.Error) -> str:
    """What mends it, where that is known; a full disk has many names in SQLite."""
    if shutil.disk_usage(path.parent).free < _NO_ROOM:
        return "; its disk is full: make room"
    if "not a database" in str(error) or "malformed" in str(error):
        return f"; {_RESTORE}"
    return ""


def _check(path: Path) -> None:
    """Better no start than verdicts from a damaged file. Raises CannotStart and sqlite3.Error."""
    with closing(connect(path)) as connection:
        if wrong := damage(connection):
            raise CannotStart(f"{path} is damaged: {wrong}; {_RESTORE}")


def connect(path: Path) -> sqlite3.Connection:
    """A connection that keeps what it commits."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    # FULL: in WAL mode anything less may lose the last commits with the power.
    for setting in ("journal_mode = WAL", "synchronous = FULL", "journal_size_limit = 67108864", "cache_size = -512"):
        connection.execute(f"PRAGMA {setting}")
    return connection
