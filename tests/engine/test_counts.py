"""What tells whether work is being done: a store that can only be read is in trouble, however few wait in it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.engine.port import OnlyRead, StoreError
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Do, Script
from tests.engine.shells import sqlite_shell
from tests.engine.stage import LANES, Hands, Shell, Stage, playing, policies


def read_only(stage: Stage, on: bool) -> None:
    """As a file system is that met an error."""
    engine: Any = stage.engine
    engine._store._writer._connect().execute(f"PRAGMA query_only = {'ON' if on else 'OFF'}")


async def test_a_store_that_takes_nothing_more_is_told_of_until_it_does(tmp_path: Path) -> None:
    async with playing(sqlite_shell(tmp_path)) as stage:
        engine = stage.engine
        assert (await engine.counts()).dead == 0
        read_only(stage, True)
        stage.clock.advance(timedelta(minutes=1))
        for _ in range(2):
            with pytest.raises(OnlyRead, match="readonly"):
                await engine.counts()
        read_only(stage, False)
        assert (await engine.counts()).dead == 0


async def test_a_store_that_can_neither_be_written_nor_read_is_not_called_readable(tmp_path: Path) -> None:
    async with sqlite_shell(tmp_path)(Script(), policies(Hands()), LANES, ManualClock()) as engine:
        stage = Stage(engine, ManualClock(), Script(), Hands())
        await stage.engine._store.write(lambda tx: tx.execute("DROP TABLE deliveries"))  # type: ignore[attr-defined]
        read_only(stage, True)
        with pytest.raises(StoreError, match="no such table") as told:
            await engine.counts()
        assert not isinstance(told.value, OnlyRead)


async def test_who_asks_often_costs_few_commits_and_wakes_nobody(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        engine: Any = stage.engine
        before = engine.commits
        for _ in range(50):
            await engine.counts()
        assert engine.commits - before <= 1
        assert await stage.labels("a") == ("placed", "x done")
