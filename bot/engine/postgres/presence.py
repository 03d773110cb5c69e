"""A process among those that share the database: its worker, its heartbeat, and its ear for the others.

A dead process is noticed in two ways. Its session ends with it, and with the session a lock that everybody can try:
that tells of a killed process at the next look. A host that vanished keeps its session for a while, so the heartbeat
of procrastinate's worker tells of it later. Both kinds of watching run on the event loop's own time, for the death of a
process is no matter of the machine's clock.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Protocol

import msgspec
import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Notification
from procrastinate.manager import JobManager

from bot.engine.port import StoreError
from bot.engine.postgres.sharing import PRESENCE, ManyProcesses

logger = logging.getLogger(__name__)

TAKEN_FOR_DEAD = "another process took this one for dead and goes on with its work"
CANCEL_AGAIN = 0.1
"""Seconds."""


class Pulse(msgspec.Struct, frozen=True):
    """`beat`: between two heartbeats, and two looks at what others left. `silence`: after that a process is dead."""

    beat: timedelta = timedelta(seconds=5)
    silence: timedelta = timedelta(seconds=30)


class Listening(Protocol):
    """The runner, as the other processes reach it."""

    def look(self) -> None: ...
    def revoke(self, effect_ids: Sequence[str]) -> None: ...
    def fail(self, fault: BaseException) -> None: ...
    async def reclaim(self) -> None: ...


class Presence:
    def __init__(
        self,
        url: str,
        sharing: ManyProcesses,
        pulse: Pulse,
        revoked_here: Callable[[], Awaitable[Sequence[str]]],
    ) -> None:
        """`revoked_here` reads which effects of this process were revoked. Set `listening` before the first run."""
        self.listening: Listening
        self._url = url
        self._sharing = sharing
        self._pulse = pulse
        self._revoked_here = revoked_here
        self._worker = 0
        self._session: psycopg.AsyncConnection[Any] | None = None

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Be there: for as long as this lasts, effects can be claimed. Raises StoreError."""
        connector = PsycopgConnector(conninfo=self._url, min_size=1, max_size=2, timeout=10)
        jobs = JobManager(connector)
        try:
            await connector.open_async()
            await jobs.prune_stalled_workers(self._pulse.silence.total_seconds())
            self._worker = await jobs.register_worker()
            await self._take_lock()
            self._sharing.worker = self._worker
            async with _beside(self._listen(jobs), self._beat(jobs)):
                yield
        except (psycopg.Error, ConnectorException) as error:
            raise StoreError(f"lost the database: {error.__cause__ or error}", transient=False) from error
        finally:
            self._sharing.worker = None
            await self._leave(jobs, connector)

    async def _leave(self, jobs: JobManager, connector: PsycopgConnector) -> None:
        try:
            if self._worker:
                await jobs.unregister_worker(self._worker)
        except ConnectorException as error:
            logger.error("the others will find this process's worker stalled: %s", error.__cause__ or error)
        finally:
            self._worker = 0
            await connector.close_async()
            if self._session is not None:
                await self._session.close()

    async def _take_lock(self) -> None:
        """Raises StoreError where another process took this one for dead, psycopg.Error."""
        self._session = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        row = await (
            await self._session.execute(
                "SELECT pg_try_advisory_lock(%s, %s) AND EXISTS (SELECT 1 FROM procrastinate_workers WHERE id = %s)",
                (PRESENCE, self._worker, self._worker),
            )
        ).fetchone()
        if row is None or not row[0]:
            raise StoreError(TAKEN_FOR_DEAD, transient=False)

    async def _beat(self, jobs: JobManager) -> None:
        while True:
            await asyncio.sleep(self._pulse.beat.total_seconds())
            try:
                await self._show_life(jobs)
                await self.listening.reclaim()
                self.listening.revoke(await self._revoked_here())
            except (psycopg.OperationalError, ConnectorException) as error:
                logger.error("the database does not answer, trying again: %s", error.__cause__ or error)
            except StoreError as error:
                if not error.transient:
                    self.listening.fail(error)
                    return
                logger.error("the database does not answer, trying again: %s", error)
            self.listening.look()

    async def _show_life(self, jobs: JobManager) -> None:
        if self._session is None or self._session.closed:
            await self._take_lock()
        else:
            registered = await self._session.execute(
                "SELECT 1 FROM procrastinate_workers WHERE id = %s", (self._worker,)
            )
            if await registered.fetchone() is None:
                raise StoreError(TAKEN_FOR_DEAD, transient=False)
        await jobs.update_heartbeat(self._worker)

    async def _listen(self, jobs: JobManager) -> None:
        while True:
            try:
                await jobs.listen_for_jobs(on_notification=self._hear)
            except ConnectorException as error:
                logger.error("deaf to the other processes, trying again: %s", error.__cause__ or error)
            await asyncio.sleep(self._pulse.beat.total_seconds())

    async def _hear(self, *, channel: str, notification: Notification) -> None:
        if notification["type"] == "abort_job_requested":
            try:
                self.listening.revoke(await self._revoked_here())
            except StoreError as error:
                logger.error("the next heartbeat looks for what was revoked: %s", error)
        self.listening.look()


@asynccontextmanager
async def _beside(*work: Any) -> AsyncIterator[None]:
    tasks = {asyncio.ensure_future(each) for each in work}
    try:
        yield
    finally:
        # Again and again: `asyncio.wait_for`, in procrastinate's listening, loses a cancellation that meets a
        # notification (https://github.com/python/cpython/issues/86296, until Python 3.12).
        while tasks:
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=CANCEL_AGAIN)
