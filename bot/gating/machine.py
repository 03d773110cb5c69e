"""The gate as the engine sees it: `step`, routing, and the stored form of states and events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import cache

import msgspec

from bot.engine.port import Delivery, Transition
from bot.gating import deliveries
from bot.gating.events import Event
from bot.gating.model import PullRequest
from bot.gating.step import step

Upcaster = Callable[[dict[str, object]], dict[str, object]]

# Stored state of schema N becomes N + 1 by UPCASTERS[N]; events stay readable because new fields have defaults.
SCHEMA = 1
UPCASTERS: dict[int, Upcaster] = {}

_encoder = msgspec.json.Encoder()
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


@cache
def _reads_state() -> msgspec.json.Decoder[PullRequest]:
    """Made when a state is first read: it looks at every type in it, and a start does not wait for that."""
    return msgspec.json.Decoder(PullRequest)


class GateMachine:
    """`mention` is the name the bot answers to, `repositories` the lower-case `owner/name`s it serves."""

    state_schema = SCHEMA

    def __init__(self, mention: str, repositories: Collection[str]) -> None:
        self._mention = mention
        self._repositories = repositories

    def initial(self, key: str) -> PullRequest:
        return PullRequest()

    def step(self, state: PullRequest, event: Event, now: datetime) -> Transition[PullRequest, Event]:
        return step(state, event, now)

    def route(self, delivery: Delivery) -> Sequence[tuple[str, Event]]:
        if delivery.body is None:
            return ()
        return deliveries.route(delivery.event, delivery.body, self._mention, self._repositories)

    def unheard(self, delivery: Delivery) -> Sequence[tuple[str, Event]]:
        if delivery.body is None:
            return ()
        return deliveries.unheard(delivery.event, delivery.body, self._mention, self._repositories)

    def dump_state(self, state: PullRequest) -> bytes:
        return _encoder.encode(state)

    def load_state(self, schema: int, data: bytes) -> PullRequest:
        if schema == SCHEMA:
            return _reads_state().decode(data)
        plain: dict[str, object] = msgspec.json.decode(data)
        for version in range(schema, SCHEMA):
            plain = UPCASTERS[version](plain)
        return msgspec.convert(plain, PullRequest)

    def dump_event(self, event: Event) -> tuple[str, bytes]:
        return type(event).__name__, _encoder.encode(event)

    def load_event(self, data: bytes) -> Event:
        return _event.decode(data)
