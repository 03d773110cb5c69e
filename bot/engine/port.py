"""The engine's port: a generic durable state machine with an inbox, a log, an outbox, timers and slots.

The engine knows nothing of GitHub, pull requests or ferries. A `Machine` gives it meaning; `Performer`s act for it.
What every shell guarantees, and the contract suite holds it to:

accept     A delivery's GUID (and its body, where kept) is on disk before `accept` returns. A GUID is accepted once.
consume    Routing one delivery (its inbox row, the log, the new states, effects, timers, slots) is one transaction.
advance    An event moves one aggregate at a time; `step` sees states in log order; state, log entry, effects,
           revocations, timers and slots of a transition become visible together or not at all.
claim      An effect is claimed by one performer at a time, never before its due time, never after it was revoked.
           A claim that did not end in `complete` (the process died) is claimed again: at-least-once. Where one process
           after the other dies with it, it waits longer each time, and what has a last attempt fails with `Lethal`.
revoke     An unclaimed effect is cancelled in silence, also when an earlier attempt failed: a machine that must know
           whether it acted does not revoke it, but waits for its end. A claimed one is told (`EffectContext.revoked`),
           is not tried again, and always ends in an event: its outcome, or `failed` with the error or `Revoked`.
complete   The outcome's event, and all it causes, commit together with the effect's end. An outcome for an effect that
           was revoked meanwhile is still delivered (the act may have happened), so `step` must be total.
timers     A timer is a row with an absolute due time; it fires once at or after that time, also across restarts.
           Setting a timer of the same name replaces it; cancelling an absent one is nothing.
slots      A slot has at most one holder; others wait in order of asking. A grant is an event delivered in the
           transaction that grants it; where it raises, it is kept to be tried again, and the slot stays granted.
           Releasing what is not held withdraws the wait instead.
bugs       A `step`, `route` or codec that raises undoes its transaction. The delivery, or the event of the timer or the
           effect, is kept, tried again a few times with growing waits, then left dead: counted, never dropped. Of a
           dead delivery the machine hears once (`Machine.unheard`), so that it can tell whoever waits for an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from bot.engine.views import Counts, History, LogView, Overview

S = TypeVar("S")
E = TypeVar("E")
S_co = TypeVar("S_co", covariant=True)
S_contra = TypeVar("S_contra", contravariant=True)
E_co = TypeVar("E_co", covariant=True)
E_contra = TypeVar("E_contra", contravariant=True)
Json = Mapping[str, Any]


class StoreError(Exception):
    """The store could not do it: nothing was stored. `transient`: the same may succeed later (disk full, locked)."""

    def __init__(self, message: str, *, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient


class OnlyRead(StoreError):
    """Nothing can be stored, but what is stored can be read."""


class NothingStored(StoreError):
    """No process has begun to keep its state there; the place itself is well."""


class CannotStart(Exception):
    """The store must not be opened by this process: in use, of a newer release, or not ours. The message says which."""


class Revoked(Exception):
    """What `EffectPolicy.failed` hears when an effect was revoked while claimed and is therefore not tried again."""


class Lethal(Exception):
    """What `EffectPolicy.failed` hears when so many processes died while they performed the effect."""


class Clock(Protocol):
    """Injected time; aware UTC datetimes only."""

    def now(self) -> datetime: ...

    async def wait(self, wake: asyncio.Event, until: datetime | None) -> None:
        """Return when `wake` is set or `until` has come, whichever is first. Does not clear `wake`."""


class Delivery(msgspec.Struct, frozen=True):
    """One webhook delivery. `body` is None where only the GUID is worth keeping: such a delivery is never routed."""

    guid: str
    event: str
    body: bytes | None


Told = Callable[[bool | Exception], None]
"""Hears what became of a delivery: whether it was new, or why it could not be stored (StoreError)."""


class EffectRequest(msgspec.Struct, frozen=True):
    """An act on the outside world, asked for by a transition.

    `id` is stable and unique for all time: the same id is never inserted twice. `scope` names what a later transition
    may revoke together (a run, an attempt). `partition` divides a lane (github-write: one at a time per installation).
    `coalesce`: where an unclaimed effect of this aggregate with the same name waits, this one adds nothing; an untried
    one that is due later is brought forward. Of one name none is claimed while another runs.
    `due` None: at once. `payload` is what JSON can say.
    """

    id: str
    kind: str
    payload: Json
    scope: str = ""
    partition: str = ""
    coalesce: str = ""
    due: datetime | None = None


class Timer(msgspec.Struct, Generic[E], frozen=True):
    name: str
    due: datetime
    event: E


class SlotRequest(msgspec.Struct, Generic[E], frozen=True):
    """Ask for the slot; `granted` is delivered to this aggregate when it is ours. `holder` is unique for all time."""

    slot: str
    holder: str
    granted: E


class Transition(msgspec.Struct, Generic[S, E], frozen=True):
    """What `step` decided. Applied in one transaction: state, revoke, cancel, effects, timers, release, acquire."""

    state: S
    effects: tuple[EffectRequest, ...] = ()
    revoke: tuple[str, ...] = ()
    timers: tuple[Timer[E], ...] = ()
    cancel_timers: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    acquire: tuple[SlotRequest[E], ...] = ()
    reason: str = ""


class Machine(Protocol[S, E]):
    """The meaning: pure functions and codecs. `step` is total and never raises."""

    state_schema: int

    def initial(self, key: str) -> S: ...
    def step(self, state: S, event: E, now: datetime) -> Transition[S, E]: ...
    def route(self, delivery: Delivery) -> Sequence[tuple[str, E]]:
        """Which aggregates hear of this delivery, and as what. May raise: the delivery is then kept as failed."""

    def unheard(self, delivery: Delivery) -> Sequence[tuple[str, E]]:
        """Who is to be told that this delivery, which `route` or `step` raised for again and again, was given up."""

    def dump_state(self, state: S) -> bytes: ...
    def load_state(self, schema: int, data: bytes) -> S:
        """Read a stored state of this or an older schema (upcasting). A newer schema never gets here."""

    def dump_event(self, event: E) -> tuple[str, bytes]:
        """(kind, JSON): kind is for the log's reader, the JSON alone must load again."""

    def load_event(self, data: bytes) -> E: ...


