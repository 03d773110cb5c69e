"""A toy machine whose events carry their own transition: a test writes what should happen as data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from bot.engine.port import Delivery, Effect, EffectRequest, SlotRequest, Timer, Transition


class Act(msgspec.Struct, frozen=True):
    """An effect to ask for; `says` is the label of the event its performer returns."""

    id: str
    kind: str = "act"
    scope: str = ""
    partition: str = ""
    coalesce: str = ""
    after: timedelta | None = None


class Alarm(msgspec.Struct, frozen=True):
    name: str
    after: timedelta
    then: Do


class Wish(msgspec.Struct, frozen=True):
    slot: str
    holder: str
    then: Do


class Do(msgspec.Struct, frozen=True):
    """An event: note `label` in the state, and do the rest. A label in `Script.poison` makes `step` raise."""

    label: str
    effects: tuple[Act, ...] = ()
    revoke: tuple[str, ...] = ()
    timers: tuple[Alarm, ...] = ()
    cancel: tuple[str, ...] = ()
    acquire: tuple[Wish, ...] = ()
    release: tuple[str, ...] = ()


class Noted(msgspec.Struct, frozen=True):
    """The state: labels in the order of their events."""

    labels: tuple[str, ...] = ()


class Poisoned(Exception):
    """What a bug in a machine looks like to the engine."""


class Script:
    def __init__(self, schema: int = 1) -> None:
        self.state_schema = schema
        self.poison: set[str] = set()
        self.mourners: tuple[str, ...] = ()

    def initial(self, key: str) -> Noted:
        return Noted()

    def step(self, state: Noted, event: Do, now: datetime) -> Transition[Noted, Do]:
        if event.label in self.poison:
            raise Poisoned(event.label)
        return Transition(
            Noted((*state.labels, event.label)),
            effects=tuple(
                EffectRequest(
                    id=act.id,
                    kind=act.kind,
                    payload={"id": act.id},
                    scope=act.scope,
                    partition=act.partition,
                    coalesce=act.coalesce,
                    due=None if act.after is None else now + act.after,
                )
                for act in event.effects
            ),
            revoke=event.revoke,
            timers=tuple(Timer(alarm.name, now + alarm.after, alarm.then) for alarm in event.timers),
            cancel_timers=event.cancel,
            acquire=tuple(SlotRequest(wish.slot, wish.holder, wish.then) for wish in event.acquire),
            release=event.release,
            reason=f"because {event.label}",
        )

    def route(self, delivery: Delivery) -> Sequence[tuple[str, Do]]:
        assert delivery.body is not None
        return msgspec.json.decode(delivery.body, type=list[tuple[str, Do]])

    def unheard(self, delivery: Delivery) -> Sequence[tuple[str, Do]]:
        return [(key, Do(f"unheard {delivery.guid}")) for key in self.mourners]

    def dump_state(self, state: Noted) -> bytes:
        return msgspec.json.encode(state)

    def load_state(self, schema: int, data: bytes) -> Noted:
        assert schema <= self.state_schema
        return msgspec.json.decode(data, type=Noted)

    def dump_event(self, event: Do) -> tuple[str, bytes]:
        return event.label, msgspec.json.encode(event)

    def load_event(self, data: bytes) -> Do:
        return msgspec.json.decode(data, type=Do)


def delivery(guid: str, *events: tuple[str, Do]) -> Delivery:
    return Delivery(guid, "order", msgspec.json.encode(events))


def failed(effect: Effect, error: BaseException) -> Do:
    return Do(f"{effect.id} failed: {type(error).__name__}")
