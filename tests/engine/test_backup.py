"""Backups: a checked copy of one moment, made beside the running engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.engine.port import StoreError
from bot.engine.sqlite.backup import back_up
from tests.engine.script import Act, Do
from tests.engine.shells import sqlite_shell
from tests.engine.stage import MINUTE, playing


async def test_a_backup_of_the_running_engine_is_what_it_was_then(tmp_path: Path) -> None:
    later = tmp_path / "later"
    later.mkdir()
    async with playing(sqlite_shell(tmp_path)) as stage:
        await stage.do("a", Do("placed", effects=(Act("x", after=MINUTE),)))
        size = await asyncio.to_thread(back_up, tmp_path / "engine.db", later / "engine.db")
        await stage.do("a", Do("more"))
    assert [path.name for path in later.iterdir()] == ["engine.db"]
    assert (later / "engine.db").stat().st_size == size
    assert (later / "engine.db").stat().st_mode & 0o077 == 0
    async with playing(sqlite_shell(later), clock=stage.clock) as restored:
        assert await restored.labels("a") == ("placed",)
        await stage.clock.advance_to_next(restored.engine)
        assert await restored.labels("a") == ("placed", "x done")


def test_a_backup_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database"):
        back_up(tmp_path / "engine.db", tmp_path / "copy")
    (tmp_path / "engine.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises(StoreError, match=r"could not be copied .*not a database"):
        back_up(tmp_path / "engine.db", tmp_path / "copy")
    with pytest.raises(StoreError, match="name a file that does not"):
        back_up(tmp_path / "engine.db", tmp_path / "engine.db")
    (tmp_path / "engine.db").write_bytes(b"")
    with pytest.raises(StoreError, match="it holds no state of perf-gate"):
        back_up(tmp_path / "engine.db", tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["engine.db"]
