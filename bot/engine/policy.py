"""How effects are performed: in lanes, within a deadline, again after a wait, and what it means when they fail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Generic

import msgspec

from bot.engine.port import E, Effect, Performer, S


class Lane(msgspec.Struct, frozen=True):
    """At most `limit` effects at once in each partition of the lane."""

    name: str
    limit: int


class Backoff(msgspec.Struct, frozen=True):
    """Waits grow from `first` by `factor` up to `most`, each shortened by up to `jitter` of itself (0..1)."""

    first: timedelta = timedelta(seconds=1)
    factor: float = 2.0
    most: timedelta = timedelta(minutes=5)
    jitter: float = 0.3


class EffectPolicy(msgspec.Struct, Generic[S, E], frozen=True):
    """One row of the registry: how a kind of effect is performed and what happens when it fails.

    An exception for which `retryable` holds is tried again, `attempts` times at most (0: without end), or more often
    while `patience` lasts from when the effect was asked for, and not before its `retry_after` attribute (a timedelta)
    where it has one. Anything else, and exhaustion, becomes the event `failed(effect, error)`.
    Attempts that died with their process are counted by themselves, from the fifth on. Those that found the store away
    are tried again whatever `retryable` says, and exhaust from the fifth on. A performer that outlives
    `deadline` is cancelled and counts as a retryable TimeoutError.
    """

    kind: str
    lane: str
    perform: Performer[S, E]
    failed: Callable[[Effect, BaseException], E]
    retryable: Callable[[BaseException], bool]
    deadline: timedelta = timedelta(minutes=5)
    attempts: int = 8
    backoff: Backoff = msgspec.field(default_factory=Backoff)
    patience: timedelta = timedelta(0)
