"""The shells the contract suite runs against, by name; a child process finds the same one by the same name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from bot.engine.port import Clock, Lane, Machine
from bot.engine.sqlite import SqliteEngine
from tests.engine.script import Do, Noted
from tests.engine.stage import Opening, Policy, Shell, seeded


def sqlite_shell(folder: Path) -> Shell:
    def open_engine(
        machine: Machine[Noted, Do], policies: Sequence[Policy], lanes: Sequence[Lane], clock: Clock
    ) -> Opening:
        return SqliteEngine.open(folder / "engine.db", machine, policies, lanes, clock, seeded(1), grace=timedelta(0))

    return open_engine


SHELLS: dict[str, Callable[[Path], Shell]] = {"sqlite": sqlite_shell}
