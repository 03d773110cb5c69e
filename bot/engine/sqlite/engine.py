"""The engine on one SQLite file: the shell for one process on one machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TypeVar

from bot.engine.policy import EffectPolicy, Lane
from bot.engine.port import Clock, Machine
from bot.engine.shell import DEFAULT_GRACE, Play, ShellEngine, adopt_registry
from bot.engine.sqlite.database import Database

S = TypeVar("S")
E = TypeVar("E")


class SqliteEngine(ShellEngine[S, E]):
    """Made by `open`."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path,
        machine: Machine[S, E],
        policies: Sequence[EffectPolicy[S, E]],
        lanes: Sequence[Lane],
        clock: Clock,
        random: Random,
        *,
        grace: timedelta = DEFAULT_GRACE,
    ) -> AsyncIterator[SqliteEngine[S, E]]:
        """Open or create the database; leaving the context closes it. End `run` before that.

        Raises CannotStart (in use, of a newer release, damaged, effects of an unknown kind), ValueError (registry).
        """
        play = Play(machine, policies, lanes, clock, random, grace)
        database = Database(path, machine.state_schema)
        try:
            await adopt_registry(database, str(path), play)
            yield cls(database, play, nullcontext, together=True)
        finally:
            await database.close()
