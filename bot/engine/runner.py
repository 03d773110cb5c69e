"""The loop of a running engine: look, perform, wait for a commit or a due time. It never polls."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial
from typing import Generic, Protocol, TypeVar

import msgspec

from bot.engine.desk import Desk, is_idle
from bot.engine.performing import attempt
from bot.engine.policy import EffectPolicy
from bot.engine.port import Clock, Effect, EffectContext, StoreError
from bot.engine.rush import Rush
from bot.engine.tables import outbox
from bot.engine.tables.attempts import Begun
from bot.engine.transaction import Tx
from bot.engine.views import Overview
from bot.engine.writer import Committed

S = TypeVar("S")
E = TypeVar("E")
T = TypeVar("T")
Presence = Callable[[], AbstractAsyncContextManager[None]]
logger = logging.getLogger(__name__)

STORE_RETRY = timedelta(seconds=5)
"""A full disk is emptied by people: soon enough for them, seldom enough for the log."""


class _Running(msgspec.Struct, frozen=True):
    task: asyncio.Task[None]
    revoked: asyncio.Event


class Database(Protocol):
    """What a runner needs of a shell's store."""

    committed: Committed

    async def write(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T: ...


class Runner(Generic[S, E]):
    def __init__(
        self,
        database: Database,
        desk: Desk[S, E],
        policies: Mapping[str, EffectPolicy[S, E]],
        read: Callable[[str], Awaitable[S]],
        overview: Callable[[], Awaitable[Overview]],
        clock: Clock,
        grace: timedelta,
        presence: Presence,
        rush: Rush,
    ) -> None:
        """`presence` surrounds the run: it stands for this process among those that share the store."""
        self._database = database
        self._desk = desk
        self._policies = policies
        self._read = read
        self._overview = overview
        self._clock = clock
        self._grace = grace
        self._presence = presence
        self._rush = rush
        self._wake = asyncio.Event()
        self._stirred = asyncio.Event()
        self._running: dict[str, _Running] = {}
        self._revoked_unstarted: set[str] = set()
        self._active = False
        self._fault: BaseException | None = None
        self._failed = asyncio.Event()
        database.committed = self._after_commit

    async def run(self) -> None:
        """Until cancelled. Performers then have `grace` to end; after that they are cancelled and handed back."""
        if self._active:
            raise RuntimeError("the engine runs already")
        self._active, self._fault = True, None
        self._failed.clear()
        try:
            async with self._presence():
                await self._run()
        except asyncio.CancelledError:
            raise
        except BaseException as fault:
            self._fault = fault
            raise
        finally:
            self._active = False
            self._stir()

    async def _run(self) -> None:
        try:
            await self._persist(self._reclaim)
            while self._fault is None:
                await self._round()
            raise self._fault
        finally:
            await self._stop()

    @property
    def running(self) -> bool:
        return self._active and self._fault is None

    async def idle(self) -> None:
        while True:
            stirred = self._stirred
            if self._fault is not None:
                raise self._fault
            if await self._database.write(lambda tx: is_idle(tx, self._clock.now()), rouses=False):
                return
            await stirred.wait()

    async def reclaim(self) -> None:
        """Take over what dead processes left. Raises StoreError."""
        await self._database.write(self._reclaim)

    def _reclaim(self, tx: Tx) -> int:
        return self._desk.reclaim(tx, self._clock.now())

    def look(self) -> None:
        """Another process did something, or may have."""
        self._wake.set()
        self._stir()

    def revoke(self, effect_ids: Sequence[str]) -> None:
        """Tell performers of this process that their effects were revoked."""
        for effect_id in effect_ids:
            if running := self._running.get(effect_id):
                running.revoked.set()
            else:
                self._revoked_unstarted.add(effect_id)

    def fail(self, fault: BaseException) -> None:
        """End the run with this."""
        self._fault = self._fault or fault
        self._failed.set()
        self.look()

    async def _round(self) -> None:
        _end_if_cancelled()
        most = await self._rush.give_way()
        self._wake.clear()
        look = await self._persist(lambda tx: self._desk.look(tx, self._clock.now(), most), rouses=False)
        unstarted = [effect for effect in look.claimed if not self._start(effect)]
        # From here on whoever is revoked is found running, or has ended.
        self._revoked_unstarted.clear()
        for effect in unstarted:
            await self._persist(partial(self._drop, effect))
        self._stir()
        if not look.more and not self._wake.is_set():
            await self._clock.wait(self._wake, look.next_due)

    def _start(self, effect: Effect) -> bool:
        """False when the effect was revoked since its claim: its performer must not be called any more."""
        if effect.id in self._revoked_unstarted:
            self._revoked_unstarted.discard(effect.id)
            return False
        revoked = asyncio.Event()
        task = asyncio.create_task(self._carry_out(effect, revoked), name=f"effect {effect.id}")
        self._running[effect.id] = _Running(task, revoked)
        task.add_done_callback(partial(self._ended, effect.id))
        return True

    async def _carry_out(self, effect: Effect, revoked: asyncio.Event) -> None:
        logger.info("effect begins", extra={"effect": effect.id, "key": effect.key, "attempt": effect.attempt})
        context = EffectContext(self._clock, partial(self._read, effect.key), revoked, self._read, self._overview)
        begun = Begun(self._clock.now(), context.notes)
        ending = await attempt(self._policies[effect.kind], effect, context)
        await self._persist(lambda tx: self._desk.settle(tx, effect, ending, begun, self._clock.now()))

    def _drop(self, effect: Effect, tx: Tx) -> None:
        self._desk.drop_unstarted(tx, effect, self._clock.now())

    def _ended(self, effect_id: str, task: asyncio.Task[None]) -> None:
        if (running := self._running.get(effect_id)) and running.task is task:
            del self._running[effect_id]
        if not task.cancelled() and (fault := task.exception()):
            self.fail(fault)

    async def _persist(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T:
        """Write, and try again for as long as the store's trouble may pass: what was done must be recorded."""
        while True:
            try:
                return await self._database.write(work, rouses=rouses)
            except StoreError as error:
                if not error.transient:
                    raise
                logger.error("the store cannot write, trying again: %s", error)
            await self._clock.wait(self._failed, self._clock.now() + STORE_RETRY)
            if self._fault is not None:
                raise self._fault

    async def _stop(self) -> None:
        """The grace period is the process's, not the machine's: it runs on the event loop's own time."""
        tasks = [running.task for running in self._running.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._grace.total_seconds())
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        try:
            handed_back = await self._database.write(outbox.hand_back, rouses=False)
        except StoreError as error:
            logger.error("effects stay claimed until the next start: %s", error)
        else:
            logger.info("stopped, %d effects handed back", handed_back)

    def _after_commit(self, revoked: Sequence[str], rouses: bool) -> None:
        self.revoke(revoked)
        if rouses:
            self.look()

    def _stir(self) -> None:
        """Let every `idle` look again."""
        self._stirred.set()
        self._stirred = asyncio.Event()


def _end_if_cancelled() -> None:
    """Raises CancelledError where one was asked for and lost on the way.

    `asyncio.wait_for`, in psycopg and its pool, loses a cancellation that meets what it waits for
    (https://github.com/python/cpython/issues/86296, until Python 3.12); the task still counts it.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
