"""One writer thread with group commit, and one reader beside it.

Everything that writes is a job for a writer thread. The jobs that wait while a commit is on its way to the disk share
the next transaction, and so one fsync; each has a savepoint of its own. A job's future resolves after its commit.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from bot.engine.port import StoreError
from bot.engine.telling import known
from bot.engine.transaction import Connection, Savepoint, Sharing, Tx

T = TypeVar("T")
Item = TypeVar("Item")

MOST_TOGETHER = 256
"""Jobs in one transaction: enough to share the fsync of any burst, few enough that the first does not wait long."""

_COLLISIONS = 10
"""How often in a row the same work may collide with another process before it is the store's trouble."""

Committed = Callable[[Sequence[str], bool], None]
"""On the event loop after a commit, before its callers go on: claimed effects it revoked, whether to look again."""

Connect = Callable[[], Connection]
"""A connection that works, the same while it does. Raises the store's errors. Called in the thread that uses it."""


Intake = Callable[[Tx, Sequence[Item]], Sequence[T]]
"""Writes many items at once, each as if it were alone; gives what became of each."""


class _Job(msgspec.Struct):
    work: Callable[[Tx], Any]
    told: Callable[[Any], None]
    rouses: bool
    intake: Intake[Any, Any] | None = None
    item: Any = None
    result: Any = None
    error: Exception | None = None


class Trouble:
    """Turns the store's errors into the port's; `name` is what an operator calls the store."""

    def __init__(self, name: str, sharing: Sharing) -> None:
        self._name = name
        self._sharing = sharing

    def __call__(self, error: Exception) -> StoreError:
        wrapped = StoreError(f"{self._name}: {error}", transient=isinstance(error, self._sharing.passing))
        wrapped.__cause__ = error
        return wrapped


