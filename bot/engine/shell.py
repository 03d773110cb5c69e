"""What every shell is: the port's methods over a store, a desk and a runner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Generic, Protocol, TypeVar

import msgspec

from bot.engine.advancing import load_state
from bot.engine.desk import Desk, next_due, revive, sweep
from bot.engine.policy import EffectPolicy, Lane
from bot.engine.port import CannotStart, Clock, Delivery, Machine, OnlyRead, StoreError, Told
from bot.engine.runner import Presence, Runner
from bot.engine.rush import Rush
from bot.engine.tables import history, inbox, inspection, moments, outbox
from bot.engine.telling import known
from bot.engine.transaction import Tx
from bot.engine.views import Counts, History, LogView, Overview
from bot.engine.writer import Committed

S = TypeVar("S")
E = TypeVar("E")
T = TypeVar("T")

DEFAULT_GRACE = timedelta(seconds=10)
"""What performers get to end in when the process is asked to stop; hosts allow little more before they kill."""


TRY_TO_STORE_EVERY = timedelta(seconds=10)
"""At most so often somebody who asks how it goes costs a commit: anybody may ask."""


class Store(Protocol):
    """An open database. Each method raises what `work` raised (nothing was written then), or StoreError."""

    committed: Committed

    @property
    def commits(self) -> int: ...
    async def write(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T: ...
    def take_in(self, arrived: inbox.Arrived, told: Told, *, rouses: bool) -> None:
        """Write what came from outside, many in one transaction."""

    async def read(self, work: Callable[[Tx], T]) -> T: ...


class Play(msgspec.Struct, Generic[S, E], frozen=True):
    """What an engine is opened with: the meaning, the acts, the time. `random` shortens waits between attempts.

    `grace`: how long performers may go on when `run` is cancelled.
    """

    machine: Machine[S, E]
    policies: Sequence[EffectPolicy[S, E]]
    lanes: Sequence[Lane]
    clock: Clock
    random: Random
    grace: timedelta

    def __post_init__(self) -> None:
        """Raises ValueError where the registry contradicts itself."""
        known = {lane.name for lane in self.lanes}
        for policy in self.policies:
            if policy.lane not in known:
                raise ValueError(f"effect {policy.kind} is for lane {policy.lane}, which is not among the lanes")
        twice = [kind for kind, count in Counter(policy.kind for policy in self.policies).items() if count > 1]
        if twice:
            raise ValueError(f"effect {twice[0]} has two policies")


async def adopt_registry(store: Store, name: str, play: Play[S, E]) -> None:
    """Move waiting effects to the lanes of today's registry. Raises CannotStart where it does not know their kind."""
    lane_of = {policy.kind: policy.lane for policy in play.policies}
    unknown = await store.write(lambda tx: outbox.adopt_registry(tx, lane_of))
    if unknown:
        raise CannotStart(
            f"{name} holds waiting effects that this release cannot perform: {', '.join(sorted(unknown))}; "
            "start the release that asked for them"
        )


class ShellEngine(Generic[S, E]):
    """See `bot.engine.port.Engine` for what each method promises."""

    def __init__(self, store: Store, play: Play[S, E], presence: Presence, *, together: bool) -> None:
        """`presence` and `together`: see `Runner` and `Desk`."""
        registry = {policy.kind: policy for policy in play.policies}
        self._store = store
        self._machine = play.machine
        self._clock = play.clock
        self._desk = Desk(play.machine, registry, play.lanes, play.random, together=together)
        self._rush = Rush()
        self._stored_at: datetime | None = None
        self._runner = Runner(
            store, self._desk, registry, self._state, self.overview, play.clock, play.grace, presence, self._rush
        )

    async def accept(self, delivery: Delivery) -> bool:
        return await known(partial(self.take, delivery))

    def take(self, delivery: Delivery, told: Told) -> None:
        self._rush.came()
        # What keeps only its GUID gives the loop nothing to look for.
        self._store.take_in(inbox.Arrived(delivery, self._clock.now()), told, rouses=delivery.body is not None)

    async def unheard(self, guids: Collection[str]) -> frozenset[str]:
        return await self._store.read(lambda tx: inspection.unheard(tx, guids))

    async def advance(self, key: str, event: E, *, cause: str) -> None:
        await self._store.write(lambda tx: self._desk.advance(tx, key, event, cause, self._clock.now()))

    async def read(self, key: str) -> S | None:
        row = await self._store.read(lambda tx: inspection.state(tx, key))
        return None if row is None else load_state(self._machine, *row)

    async def run(self) -> None:
        await self._runner.run()

    @property
    def running(self) -> bool:
        return self._runner.running

    async def idle(self) -> None:
        await self._runner.idle()

    async def next_due(self) -> datetime | None:
        return await self._store.write(lambda tx: next_due(tx, None), rouses=False)

    async def revive(self) -> None:
        await self._store.write(lambda tx: revive(tx, self._clock.now()))

    async def remember(self, name: str, at: datetime, *, not_after: datetime | None = None) -> None:
        await self._store.write(lambda tx: moments.remember(tx, name, at, not_after), rouses=False)

    async def remembered(self, name: str) -> datetime | None:
        return await self._store.read(lambda tx: moments.remembered(tx, name))

    async def take_turn(self, name: str, every: timedelta) -> bool:
        now = self._clock.now()
        return await self._store.write(lambda tx: moments.take_turn(tx, name, every, now), rouses=False)

    async def sweep(self) -> None:
        await self._store.write(lambda tx: sweep(tx, self._clock.now()), rouses=False)

    async def overview(self) -> Overview:
        return await self._store.read(inspection.overview)

    async def counts(self) -> Counts:
        try:
            await self._try_to_store()
        except StoreError as error:
            # Where it cannot be read either, that is the news.
            await self._store.read(inspection.counts)
            raise OnlyRead(str(error), transient=error.transient) from error
        return await self._store.read(inspection.counts)

    async def log(self, key: str) -> Sequence[LogView]:
        return await self._store.read(lambda tx: inspection.log(tx, key))

    async def history(self, key: str) -> History:
        return await self._store.read(lambda tx: history.of_key(tx, key))

    @property
    def commits(self) -> int:
        """Transactions that wrote something since the engine was opened: each cost one fsync."""
        return self._store.commits

    async def _try_to_store(self) -> None:
        """A file system that became read-only can be read as ever, while every delivery is turned away."""
        now = self._clock.now()
        if self._stored_at is None or abs(now - self._stored_at) >= TRY_TO_STORE_EVERY:
            await self._store.write(lambda tx: moments.remember(tx, "tried to store", now), rouses=False)
            self._stored_at = now

    async def _state(self, key: str) -> S:
        state = await self.read(key)
        return self._machine.initial(key) if state is None else state
