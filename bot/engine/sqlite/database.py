"""The database file: its lock, its settings, one writer thread with group commit, one reader.

Everything that writes is a job for the writer thread. The jobs that wait while a commit is on its way to the disk share
the next transaction, and so one fsync; each has a savepoint of its own. A job's future resolves after its commit.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bot.engine.port import CannotStart, StoreError
from bot.engine.sqlite.lock import ProcessLock
from bot.engine.sqlite.schema import prepare
from bot.engine.sqlite.transaction import Savepoint, Tx

T = TypeVar("T")
logger = logging.getLogger(__name__)

_MOST_TOGETHER = 256
"""Jobs in one transaction: enough to share the fsync of any burst, few enough that the first does not wait long."""


@dataclass(slots=True)
class _Job:
    work: Callable[[Tx], Any]
    future: asyncio.Future[Any]
    rouses: bool
    result: Any = None
    error: Exception | None = None


Committed = Callable[[Sequence[str], bool], None]
"""On the event loop after a commit, before its callers go on: claimed effects it revoked, whether to look again."""


def _nobody_listens(revoked: Sequence[str], rouses: bool) -> None:
    """Until a runner is there to hear of commits."""


class Database:
    def __init__(self, path: Path, state_schema: int) -> None:
        """Open or create. Raises CannotStart. Needs a running event loop."""
        self.path = path
        self.commits = 0
        self.committed: Committed = _nobody_listens
        self._loop = asyncio.get_running_loop()
        with ExitStack() as opened:
            self._lock = ProcessLock(path)
            opened.callback(self._lock.release)
            try:
                self._writing = opened.enter_context(closing(_connect(path)))
                prepare(self._writing, state_schema)
                self._reading = opened.enter_context(closing(_connect(path)))
                self._reading.execute("PRAGMA query_only = ON")
            except sqlite3.Error as error:
                raise CannotStart(f"{path} cannot be opened as a database: {error}") from error
            self._opened = opened.pop_all()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = False
        self._writer = threading.Thread(target=self._write_until_closed, name="sqlite-writer", daemon=True)
        self._writer.start()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="sqlite-reader")

    async def write(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T:
        """Run `work` in the writer's next transaction; returns after its commit.

        Raises what `work` raised (it wrote nothing then), or StoreError. `rouses`: the engine looks for new work after.
        """
        if self._closed:
            raise StoreError("the database is closed", transient=False)
        job = _Job(work, self._loop.create_future(), rouses)
        self._jobs.put(job)
        result: T = await job.future
        return result

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on what is committed now, beside the writer. Raises StoreError."""
        try:
            return await self._loop.run_in_executor(self._reader, work, self._reading)
        except sqlite3.Error as error:
            raise self._store_error(error) from error

    async def close(self) -> None:
        """Finish what was asked for, then let go of the file."""
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._reader.shutdown)
        self._opened.close()

    def _write_until_closed(self) -> None:
        open_ = True
        while open_:
            batch: list[_Job] = []
            job = self._jobs.get()
            while job is not None:
                batch.append(job)
                if len(batch) == _MOST_TOGETHER or self._jobs.empty():
                    break
                job = self._jobs.get()
            open_ = job is not None
            if batch:
                revoked = self._commit_batch(batch)
                self._loop.call_soon_threadsafe(self._finish, batch, revoked)

    def _commit_batch(self, batch: Sequence[_Job]) -> Sequence[str]:
        try:
            return self._commit(batch)
        except sqlite3.Error as error:
            if len(batch) == 1:
                batch[0].error = self._store_error(error)
                return ()
        # A disk too full for one of them undid them all; the others may well have room.
        return [effect_id for job in batch for effect_id in self._commit_batch([job])]

    def _commit(self, batch: Sequence[_Job]) -> Sequence[str]:
        """Raises sqlite3.Error when nothing at all was committed."""
        tx = Tx(self._writing)
        before = self._writing.total_changes
        try:
            self._writing.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._attempt(tx, job)
            self._writing.execute("COMMIT")
        except sqlite3.Error:
            if self._writing.in_transaction:
                self._writing.execute("ROLLBACK")
            raise
        self.commits += self._writing.total_changes > before
        tx.tell()
        return tx.revoked

    def _attempt(self, tx: Tx, job: _Job) -> None:
        with Savepoint(tx) as savepoint:
            job.result = job.work(tx)
        if isinstance(savepoint.error, sqlite3.Error):
            if not tx.connection.in_transaction:
                raise savepoint.error
            job.error = self._store_error(savepoint.error)
        else:
            job.error = savepoint.error

    def _finish(self, batch: Sequence[_Job], revoked: Sequence[str]) -> None:
        # Revocations first: whoever learns of a commit must find the performers it revoked already told.
        self.committed(revoked, any(job.rouses and job.error is None for job in batch))
        for job in batch:
            if job.future.done():
                continue
            if job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)

    def _store_error(self, error: sqlite3.Error) -> StoreError:
        wrapped = StoreError(f"{self.path}: {error}", transient=isinstance(error, sqlite3.OperationalError))
        wrapped.__cause__ = error
        return wrapped


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    # FULL: in WAL mode anything less may lose the last commits with the power.
    for setting in ("journal_mode = WAL", "synchronous = FULL", "journal_size_limit = 67108864"):
        connection.execute(f"PRAGMA {setting}")
    return connection
