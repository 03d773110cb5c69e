"""The engine's transactions: what the runner asks of the database, one method for each kind of work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Generic, TypeVar

import msgspec

from bot.engine.advancing import Advancing, Arrival, describe
from bot.engine.performing import Broke, wait_before_retry
from bot.engine.policy import EffectPolicy, Lane
from bot.engine.port import Delivery, Effect, Lethal, Machine, Outcome, Revoked, StoreError
from bot.engine.tables import attempts, inbox, outbox, stalled, timers
from bot.engine.times import loaded, stored
from bot.engine.transaction import Savepoint, Tx

S = TypeVar("S")
E = TypeVar("E")
logger = logging.getLogger(__name__)

MOST_DEATHS = 5
"""A process that dies takes along whatever it performs, and a store that is away whoever reads it: only of what was
there so often it may be believed."""

_SWEEP_EVERY = timedelta(hours=1)


class Round(msgspec.Struct, frozen=True):
    """What one look at the tables gave: effects to perform, whether to look again at once, and when else."""

    claimed: Sequence[Effect]
    more: bool
    next_due: datetime | None


class Desk(Generic[S, E]):
    def __init__(
        self,
        machine: Machine[S, E],
        policies: Mapping[str, EffectPolicy[S, E]],
        lanes: Sequence[Lane],
        random: Random,
        *,
        together: bool,
    ) -> None:
        """`together`: one transaction may hold many aggregates, since no other process waits for them."""
        self._machine = machine
        self._policies = policies
        self._lanes = lanes
        self._random = random
        self._advancing = Advancing(machine, {policy.kind: policy.lane for policy in policies.values()}, random)
        self._together = together
        self._in_a_row = 0
        self._swept_at: datetime | None = None

    def advance(self, tx: Tx, key: str, event: E, cause: str, now: datetime) -> None:
        self._advancing.deliver(tx, [Arrival(key, event, cause)], now)

    def look(self, tx: Tx, now: datetime, most: int) -> Round:
        """Consume deliveries, fire timers, try stalled events again, at most so many; claim effects.

        Where not all is done in one transaction, each item has its own, and so have the claims.
        """
        self._sweep_sometimes(tx, now)
        if not self._together:
            return self._look_apart(tx, now, most)
        worked = 0
        while worked < most and self._work_once(tx, now):
            worked += 1
        return Round(outbox.claim(tx, self._lanes, now), worked == most, next_due(tx, now))

    def _look_apart(self, tx: Tx, now: datetime, most: int) -> Round:
        if self._in_a_row < most and self._work_once(tx, now):
            self._in_a_row += 1
            return Round((), True, None)
        more, self._in_a_row = self._in_a_row >= most, 0
        return Round(outbox.claim(tx, self._lanes, now), more, next_due(tx, now))

    def _work_once(self, tx: Tx, now: datetime) -> bool:
        if waiting := inbox.next_waiting(tx, now):
            self._consume(tx, waiting, now)
        elif due := timers.next_due(tx, now):
            if timer := timers.take(tx, *due):
                self._advancing.deliver_stored(tx, timer.key, timer.event, f"timer:{timer.name}", now)
        elif due := stalled.next_due(tx, now):
            if event := stalled.take(tx, *due, now):
                self._advancing.redeliver(tx, event, now)
        else:
            return False
        return True

    def _consume(self, tx: Tx, waiting: inbox.Waiting, now: datetime) -> None:
        guid = waiting.delivery.guid
        with Savepoint(tx) as savepoint:
            events = self._machine.route(waiting.delivery)
            # In one order everywhere, so that two deliveries about the same aggregates do not wait for each other.
            for key in sorted({key for key, _ in events}):
                tx.sharing.lock(tx, key)
            self._advancing.deliver(tx, [Arrival(key, event, f"delivery:{guid}") for key, event in events], now)
            inbox.handled(tx, waiting)
        if bug := savepoint.bug():
            ids = {"delivery": guid, "attempt": waiting.attempts + 1}
            logger.error("delivery failed", exc_info=bug, extra=ids)
            again_at = self._advancing.bug_retry(waiting.attempts + 1, now)
            inbox.failed(tx, waiting, describe(bug), again_at)
            if again_at is None:
                self._give_up(tx, waiting.delivery, now)
        else:
            tx.note("delivery handled", delivery=guid, keys=[key for key, _ in events])

    def _give_up(self, tx: Tx, delivery: Delivery, now: datetime) -> None:
        """Somebody may wait for an answer; a machine that cannot even give that one leaves it at the dead delivery."""
        cause = f"dead delivery:{delivery.guid}"
        with Savepoint(tx) as savepoint:
            told = self._machine.unheard(delivery)
            self._advancing.deliver(tx, [Arrival(key, event, cause) for key, event in told], now)
        if bug := savepoint.bug():
            logger.error("nobody can be told of the dead delivery", exc_info=bug, extra={"delivery": delivery.guid})

    def settle(self, tx: Tx, effect: Effect, ending: Outcome[E] | Broke, begun: attempts.Begun, now: datetime) -> None:
        """End an attempt: deliver the outcome, wait for another attempt, or deliver the failure."""
        ids = {"effect": effect.id, "key": effect.key, "attempt": effect.attempt}
        if not outbox.is_held(tx, effect):
            logger.error("another process took this effect over, its end is told there", extra=ids)
            return
        if isinstance(ending, Outcome):
            attempts.record(tx, effect, begun, "done", now)
            outbox.end(tx, effect, "done", now)
            tx.note("effect done", **ids)
            event = ending.event
            if event is not None:
                self._tell(tx, effect, lambda: event, now)
            return
        attempts.record(tx, effect, begun, "broke", now, describe(ending.error))
        retryable = self._retryable(tx, effect, ending)
        if retryable and outbox.is_revoked(tx, effect):
            self._fail(tx, effect, Revoked(describe(ending.error)), now)
        elif retryable and self._may_retry(effect, ending.error, now):
            policy = self._policies[effect.kind]
            due = now + wait_before_retry(policy.backoff, effect.attempt, ending.error, self._random)
            outbox.retry(tx, effect, describe(ending.error), due)
            logger.warning("effect tried again at %s: %s", due.isoformat(), ending.error, extra=ids)
        else:
            traceback = None if retryable else ending.error
            logger.error("effect failed: %s", ending.error, exc_info=traceback, extra=ids)
            self._fail(tx, effect, ending.error, now)

    def drop_unstarted(self, tx: Tx, effect: Effect, now: datetime) -> None:
        """An effect revoked between its claim and its performer's first step: nobody acted."""
        if outbox.is_held(tx, effect):
            outbox.end(tx, effect, "cancelled", now)

    def reclaim(self, tx: Tx, now: datetime) -> int:
        """Take over what a dead process had claimed. Returns how many effects."""
        orphans = tx.sharing.orphans(tx)
        for effect_id in orphans:
            effect = outbox.one(tx, effect_id)
            if not outbox.is_held(tx, effect):
                continue
            attempts.record_death(tx, effect, now)
            if outbox.is_revoked(tx, effect):
                self._fail(tx, effect, Revoked("the process died while the revoked effect was performed"), now)
                continue
            self._perform_again(tx, effect, now)
        return len(orphans)

    def _perform_again(self, tx: Tx, effect: Effect, now: datetime) -> None:
        """A process died with it: chance, or its doing. At once the first time, later each time after that."""
        ids = {"effect": effect.id, "key": effect.key, "attempt": effect.attempt}
        policy, died = self._policies[effect.kind], "the process died while it was performed"
        deaths = effect.attempt - attempts.broken(tx, effect)
        if policy.attempts and deaths >= max(policy.attempts, MOST_DEATHS):
            tx.note("effect was claimed by one process after the other that died; it is given up", **ids)
            self._fail(tx, effect, Lethal(died), now)
            return
        tx.note("effect was claimed by a process that died; it is performed again", **ids)
        wait = timedelta(0)
        if deaths > 1:
            wait = wait_before_retry(policy.backoff, deaths - 1, None, self._random)
        outbox.retry(tx, effect, died, now + wait)

    def _retryable(self, tx: Tx, effect: Effect, broke: Broke) -> bool:
        answer = broke.timed_out or _store_was_away(broke.error)
        with Savepoint(tx) as savepoint:
            answer = answer or self._policies[effect.kind].retryable(broke.error)
        if bug := savepoint.bug():
            logger.error("nobody knows whether to try again: no", exc_info=bug, extra={"effect": effect.id})
        return answer

    def _may_retry(self, effect: Effect, error: BaseException, now: datetime) -> bool:
        policy = self._policies[effect.kind]
        if policy.attempts == 0 or now - effect.created_at < policy.patience:
            return True
        return effect.attempt < (max(policy.attempts, MOST_DEATHS) if _store_was_away(error) else policy.attempts)

    def _fail(self, tx: Tx, effect: Effect, error: BaseException, now: datetime) -> None:
        outbox.end(tx, effect, "failed", now, describe(error))
        self._tell(tx, effect, lambda: self._policies[effect.kind].failed(effect, error), now)

    def _tell(self, tx: Tx, effect: Effect, say: Callable[[], E], now: datetime) -> None:
        """Deliver how the effect ended. Where not even the event can be made, the effect is dead."""
        with Savepoint(tx) as savepoint:
            _, event = self._machine.dump_event(say())
        if bug := savepoint.bug():
            ids = {"effect": effect.id, "key": effect.key}
            logger.error("the end could not be put into words; the effect is dead", exc_info=bug, extra=ids)
            outbox.end(tx, effect, "dead", now, describe(bug))
        else:
            self._advancing.deliver_stored(tx, effect.key, event, f"effect:{effect.id}", now)

    def _sweep_sometimes(self, tx: Tx, now: datetime) -> None:
        if self._swept_at is None or now - self._swept_at >= _SWEEP_EVERY:
            self._swept_at = now
            sweep(tx, now)