class Writer:
    def __init__(
        self,
        connect: Connect,
        sharing: Sharing,
        trouble: Trouble,
        committed: Committed,
        most: int,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        """`most` jobs share a transaction at most. Needs a running event loop.

        `between` runs in the writer's thread after each, when those that waited for it are told; it must not raise.
        """
        self.commits = 0
        self._connect = connect
        self._sharing = sharing
        self._trouble = trouble
        self._committed = committed
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[Sequence[_Job] | None] = queue.SimpleQueue()
        self._coming: list[_Job] = []
        self._between = between
        self._closed = False
        self._thread = threading.Thread(target=self._write_until_closed, name="engine-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T:
        """Run `work` in the next transaction; returns after its commit. `work` may run again after a collision.

        Raises what `work` raised (it wrote nothing then), or StoreError. `rouses`: the engine looks for new work after.
        """
        if self._closed:
            raise StoreError("the database is closed", transient=False)
        return await known(lambda told: self._jobs.put([_Job(work, told, rouses)]))

    def take_in(
        self, intake: Intake[Item, T], item: Item, told: Callable[[T | Exception], None], *, rouses: bool
    ) -> None:
        """As `write`, for what comes in numbers: items that wait together are written by one call of `intake`.

        They are committed before any other work that waits: somebody outside waits for them. `told` hears what `intake`
        gave, or the error, in the same turn of the event loop as the commit.
        """
        if self._closed:
            self._loop.call_soon(told, StoreError("the database is closed", transient=False))
            return
        # What the event loop hears in one turn is handed over once: each hand-over wakes a thread that competes
        # with this one for the interpreter.
        if not self._coming:
            self._loop.call_soon(self._hand_over)
        self._coming.append(_Job(lambda tx: intake(tx, [item])[0], told, rouses, intake, item))

    def _hand_over(self) -> None:
        if self._coming:
            coming, self._coming = self._coming, []
            self._jobs.put(coming)

    async def close(self) -> None:
        """Finish what was asked for."""
        self._closed = True
        self._hand_over()
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _write_until_closed(self) -> None:
        open_ = True
        while open_:
            batch: list[_Job] = []
            jobs = self._jobs.get()
            while jobs is not None:
                batch += jobs
                if len(batch) >= self._most or self._jobs.empty():
                    break
                jobs = self._jobs.get()
            open_ = jobs is not None
            for part in _urgent_first(batch, self._most):
                revoked = self._commit_batch(part)
                self._loop.call_soon_threadsafe(self._finish, part, revoked)
                self._between()

    def _commit_batch(self, batch: Sequence[_Job]) -> Sequence[str]:
        try:
            connection = self._connect()
        except self._sharing.errors as error:
            for job in batch:
                job.error = self._trouble(error)
            return ()
        return self._commit_on(connection, batch)

    def _commit_on(self, connection: Connection, batch: Sequence[_Job]) -> Sequence[str]:
        try:
            return self._commit(connection, batch)
        except self._sharing.errors as error:
            if len(batch) == 1:
                batch[0].error = self._trouble(error)
                return ()
        # A disk too full for one of them undid them all; the others may well have room.
        return [effect_id for job in batch for effect_id in self._commit_batch([job])]

    def _commit(self, connection: Connection, batch: Sequence[_Job]) -> Sequence[str]:
        """Raises the store's error when nothing at all was committed."""
        tx = Tx(connection, self._sharing)
        before = connection.total_changes
        try:
            tx.execute(self._sharing.begin)
            if len(batch) == 1 or batch[0].intake is None or not self._took_in(tx, batch[0].intake, batch):
                for job in batch:
                    self._attempt(tx, job)
            tx.execute("COMMIT")
        except self._sharing.errors:
            if connection.in_transaction:
                tx.execute("ROLLBACK")
            raise
        self.commits += connection.total_changes > before
        tx.tell()
        return tx.revoked

    def _took_in(self, tx: Tx, intake: Intake[Any, Any], batch: Sequence[_Job]) -> bool:
        """False where they did not go together, and nothing was written."""
        with Savepoint(tx, first=True) as savepoint:
            for job, result in zip(batch, intake(tx, [job.item for job in batch]), strict=True):
                job.result = result
        if isinstance(savepoint.error, self._sharing.errors) and not tx.connection.in_transaction:
            raise savepoint.error
        return savepoint.error is None

    def _attempt(self, tx: Tx, job: _Job) -> None:
        for _ in range(_COLLISIONS):
            with Savepoint(tx) as savepoint:
                job.result = job.work(tx)
            if not isinstance(savepoint.error, self._sharing.collisions):
                break
        if isinstance(savepoint.error, self._sharing.errors):
            if not tx.connection.in_transaction:
                raise savepoint.error
            job.error = self._trouble(savepoint.error)
        else:
            job.error = savepoint.error

    def _finish(self, batch: Sequence[_Job], revoked: Sequence[str]) -> None:
        # Revocations first: whoever learns of a commit must find the performers it revoked already told.
        self._committed(revoked, any(job.rouses and job.error is None for job in batch))
        self._tell(deque(batch))

    def _tell(self, jobs: deque[_Job]) -> None:
        try:
            while jobs:
                job = jobs.popleft()
                job.told(job.result if job.error is None else job.error)
        finally:
            # One whose hearing is broken keeps nobody else waiting.
            if jobs:
                self._loop.call_soon(self._tell, jobs)


def _urgent_first(batch: Sequence[_Job], most: int) -> list[list[_Job]]:
    """What shares a transaction: what came from outside, then all else."""
    parts = [job for job in batch if job.intake is not None], [job for job in batch if job.intake is None]
    return [part[at : at + most] for part in parts for at in range(0, len(part), most)]


class Reader:
    """Reads what is committed, beside the writer."""

    def __init__(self, connect: Connect, sharing: Sharing, trouble: Trouble) -> None:
        self._connect = connect
        self._sharing = sharing
        self._trouble = trouble
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine-reader")

    async def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on one moment of the store. Raises what `work` raised, or StoreError."""
        return await self._loop.run_in_executor(self._thread, self._read, work)

    async def close(self) -> None:
        await asyncio.to_thread(self._thread.shutdown)

    def _read(self, work: Callable[[Tx], T]) -> T:
        try:
            connection = self._connect()
            connection.execute(self._sharing.begin_reading)
            try:
                return work(Tx(connection, self._sharing))
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except self._sharing.errors as error:
            raise self._trouble(error) from error
