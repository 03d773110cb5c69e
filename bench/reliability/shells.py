"""Where the bot keeps its state in a trial, and what is found there afterwards. The shells share their tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from bot.engine.times import loaded
from tests.engine import postgres_server

Ask = Callable[[str], Sequence[Sequence[Any]]]


@dataclass(frozen=True)
class Moved:
    """A line of the log."""

    kind: str
    cause: str
    at: datetime


@dataclass(frozen=True)
class Inside:
    """`dead` and `left` count what was given up, and what is still open: effects, deliveries, timers, slots."""

    dead: int
    left: int
    log: tuple[Moved, ...]


@dataclass(frozen=True)
class Shell:
    """`environment` of a bot whose state lies in (or belongs to) a folder; `ask` reads there; `forget` removes it."""

    name: str
    environment: Callable[[Path], Mapping[str, str]]
    ask: Callable[[Path], Ask]
    forget: Callable[[Path], None]

    def inside(self, folder: Path) -> Inside:
        ask = self.ask(folder)
        (dead,) = ask(
            "SELECT (SELECT count(*) FROM effects WHERE status = 'dead') "
            "+ (SELECT count(*) FROM deliveries WHERE status = 'dead') + (SELECT count(*) FROM stalled)"
        )
        (left,) = ask(
            "SELECT (SELECT count(*) FROM effects WHERE ended_at IS NULL) + (SELECT count(*) FROM timers) "
            "+ (SELECT count(*) FROM deliveries WHERE status = 'waiting') + (SELECT count(*) FROM slots)"
        )
        log = ask("SELECT kind, cause, at FROM log ORDER BY seq")
        return Inside(dead[0], left[0], tuple(Moved(kind, cause, loaded(at)) for kind, cause, at in log))


def _ask_file(folder: Path) -> Ask:
    def ask(query: str) -> Sequence[Sequence[Any]]:
        with closing(sqlite3.connect(f"file:{folder / 'state' / 'perf-gate.db'}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()

    return ask


_addresses: dict[Path, str] = {}


def _make_database(folder: Path) -> Mapping[str, str]:
    _addresses[folder] = postgres_server.empty(folder)
    return {"PERF_GATE_DATABASE_URL": _addresses[folder]}


def _drop_database(folder: Path) -> None:
    postgres_server.drop(folder)
    del _addresses[folder]


def _ask_server(folder: Path) -> Ask:
    def ask(query: str) -> Sequence[Sequence[Any]]:
        with psycopg.connect(_addresses[folder], autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()

    return ask


SHELLS = {
    "sqlite": Shell("sqlite", lambda folder: {}, _ask_file, lambda folder: None),
    "postgres": Shell(
        "postgres",
        _make_database,
        _ask_server,
        _drop_database,
    ),
}