def _store_was_away(error: BaseException) -> bool:
    """The performer could not read what it acts on: no doing of its own, and the store is back where this is asked."""
    return isinstance(error, StoreError) and error.transient


def revive(tx: Tx, now: datetime) -> None:
    for table in (inbox, outbox, stalled):
        table.revive(tx, now)


def sweep(tx: Tx, now: datetime) -> None:
    inbox.sweep(tx, now)
    outbox.sweep(tx, now)
    attempts.sweep(tx, now)


def next_due(tx: Tx, after: datetime | None) -> datetime | None:
    """When the next of what waits comes due, later than `after` where given."""
    limit = -1 if after is None else stored(after)
    dues = tx.execute(
        "SELECT (SELECT min(due) FROM deliveries WHERE status = 'waiting' AND due > ?), "
        "(SELECT min(due) FROM stalled WHERE dead = 0 AND due > ?), "
        "(SELECT min(due) FROM timers WHERE due > ?), "
        "(SELECT min(due) FROM effects WHERE status = 'pending' AND due > ?)",
        (limit,) * 4,
    ).fetchone()
    return min((loaded(due) for due in dues if due is not None), default=None)


def is_idle(tx: Tx, now: datetime) -> bool:
    """Nothing is due and nothing runs."""
    (busy,) = tx.execute(
        "SELECT EXISTS (SELECT 1 FROM deliveries WHERE status = 'waiting' AND due <= ?) "
        "OR EXISTS (SELECT 1 FROM stalled WHERE dead = 0 AND due <= ?) "
        "OR EXISTS (SELECT 1 FROM timers WHERE due <= ?) "
        "OR EXISTS (SELECT 1 FROM effects WHERE status = 'pending' AND due <= ?) "
        "OR EXISTS (SELECT 1 FROM effects WHERE status = 'claimed')",
        (stored(now),) * 4,
    ).fetchone()
    return not busy
