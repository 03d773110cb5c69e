"""A check and what it found. Nothing here knows what is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from bot.config.settings import Settings
from bot.github.adapter import GitHub
from bot.iris.adapter import Iris

State = Literal["ok", "wrong", "unknown"]


class Found(msgspec.Struct, frozen=True):
    """One line: what was found, and what an operator does about it (empty where there is nothing to do)."""

    state: State
    said: str
    fix: str = ""


def ok(said: str) -> Found:
    return Found("ok", said)


def wrong(said: str, fix: str) -> Found:
    return Found("wrong", said, fix)


def unknown(said: str, fix: str = "") -> Found:
    return Found("unknown", said, fix)


class Surroundings(msgspec.Struct, frozen=True):
    """The deployment that is looked at, as `perf-gate serve` would be given it."""

    settings: Settings
    github: GitHub
    iris: Iris
    now: Callable[[], datetime]
    other_clusters: Mapping[str, Iris] = msgspec.field(default_factory=dict)


Ask = Callable[[Surroundings], Awaitable[Sequence[Found]]]


class Check(msgspec.Struct, frozen=True):
    """`ask` gives a line for each thing of its kind (a gate, a repository). A Fault or a time-out is `unknown`."""

    name: str
    ask: Ask
    seconds: float = 60.0
