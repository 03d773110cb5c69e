"""The engine on PostgreSQL: the shell for several processes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import TypeVar

from bot.engine.policy import EffectPolicy, Lane
from bot.engine.port import Clock, Machine
from bot.engine.postgres.database import Database, prepared
from bot.engine.postgres.presence import Presence, Pulse
from bot.engine.postgres.session import describe
from bot.engine.postgres.sharing import ManyProcesses
from bot.engine.shell import DEFAULT_GRACE, Play, ShellEngine, adopt_registry

S = TypeVar("S")
E = TypeVar("E")

DEFAULT_PULSE = Pulse()


class PostgresEngine(ShellEngine[S, E]):
    """Made by `open`."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        address: str,
        machine: Machine[S, E],
        policies: Sequence[EffectPolicy[S, E]],
        lanes: Sequence[Lane],
        clock: Clock,
        random: Random,
        *,
        grace: timedelta = DEFAULT_GRACE,
        pulse: Pulse = DEFAULT_PULSE,
    ) -> AsyncIterator[PostgresEngine[S, E]]:
        """Connect, and create the tables where there are none; leaving the context hangs up. End `run` before that.

        Raises CannotStart (unreachable, too old, of a newer release, effects of an unknown kind) and ValueError
        (registry).
        """
        play = Play(machine, policies, lanes, clock, random, grace)
        url = await prepared(address, machine.state_schema)
        sharing = ManyProcesses(pulse.silence.total_seconds())
        database = Database(url, sharing)
        try:
            await adopt_registry(database, describe(url), play)
            presence = Presence(url, sharing, pulse, lambda: database.read(sharing.revoked_here))
            engine = cls(database, play, presence, together=False)
            presence.listening = engine._runner
            yield engine
        finally:
            await database.close()
