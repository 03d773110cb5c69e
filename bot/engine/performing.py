"""One attempt at one effect: the deadline, and what its failure means. Shared by every shell."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random
from typing import TypeVar

import msgspec

from bot.engine.policy import Backoff, EffectPolicy
from bot.engine.port import Effect, EffectContext, Outcome

S = TypeVar("S")
E = TypeVar("E")


class Broke(msgspec.Struct, frozen=True):
    """The performer raised, or outlived its deadline (then `error` is a TimeoutError and `timed_out` holds)."""

    error: BaseException
    timed_out: bool = False


async def attempt(policy: EffectPolicy[S, E], effect: Effect, context: EffectContext[S]) -> Outcome[E] | Broke:
    """Perform once. Cancelling this cancels the performer and waits for it; CancelledError then goes on to the caller.

    A performer that ends with an outcome in spite of being cancelled has acted: that outcome is returned, always.
    """
    performer = asyncio.ensure_future(policy.perform(effect, context))
    ended = asyncio.Event()
    performer.add_done_callback(lambda _: ended.set())
    try:
        await context.clock.wait(ended, context.clock.now() + policy.deadline)
    except asyncio.CancelledError:
        await _cancel(performer)
        if performer.cancelled() or performer.exception() is not None:
            raise
        return performer.result()
    timed_out = not performer.done()
    if timed_out:
        await _cancel(performer)
    if performer.cancelled():
        return Broke(
            TimeoutError(f"longer than {policy.deadline}") if timed_out else asyncio.CancelledError(), timed_out
        )
    error = performer.exception()
    if error is None:
        return performer.result()
    return Broke(error, timed_out)


async def _cancel(performer: asyncio.Future[Outcome[E]]) -> None:
    performer.cancel()
    await asyncio.wait({performer})


def wait_before_retry(backoff: Backoff, attempt: int, error: BaseException | None, random: Random) -> timedelta:
    """How long to wait after the failure of `attempt` (from 1): the schedule's wait, never less than `retry_after`."""
    try:
        grown = backoff.first * backoff.factor ** (attempt - 1)
    except OverflowError:
        grown = backoff.most
    wait = min(grown, backoff.most) * (1 - backoff.jitter * random.random())
    asked = getattr(error, "retry_after", None)
    return max(wait, asked) if isinstance(asked, timedelta) else wait
