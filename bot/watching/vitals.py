"""Health, trouble, and what is remembered of a ferry between two looks: values, stored with the attempt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec


class Health(StrEnum):
    """How a ferry is doing, in one word."""

    queued = "queued"
    starting = "starting"
    progressing = "progressing"
    straggling = "straggling"
    stalled = "stalled"
    zombie = "zombie"
    workers_failing = "workers_failing"
    resource_exhausted = "resource_exhausted"
    unreachable = "unreachable"


class TroubleKind(StrEnum):
    """What a reviewer is called for, once a kind and run."""

    stalled = "stalled"
    zombie = "zombie"
    workers_failing = "workers_failing"
    resource_exhausted = "resource_exhausted"
    overdue = "overdue"
    slow_stage = "slow_stage"


class Trouble(msgspec.Struct, frozen=True):
    """One trouble, from when it was first seen to when it was over (None: it goes on).

    `what` names its subject where a kind can have several (a stage). `evidence` are sentences, `log` are lines as
    they were.
    """

    kind: TroubleKind
    since: datetime
    evidence: tuple[str, ...]
    log: tuple[str, ...] = ()
    what: str = ""
    until: datetime | None = None


class Vitals(msgspec.Struct, frozen=True):
    """A ferry's health and what has to be remembered to tell it at the next look.

    `moved_at` is when a shard, a stage or a pipeline was last seen to advance, `furthest` how far each stage of each
    pipeline was seen, `tail` the stages that had only stragglers, `unseen_since` since when the controller is silent.
    """

    health: Health = Health.starting
    since: datetime | None = None
    evidence: tuple[str, ...] = ()
    moved_at: datetime | None = None
    furthest: dict[str, int] = {}
    tail: tuple[str, ...] = ()
    looked_at: datetime | None = None
    unseen_since: datetime | None = None
    troubles: tuple[Trouble, ...] = ()

    @property
    def current(self) -> tuple[Trouble, ...]:
        return tuple(trouble for trouble in self.troubles if trouble.until is None)


class Limits(msgspec.Struct, frozen=True):
    """What the gate's configuration and its baseline say, in seconds.

    `baseline` holds the stages' times, which fail the gate `fail_percent` beyond them (None: not by that table).
    `remaining` is how long the ferry is expected to go on, None where nobody knows.
    """

    stall: float
    wall: float
    baseline: Mapping[str, float] = {}
    fail_percent: float | None = None
    excluded: tuple[str, ...] = ()
    remaining: float | None = None
