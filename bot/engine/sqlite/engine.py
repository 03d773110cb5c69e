"""The engine on one SQLite file: the shell for one process on one machine."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from bot.engine.port import CannotStart, Clock, Delivery, EffectPolicy, Lane, Machine
from bot.engine.sqlite import inbox, inspection, outbox
from bot.engine.sqlite.database import Database
from bot.engine.sqlite.desk import Desk, next_due, revive, sweep
from bot.engine.sqlite.runner import Runner
from bot.engine.views import LogView, Overview

S = TypeVar("S")
E = TypeVar("E")

DEFAULT_GRACE = timedelta(seconds=10)
"""What performers get to end in when the process is asked to stop; hosts allow little more before they kill."""


class SqliteEngine(Generic[S, E]):
    """See `bot.engine.port.Engine` for what each method promises. Made by `open`."""

    def __init__(
        self,
        database: Database,
        machine: Machine[S, E],
        policies: Sequence[EffectPolicy[S, E]],
        lanes: Sequence[Lane],
        clock: Clock,
        random: Random,
        grace: timedelta,
    ) -> None:
        registry = {policy.kind: policy for policy in policies}
        self._database = database
        self._machine = machine
        self._clock = clock
        self._desk = Desk(machine, registry, lanes, random)
        self._runner = Runner(database, self._desk, registry, self._state, clock, grace)

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

        `random` shortens waits between attempts. `grace`: how long performers may go on when `run` is cancelled.
        Raises CannotStart (in use, of a newer release, damaged, effects of an unknown kind), ValueError (registry).
        """
        _check_registry(policies, lanes)
        database = Database(path, machine.state_schema)
        try:
            lane_of = {policy.kind: policy.lane for policy in policies}
            unknown = await database.write(lambda tx: outbox.adopt_registry(tx, lane_of))
            if unknown:
                raise CannotStart(
                    f"{path} holds waiting effects that this release cannot perform: {', '.join(sorted(unknown))}; "
                    "start the release that asked for them"
                )
            yield cls(database, machine, policies, lanes, clock, random, grace)
        finally:
            await database.close()

    async def accept(self, delivery: Delivery) -> bool:
        now = self._clock.now()
        # What keeps only its GUID gives the loop nothing to look for.
        rouses = delivery.body is not None
        return await self._database.write(lambda tx: inbox.store(tx, delivery, now), rouses=rouses)

    async def unheard(self, guids: Collection[str]) -> frozenset[str]:
        return await self._database.read(lambda connection: inspection.unheard(connection, guids))

    async def advance(self, key: str, event: E, *, cause: str) -> None:
        await self._database.write(lambda tx: self._desk.advance(tx, key, event, cause, self._clock.now()))

    async def read(self, key: str) -> S | None:
        row = await self._database.read(lambda connection: _state_row(connection, key))
        return None if row is None else self._machine.load_state(*row)

    async def run(self) -> None:
        await self._runner.run()

    async def idle(self) -> None:
        await self._runner.idle()

    async def next_due(self) -> datetime | None:
        return await self._database.write(lambda tx: next_due(tx, None), rouses=False)

    async def revive(self) -> None:
        await self._database.write(lambda tx: revive(tx, self._clock.now()))

    async def sweep(self) -> None:
        await self._database.write(lambda tx: sweep(tx, self._clock.now()), rouses=False)

    async def overview(self) -> Overview:
        return await self._database.read(inspection.overview)

    async def log(self, key: str) -> Sequence[LogView]:
        return await self._database.read(lambda connection: inspection.log(connection, key))

    @property
    def commits(self) -> int:
        """Transactions that wrote something since `open`: each cost one fsync."""
        return self._database.commits

    async def _state(self, key: str) -> S:
        state = await self.read(key)
        return self._machine.initial(key) if state is None else state


def _state_row(connection: sqlite3.Connection, key: str) -> tuple[int, bytes] | None:
    row: tuple[int, bytes] | None = connection.execute(
        "SELECT schema, state FROM aggregates WHERE key = ?", (key,)
    ).fetchone()
    return row


def _check_registry(policies: Sequence[EffectPolicy[S, E]], lanes: Sequence[Lane]) -> None:
    known = {lane.name for lane in lanes}
    for policy in policies:
        if policy.lane not in known:
            raise ValueError(f"effect {policy.kind} is for lane {policy.lane}, which is not among the lanes")
    twice = [kind for kind, count in Counter(policy.kind for policy in policies).items() if count > 1]
    if twice:
        raise ValueError(f"effect {twice[0]} has two policies")
