"""How several processes share one database: row locks for aggregates, procrastinate's jobs for effects.

Every waiting or running effect has one procrastinate job, deferred, cancelled, begun and finished in the very
transaction that changes the effect's row, so the two never disagree. The job carries what crosses processes: its
insertion notifies the others, its worker's heartbeat says whether its performer lives, its abortion is the cancel
token. A retry is a new job. No job has a `lock`, except what coalesces: a locked job that waits or retries would hold
up the stop command behind it.

procrastinate's own Worker does not run the jobs: it takes them by its database's clock and in order of their ids,
while an effect is due by the injected clock, in its lane's order and as far as its partition has room; and it ends a
job in a transaction of its own, after the outcome's. Timers are rows, not jobs: a timer is an event for the machine
and no act, is replaced and cancelled by name, and keeps its deadline whoever fires it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from procrastinate import SyncPsycopgConnector, exceptions, sql
from procrastinate.jobs import Job
from procrastinate.manager import JobManager

from bot.engine.postgres.schema import EMPTY
from bot.engine.postgres.session import Session
from bot.engine.times import loaded
from bot.engine.transaction import Tx

# Classes of advisory locks; the second key is a hash or a worker's id. A shared hash costs a wait, never an error.
FIRST_MOVE, SLOT, CLAIMS, PRESENCE = 0x70670010, 0x70670011, 0x70670012, 0x70670013


class ManyProcesses:
    """PostgreSQL's `Sharing`. `worker` is this process among procrastinate's workers, while it runs."""

    errors: tuple[type[Exception], ...] = (psycopg.Error, exceptions.ConnectorException)
    passing: tuple[type[Exception], ...] = (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        psycopg.errors.IdleInTransactionSessionTimeout,
        exceptions.ConnectorException,
    )
    collisions: tuple[type[Exception], ...] = (
        psycopg.errors.DeadlockDetected,
        psycopg.errors.SerializationFailure,
    )
    begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
    begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    empty = EMPTY
    skip_locked = "FOR UPDATE SKIP LOCKED"

    def __init__(self, stalled_after: float) -> None:
        """`stalled_after`: seconds without a heartbeat after which a worker is taken for dead."""
        self.worker: int | None = None
        self._stalled_after = stalled_after
        self._connector = SyncPsycopgConnector()
        self._jobs = JobManager(self._connector)

    @property
    def held_here(self) -> str:
        if self.worker is None:
            return "FALSE"
        return f"job IN (SELECT id FROM procrastinate_jobs WHERE worker_id = {self.worker})"

    def lock(self, tx: Tx, key: str) -> None:
        """The aggregate's row; before it has one, what stands for it."""
        locking = "SELECT 1 FROM aggregates WHERE key = ? FOR UPDATE"
        if tx.execute(locking, (key,)).fetchone() is None:
            _advisory(tx, FIRST_MOVE, key)
            tx.execute(locking, (key,))

    def lock_slot(self, tx: Tx, slot: str) -> None:
        _advisory(tx, SLOT, slot)

    def lock_claims(self, tx: Tx) -> None:
        _advisory(tx, CLAIMS, "")

    def waits(self, tx: Tx, effect_id: str) -> None:
        """Its job: the former one, if any, is over."""
        self.ended(tx, [effect_id])
        kind, lane, due, key, coalesce = tx.execute(
            "SELECT kind, lane, due, key, coalesce_as FROM effects WHERE id = ?", (effect_id,)
        ).fetchone()
        job = Job(
            queue=lane,
            lock=f"{key} {coalesce}" if coalesce else None,
            queueing_lock=None,
            task_name=kind,
            task_kwargs={"effect": effect_id},
            scheduled_at=loaded(due),
        )
        deferred = self._jobs.defer_job(job, connection=_raw(tx))
        tx.execute("UPDATE effects SET job = ? WHERE id = ?", (deferred.id, effect_id))

    def claimed(self, tx: Tx, effect_id: str) -> None:
        """As `procrastinate_fetch_job` does it, for this job."""
        begun = (
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = ? "
            "WHERE id = (SELECT job FROM effects WHERE id = ?) AND status = 'todo'"
        )
        if not tx.execute(begun, (self.worker, effect_id)).rowcount:
            # An operator's hand was in procrastinate's tables; the effect's row is the truth.
            self.waits(tx, effect_id)
            tx.execute(begun, (self.worker, effect_id))

    def ended(self, tx: Tx, effect_ids: Sequence[str]) -> None:
        """Finish jobs; those that nobody began are cancelled."""
        jobs = tx.execute(
            "SELECT procrastinate_jobs.id FROM effects JOIN procrastinate_jobs ON procrastinate_jobs.id = effects.job "
            "WHERE effects.id = ANY(?) AND procrastinate_jobs.status IN ('todo', 'doing')",
            (list(effect_ids),),
        ).fetchall()
        for (job,) in jobs:
            if not self._jobs.cancel_job_by_id(job, delete_job=True, connection=_raw(tx)):
                _raw(tx).execute(sql.queries["finish_job"], {"job_id": job, "status": "succeeded", "delete_job": True})

    def told(self, tx: Tx, effect_ids: Sequence[str]) -> None:
        jobs = tx.execute(
            "SELECT job FROM effects WHERE id = ANY(?) AND job IS NOT NULL", (list(effect_ids),)
        ).fetchall()
        for (job,) in jobs:
            self._jobs.cancel_job_by_id(job, abort=True, connection=_raw(tx))

    def revoked_here(self, tx: Tx) -> Sequence[str]:
        """Ids of effects that run in this process and were revoked."""
        rows = tx.execute(f"SELECT id FROM effects WHERE status = 'claimed' AND revoked = 1 AND {self.held_here}")
        return [effect_id for (effect_id,) in rows.fetchall()]

    def orphans(self, tx: Tx) -> Sequence[str]:
        """Whose worker's connection is gone, so that its lock is free, or whose heartbeat stands still."""
        gone = self._gone(tx)
        jobs = [job for job, _ in gone]
        for worker in {worker for _, worker in gone if worker is not None}:
            # Should it come back, it finds itself struck off and ends.
            tx.execute("SELECT procrastinate_unregister_worker_v1(?)", (worker,))
        rows = tx.execute(
            "SELECT id FROM effects WHERE status = 'claimed' AND (job = ANY(?) "
            "OR NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE procrastinate_jobs.id = job)) ORDER BY seq",
            (jobs,),
        )
        return [effect_id for (effect_id,) in rows.fetchall()]

    def _gone(self, tx: Tx) -> list[tuple[int, int | None]]:
        """(job, worker), the worker None where it was struck off already."""
        # A worker takes its lock before its first job, so whoever has a job and no lock is dead. The lock taken here
        # also keeps a second process from the same work until this transaction ends.
        gone = tx.execute(
            "WITH others AS MATERIALIZED (SELECT DISTINCT worker_id FROM procrastinate_jobs WHERE status = 'doing' "
            "AND worker_id IS NOT NULL AND worker_id IS DISTINCT FROM ?) "
            "SELECT worker_id FROM others WHERE pg_try_advisory_xact_lock(?, worker_id::int)",
            (self.worker, PRESENCE),
        ).fetchall()
        jobs = tx.execute(
            "SELECT id, worker_id FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = ANY(?)",
            ([worker for (worker,) in gone],),
        ).fetchall()
        # What `JobManager.get_stalled_jobs` gives, asked in this transaction.
        silent = self._connector.execute_query_all_with_connection(
            _raw(tx),
            query=sql.queries["select_stalled_jobs_by_heartbeat"],
            queue=None,
            task_name=None,
            seconds_since_heartbeat=self._stalled_after,
        )
        return jobs + [
            (row["id"], row["worker_id"])
            for row in silent
            if row["worker_id"] is None or row["worker_id"] != self.worker
        ]


def _advisory(tx: Tx, kind: int, name: str) -> None:
    tx.execute("SELECT pg_advisory_xact_lock(?, hashtext(?))", (kind, name))


def _raw(tx: Tx) -> psycopg.Connection[Any]:
    session = tx.connection
    if not isinstance(session, Session):
        raise TypeError("a transaction of another store")
    return session.raw
