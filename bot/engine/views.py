"""What an operator may see of an engine: plain values, the same from every shell."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class DeliveryView(msgspec.Struct, frozen=True):
    """A delivery that is not handled yet; `dead`: given up, with its last error."""

    guid: str
    event: str
    received_at: datetime
    attempts: int
    error: str | None
    due: datetime
    dead: bool


class EffectView(msgspec.Struct, frozen=True):
    """An effect that waits, runs (`claimed`) or is dead (its failure could not be told to the machine)."""

    id: str
    key: str
    kind: str
    lane: str
    partition: str
    scope: str
    status: str
    revoked: bool
    attempts: int
    due: datetime
    last_error: str | None
    created_at: datetime


class TimerView(msgspec.Struct, frozen=True):
    key: str
    name: str
    due: datetime


class SlotView(msgspec.Struct, frozen=True):
    """One holder (`granted`) or one that waits; in order of asking within a slot."""

    slot: str
    holder: str
    key: str
    granted: bool


class StalledView(msgspec.Struct, frozen=True):
    """An event of a timer or an effect whose `step` raised; `dead`: given up, with its last error."""

    key: str
    cause: str
    attempts: int
    error: str
    due: datetime
    dead: bool


class LogView(msgspec.Struct, frozen=True):
    key: str
    at: datetime
    kind: str
    cause: str
    reason: str


class MoveView(msgspec.Struct, frozen=True):
    """A row of the log with its event as stored; `seq` orders all there are."""

    seq: int
    key: str
    at: datetime
    kind: str
    event: bytes
    cause: str
    reason: str


class ActView(msgspec.Struct, frozen=True):
    """An effect, also one that ended. `asked_by`: the move it came from (None of an older release's); `payload`: JSON,
    empty once it was swept."""

    id: str
    key: str
    kind: str
    scope: str
    payload: bytes
    status: str
    attempts: int
    due: datetime
    created_at: datetime
    claimed_at: datetime | None
    ended_at: datetime | None
    last_error: str | None
    asked_by: int | None


class AttemptView(msgspec.Struct, frozen=True):
    """An attempt that ended: `ended_as` done, broke or died; `notes` as its performer left them."""

    effect: str
    attempt: int
    began_at: datetime
    ended_at: datetime
    ended_as: str
    error: str | None
    notes: list[Any]


class History(msgspec.Struct, frozen=True):
    """All that an aggregate went through and all that was done for it, each oldest first."""

    moves: tuple[MoveView, ...]
    acts: tuple[ActView, ...]
    attempts: tuple[AttemptView, ...]


class ReceivedView(msgspec.Struct, frozen=True):
    """A delivery whose GUID is still kept. `status`: waiting, handled or dead."""

    guid: str
    event: str
    received_at: datetime
    status: str
    attempts: int
    error: str | None


class Counts(msgspec.Struct, frozen=True):
    """What tells at a glance whether work is being done. `dead_*`: given up, for a human."""

    oldest_waiting: datetime | None
    dead_deliveries: int
    dead_effects: int
    dead_events: int

    @property
    def dead(self) -> int:
        return self.dead_deliveries + self.dead_effects + self.dead_events


class Overview(msgspec.Struct, frozen=True):
    """Everything open at one moment. `oldest_waiting`: when the oldest unhandled delivery was received."""

    deliveries: tuple[DeliveryView, ...]
    effects: tuple[EffectView, ...]
    timers: tuple[TimerView, ...]
    slots: tuple[SlotView, ...]
    stalled: tuple[StalledView, ...]

    @property
    def dead(self) -> int:
        """What the engine gave up on and a human must look at."""
        return (
            sum(delivery.dead for delivery in self.deliveries)
            + sum(effect.status == "dead" for effect in self.effects)
            + sum(event.dead for event in self.stalled)
        )

    @property
    def oldest_waiting(self) -> datetime | None:
        return min((delivery.received_at for delivery in self.deliveries if not delivery.dead), default=None)
