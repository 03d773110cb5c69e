"""A store in trouble behind the door: GitHub hears 503, the log says why, and once there is room all goes on."""

from __future__ import annotations

import json
import logging
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from bot.engine.sqlite import SqliteEngine
from bot.server.heard import Heard
from bot.server.listening import Listening
from bot.server.webhook import door as way_in
from tests.engine.clock import ManualClock
from tests.engine.script import Do, Noted, Script
from tests.engine.stage import seeded
from tests.engine.test_sqlite import free_pages, spoil
from tests.server.door import SECRET, Door, application
from tests.server.wire import request, wire

BIG = json.dumps({"comment": {"body": "@perf-gate " + "x" * 100_000}}).encode()
SMALL = json.dumps({"comment": {"body": "looks good"}}).encode()


class Stored(Door):
    """A door before a real database."""

    engine: SqliteEngine[Noted, Do]
    heard: Heard


@asynccontextmanager
async def served(database: Path) -> AsyncIterator[Stored]:
    door = Stored()
    async with SqliteEngine.open(database, Script(), (), (), ManualClock(), seeded(1)) as engine:
        door.engine = engine
        way = way_in(SECRET, engine.take, door.keep)
        door.heard, listening = way.heard, Listening(application(way), way)
        door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
        try:
            yield door
        finally:
            await listening.stop()


async def knock(door: Door, body: bytes, guid: str) -> tuple[int, dict[str, str]]:
    async with wire(door) as client:
        client.say(request(body, guid))
        return await client.answer()


async def unheard(door: Stored, *guids: str) -> frozenset[str]:
    return await door.engine.unheard(guids)


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As on a disk that is full but for so much: the kernel refuses to write more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_full_database_is_said_to_github_and_passes_when_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(tmp_path / "engine.db") as door:
        await free_pages(door.engine._store, 4)  # type: ignore[arg-type]
        status, answer = await knock(door, BIG, "big")
        assert status == 503
        assert "redeliver it once its disk or database is well again" in answer["error"]
        assert await unheard(door, "big") == {"big"}
        assert (await knock(door, SMALL, "small"))[0] == 202, "what has room is taken"
        (told,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert (told.getMessage(), told.delivery) == ("delivery not stored", "big")  # type: ignore[attr-defined]
        assert "database or disk is full" in told.why  # type: ignore[attr-defined]
        await free_pages(door.engine._store, 1000)  # type: ignore[arg-type]
        assert await knock(door, BIG, "big") == (202, {"status": "accepted"})
        assert await unheard(door, "big", "small") == frozenset()


async def test_disk_that_takes_no_more_is_said_to_github_and_passes_when_it_does(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    async with served(path) as door:
        assert (await knock(door, SMALL, "before"))[0] == 202
        log = path.with_name("engine.db-wal")
        with no_file_larger_than(log.stat().st_size):
            for guid in ("a", "b"):
                assert (await knock(door, SMALL, guid))[0] == 503
        assert await unheard(door, "a", "b", "before") == {"a", "b"}
        told = door.heard.lately
        assert told.not_stored is not None
        assert told.stored is not None
        assert told.stored < told.not_stored == told.signed, "what readyz tells of"
        assert await knock(door, SMALL, "a") == (202, {"status": "accepted"})
    async with served(path) as door:
        assert await unheard(door, "a", "b", "before") == {"b"}, "and it is still there after a restart"


async def test_damaged_database_is_said_to_github_each_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "engine.db"
    async with served(path):
        pass
    async with served(path) as door:
        spoil(path)
        for guid in ("a", "b"):
            status, answer = await knock(door, BIG, guid)
            assert status == 503
            assert "redeliver" in answer["error"]
        told = [record for record in caplog.records if record.getMessage() == "delivery not stored"]
        assert [record.delivery for record in told] == ["a", "b"]  # type: ignore[attr-defined]
        assert "malformed" in str(told[0].exc_info)