class Effect(msgspec.Struct, frozen=True):
    """A claimed effect. `attempt` counts from 1.

    `first`: nobody ever began it. An attempt that was stopped in good order does not count, but may have acted.
    """

    id: str
    key: str
    kind: str
    payload: Json
    scope: str
    attempt: int
    created_at: datetime
    first: bool = False


class EffectContext(msgspec.Struct, Generic[S_co], frozen=True):
    """What a performer may ask of the engine while it acts."""

    clock: Clock
    read: Callable[[], Awaitable[S_co]]
    """The aggregate's state as committed now."""
    revoked: asyncio.Event
    """Set when a transition revoked this effect after it was claimed: stop where it is safe to stop."""
    read_other: Callable[[str], Awaitable[S_co]]
    """Another aggregate's state as committed now; the initial one where nothing was ever delivered to it."""
    overview: Callable[[], Awaitable[Overview]]
    """All that is open now: who holds a slot and who waits for it, in which order."""
    notes: list[Json] = msgspec.field(default_factory=list)
    """What is to be remembered of this attempt, however it ends; for whoever traces it, never for the machine."""


class Outcome(msgspec.Struct, Generic[E_co], frozen=True):
    """How an effect ended well. `event` None: nothing worth telling the machine."""

    event: E_co | None = None


class Performer(Protocol[S_contra, E_co]):
    async def __call__(self, effect: Effect, context: EffectContext[S_contra]) -> Outcome[E_co]: ...


class Engine(Protocol[S_co, E_contra]):
    """A running shell."""

    async def accept(self, delivery: Delivery) -> bool:
        """Store durably; False when this GUID was accepted before. Raises StoreError when it could not be stored."""

    def take(self, delivery: Delivery, told: Told) -> None:
        """The same for whoever has many at once: `told` hears of it on the event loop, right after the commit."""

    async def unheard(self, guids: Collection[str]) -> frozenset[str]:
        """Those of these GUIDs that were never accepted, or so long ago that they are forgotten."""

    async def advance(self, key: str, event: E_contra, *, cause: str) -> None:
        """Deliver an event from inside the process; `cause` names where it came from in the log.

        Raises what `step` raised (nothing was stored then), or StoreError.
        """

    async def read(self, key: str) -> S_co | None:
        """The aggregate's state as committed now; None where nothing was ever delivered to it."""

    async def run(self) -> None:
        """Consume deliveries, fire timers and perform effects. Ends only by cancellation or a fault."""

    @property
    def running(self) -> bool:
        """Whether `run` is under way, and no fault has ended it."""

    async def idle(self) -> None:
        """Return when no delivery waits, no effect is due or running and no timer is due: the tests' marker.

        What waits for a later time (a retry, a timer) does not count. Raises the fault that ended `run`, if one did.
        """

    async def next_due(self) -> datetime | None:
        """When the next waiting delivery, effect or timer comes due; None where nothing waits. May be in the past."""

    async def overview(self) -> Overview:
        """All that is open now, for operators: deliveries, effects, timers, slots, undeliverable events."""

    async def counts(self) -> Counts:
        """The oldest unhandled delivery and what is dead: cheap, however much is parked.

        Raises OnlyRead where nothing can be stored any more, though it can be read.
        """

    async def log(self, key: str) -> Sequence[LogView]:
        """All an aggregate went through, oldest first."""

    async def history(self, key: str) -> History:
        """The same with its events, every effect and every attempt that ended: for whoever traces how it came about."""

    async def revive(self) -> None:
        """Try again what was given up as dead: for an operator, once the bug behind it is fixed."""

    async def remember(self, name: str, at: datetime, *, not_after: datetime | None = None) -> None:
        """Keep this moment under a name, for the next life and for whoever shares the store; the later one stays.

        One that is known but lies after `not_after` was written by a clock that went wrong, and gives way.
        """

    async def remembered(self, name: str) -> datetime | None: ...

    async def take_turn(self, name: str, every: timedelta) -> bool:
        """Whether no process that shares the store took this turn within `every`; True: it is taken now."""

    async def sweep(self) -> None:
        """Forget what is old enough: GUIDs that cannot come again, payloads of effects that ended. Never the log.

        A running engine does so by itself, hourly.
        """
