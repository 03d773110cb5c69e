"""The stage the contract suite plays on: a shell, a clock the test moves, and performers it holds in its hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from bot.engine.policy import Backoff, EffectPolicy, Lane
from bot.engine.port import Clock, Effect, EffectContext, Engine, Machine, Outcome
from tests.engine.clock import ManualClock
from tests.engine.script import Do, Noted, Script, failed

Policy = EffectPolicy[Noted, Do]
Opening = AbstractAsyncContextManager[Engine[Noted, Do]]
Shell = Callable[[Machine[Noted, Do], Sequence[Policy], Sequence[Lane], Clock], Opening]
"""Opens engines on one store; opening again after the first is gone finds what it left."""

MINUTE = timedelta(minutes=1)
LANES = (Lane("wide", 8), Lane("narrow", 1), Lane("pair", 2))


def seeded(seed: int) -> Random:
    """Jitter that a test can repeat."""
    return Random(seed)


class Flaky(Exception):
    """A failure worth another attempt."""

    def __init__(self, retry_after: timedelta | None = None) -> None:
        super().__init__("flaky")
        self.retry_after = retry_after


@dataclass
class Held:
    """An effect whose performer waits for the test: `reached` when it is there, `go` to let it end."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    context: EffectContext[Noted] | None = None
    error: BaseException | None = None
    cancelled: bool = False

    async def is_revoked(self) -> bool:
        await self.reached.wait()
        assert self.context is not None
        return self.context.revoked.is_set()


class Hands:
    """The performer of every kind: notes each call, and does what the test laid out for that effect."""

    def __init__(self) -> None:
        self.calls: list[Effect] = []
        self.errors: dict[str, list[BaseException]] = {}
        self.says: dict[str, str] = {}
        self._held: dict[str, Held] = {}
        self.busy = 0
        self.busiest = 0

    @property
    def performed(self) -> list[str]:
        return [effect.id for effect in self.calls]

    def hold(self, effect_id: str) -> Held:
        """From now on the performer of this effect waits for `go`."""
        return self._held.setdefault(effect_id, Held())

    async def __call__(self, effect: Effect, context: EffectContext[Noted]) -> Outcome[Do]:
        self.calls.append(effect)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            if held := self._held.get(effect.id):
                await self._wait(held, context)
            if errors := self.errors.get(effect.id):
                raise errors.pop(0)
        finally:
            self.busy -= 1
        return Outcome(Do(self.says.get(effect.id, f"{effect.id} done")))

    async def _wait(self, held: Held, context: EffectContext[Noted]) -> None:
        held.context = context
        held.reached.set()
        try:
            await held.go.wait()
        except asyncio.CancelledError:
            held.cancelled = True
            raise
        if held.error is not None:
            raise held.error


def policies(hands: Hands) -> tuple[Policy, ...]:
    """`act` in the wide lane, `narrow` and `pair` in theirs; `patient` never gives up."""
    kinds = (("act", "wide", 3), ("narrow", "narrow", 3), ("pair", "pair", 3), ("patient", "wide", 0))
    return tuple(
        EffectPolicy(
            kind=kind,
            lane=lane,
            perform=hands,
            failed=failed,
            retryable=lambda error: isinstance(error, Flaky),
            deadline=timedelta(minutes=10),
            attempts=attempts,
            backoff=Backoff(first=MINUTE, factor=2, most=timedelta(hours=1), jitter=0),
        )
        for kind, lane, attempts in kinds
    )


@dataclass
class Stage:
    engine: Engine[Noted, Do]
    clock: ManualClock
    machine: Script
    hands: Hands

    async def labels(self, key: str) -> tuple[str, ...]:
        """What the aggregate heard so far, in order."""
        state = await self.engine.read(key)
        return () if state is None else state.labels

    async def do(self, key: str, event: Do) -> None:
        """Deliver an event and let the engine come to rest."""
        await self.engine.advance(key, event, cause="test")
        await self.engine.idle()


@asynccontextmanager
async def playing(
    shell: Shell,
    *,
    clock: ManualClock | None = None,
    hands: Hands | None = None,
    machine: Script | None = None,
    registry: Sequence[Policy] | None = None,
) -> AsyncIterator[Stage]:
    """A running engine. Leaving stops it in good order; a fault of its loop fails the test."""
    clock, hands, machine = clock or ManualClock(), hands or Hands(), machine or Script()
    async with shell(machine, registry or policies(hands), LANES, clock) as engine:
        running = asyncio.create_task(engine.run())
        try:
            yield Stage(engine, clock, machine, hands)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
