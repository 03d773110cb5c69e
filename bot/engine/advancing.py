"""Moving aggregates: load, step, write all that the transition asks for, and go on with the slots it granted."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import datetime
from random import Random
from typing import Generic, TypeVar

import msgspec

from bot.engine.performing import wait_before_retry
from bot.engine.policy import Backoff
from bot.engine.port import Machine, StoreError, Transition
from bot.engine.tables import inspection, outbox, slots, stalled, timers
from bot.engine.times import stored
from bot.engine.transaction import Savepoint, Tx

S = TypeVar("S")
E = TypeVar("E")
logger = logging.getLogger(__name__)

MOST_MOVES = 1000
"""Events one transaction may deliver: far above any chain of grants, and an end to a machine that chases itself."""

BUG_ATTEMPTS = 5
BUG_BACKOFF = Backoff()
"""A machine that raises will mostly raise again: a few tries, for what depends on other state, then a human."""


class RestlessMachine(RuntimeError):
    """The machine's events cause each other without end."""


class Arrival(msgspec.Struct, Generic[E], frozen=True):
    """An event on its way to an aggregate; `cause` names where it came from, for the log."""

    key: str
    event: E
    cause: str


class Advancing(Generic[S, E]):
    def __init__(self, machine: Machine[S, E], lane_of: Mapping[str, str], random: Random) -> None:
        self._machine = machine
        self._lane_of = lane_of
        self._random = random

    def deliver(self, tx: Tx, arrivals: Iterable[Arrival[E]], now: datetime) -> None:
        """Move the aggregates until no event is left. Raises what the machine raises: undo the transaction then."""
        waiting: deque[Arrival[E] | slots.Grant] = deque(arrivals)
        for _ in range(MOST_MOVES):
            if not waiting:
                return
            arrival = waiting.popleft()
            if isinstance(arrival, slots.Grant):
                waiting.extend(self._move_granted(tx, arrival, now))
            else:
                waiting.extend(self._move(tx, arrival, now))
        raise RestlessMachine(f"{MOST_MOVES} events in one transaction, the last for {waiting[0].key}")

    def deliver_stored(self, tx: Tx, key: str, event: bytes, cause: str, now: datetime) -> None:
        """Deliver one event of the engine's own; where the machine raises, keep the event to try again."""
        with Savepoint(tx) as savepoint:
            self.deliver(tx, [Arrival(key, self._machine.load_event(event), cause)], now)
        if bug := savepoint.bug():
            self._keep(tx, key, event, cause, bug, now)

    def redeliver(self, tx: Tx, event: stalled.Stalled, now: datetime) -> None:
        with Savepoint(tx) as savepoint:
            self.deliver(tx, [Arrival(event.key, self._machine.load_event(event.event), event.cause)], now)
            stalled.delivered(tx, event)
        if bug := savepoint.bug():
            ids = {"key": event.key, "cause": event.cause, "attempt": event.attempts + 1}
            logger.error("step failed again", exc_info=bug, extra=ids)
            stalled.failed(tx, event, describe(bug), self.bug_retry(event.attempts + 1, now))

    def bug_retry(self, attempts: int, now: datetime) -> datetime | None:
        """When to try again what a bug broke `attempts` times; None: never."""
        if attempts >= BUG_ATTEMPTS:
            return None
        return now + wait_before_retry(BUG_BACKOFF, attempts, None, self._random)

    def _keep(self, tx: Tx, key: str, event: bytes, cause: str, bug: Exception, now: datetime) -> None:
        logger.error("step failed, event kept", exc_info=bug, extra={"key": key, "cause": cause})
        wait = wait_before_retry(BUG_BACKOFF, 1, None, self._random)
        stalled.keep(tx, key, event, cause, describe(bug), now + wait)

    def _move_granted(self, tx: Tx, grant: slots.Grant, now: datetime) -> list[slots.Grant]:
        """What one aggregate gave back is another's: a bug that it meets there must not undo the first one's event."""
        cause, grants = f"slot:{grant.slot}", list[slots.Grant]()
        with Savepoint(tx) as savepoint:
            grants = self._move(tx, Arrival(grant.key, self._machine.load_event(grant.event), cause), now)
        if bug := savepoint.bug():
            self._keep(tx, grant.key, grant.event, cause, bug, now)
        return grants

    def _move(self, tx: Tx, arrival: Arrival[E], now: datetime) -> list[slots.Grant]:
        tx.sharing.lock(tx, arrival.key)
        row = inspection.state(tx, arrival.key)
        state = self._machine.initial(arrival.key) if row is None else load_state(self._machine, *row)
        transition = self._machine.step(state, arrival.event, now)
        kind, event = self._machine.dump_event(arrival.event)
        tx.execute(
            "INSERT INTO aggregates (key, schema, state, updated_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (key) DO UPDATE SET schema = excluded.schema, state = excluded.state, "
            "updated_at = excluded.updated_at",
            (arrival.key, self._machine.state_schema, self._machine.dump_state(transition.state), stored(now)),
        )
        ((move,),) = tx.execute(
            "INSERT INTO log (key, at, kind, event, cause, reason) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq",
            (arrival.key, stored(now), kind, event, arrival.cause, transition.reason),
        ).fetchall()
        tx.note(f"moved by {kind}", key=arrival.key, cause=arrival.cause, reason=transition.reason)
        return self._apply(tx, arrival.key, move, transition, now)

    def _apply(self, tx: Tx, key: str, move: int, transition: Transition[S, E], now: datetime) -> list[slots.Grant]:
        """`move`: the log's row of this transition."""
        for scope in transition.revoke:
            outbox.revoke(tx, key, scope, now)
        for name in transition.cancel_timers:
            timers.cancel_timer(tx, key, name)
        for effect in transition.effects:
            outbox.insert(tx, key, self._lane_of[effect.kind], effect, move, now)
        for timer in transition.timers:
            timers.set_timer(tx, key, timer.name, timer.due, self._machine.dump_event(timer.event)[1])
        grants = [slots.release(tx, holder) for holder in transition.release]
        for wish in transition.acquire:
            event = self._machine.dump_event(wish.granted)[1]
            grants.append(slots.acquire(tx, key, wish.slot, wish.holder, event))
        return [grant for grant in grants if grant is not None]


def load_state(machine: Machine[S, E], schema: int, data: bytes) -> S:
    """Read a stored state. StoreError where a newer release, running beside this one, has written it."""
    if schema > machine.state_schema:
        raise StoreError(
            f"a newer release runs beside this one and wrote state_schema {schema}, this release knows "
            f"{machine.state_schema}; stop this one",
            transient=False,
        )
    return machine.load_state(schema, data)


def describe(error: BaseException) -> str:
    """An error in one line for a row: its type and the beginning of its text, where no encoding holds it with a `?`.

    Texts may have file names in them that are no UTF-8, and what cannot be recorded would end the engine.
    """
    return f"{type(error).__name__}: {error}"[:500].encode("utf-8", "replace").decode()
