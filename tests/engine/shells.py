"""The shells the contract suite runs against, by name; a child process finds the same one by the same name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from bot.engine.policy import Lane
from bot.engine.port import Clock, Machine
from bot.engine.postgres import PostgresEngine, Pulse
from bot.engine.sqlite import SqliteEngine
from tests.engine import postgres_server
from tests.engine.script import Do, Noted
from tests.engine.stage import Opening, Policy, Shell, seeded

QUICK = Pulse(beat=timedelta(milliseconds=50), silence=timedelta(minutes=5))
"""Dead processes are found by their lock, soon; a slow test machine's silence is no death."""


def sqlite_shell(folder: Path) -> Shell:
    def open_engine(
        machine: Machine[Noted, Do], policies: Sequence[Policy], lanes: Sequence[Lane], clock: Clock
    ) -> Opening:
        return SqliteEngine.open(folder / "engine.db", machine, policies, lanes, clock, seeded(1), grace=timedelta(0))

    return open_engine


def postgres_shell(folder: Path, pulse: Pulse = QUICK) -> Shell:
    address = postgres_server.address(folder)

    def open_engine(
        machine: Machine[Noted, Do], policies: Sequence[Policy], lanes: Sequence[Lane], clock: Clock
    ) -> Opening:
        return PostgresEngine.open(address, machine, policies, lanes, clock, seeded(1), grace=timedelta(0), pulse=pulse)

    return open_engine


SHELLS: dict[str, Callable[[Path], Shell]] = {"postgres": postgres_shell, "sqlite": sqlite_shell}
FORGET: dict[str, Callable[[Path], None]] = {"postgres": postgres_server.drop, "sqlite": lambda folder: None}
"""Remove what a shell keeps outside its folder."""
