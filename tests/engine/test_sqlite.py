"""What only the SQLite shell promises: one process a file, shared fsyncs, clear refusals, honest errors."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.engine.desk import Round
from bot.engine.port import CannotStart, Delivery, StoreError
from bot.engine.runner import STORE_RETRY
from bot.engine.sqlite import SqliteEngine
from bot.engine.sqlite.database import Database
from bot.engine.tables.inbox import Arrived, store
from bot.engine.transaction import Tx
from tests.engine.clock import START, ManualClock
from tests.engine.script import Act, Do, Noted, Script, delivery
from tests.engine.shells import sqlite_shell
from tests.engine.stage import LANES, MINUTE, Hands, playing, policies, seeded


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Database]:
    database = Database(path, state_schema=1)
    try:
        yield database
    finally:
        await database.close()


async def free_pages(database: Database, pages: int) -> None:
    """Make the disk full after so many more pages."""

    def limit(tx: Tx) -> None:
        (used,) = tx.connection.execute("PRAGMA page_count").fetchone()
        tx.connection.execute(f"PRAGMA max_page_count = {used + pages}").fetchone()

    await database.write(limit, rouses=False)


def big(kilobytes: int) -> Delivery:
    return Delivery(f"big {kilobytes}", "order", b"x" * kilobytes * 1024)


def accept(delivery: Delivery, tx: Tx) -> bool:
    return store(tx, [Arrived(delivery, START)])[0]


async def test_a_second_engine_on_the_same_file_is_refused_by_name(tmp_path: Path) -> None:
    shell = sqlite_shell(tmp_path)
    async with playing(shell):
        with pytest.raises(CannotStart, match=rf"engine\.db is in use by process {os.getpid()} \(lock file .*"):
            await playing(shell).__aenter__()
    async with playing(shell) as stage:
        await stage.engine.idle()


async def test_newer_tables_are_refused(tmp_path: Path) -> None:
    async with playing(sqlite_shell(tmp_path)):
        pass
    with closing(sqlite3.connect(tmp_path / "engine.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'format'")
    with pytest.raises(CannotStart, match="newer release"):
        await playing(sqlite_shell(tmp_path)).__aenter__()


async def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "engine.db")) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(CannotStart, match="tables of something else"):
        await playing(sqlite_shell(tmp_path)).__aenter__()


async def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "engine.db").write_bytes(b"this is no database" * 1000)
    refused = "cannot be opened as a database: file is not a database; put a backup in its place"
    with pytest.raises(CannotStart, match=refused):
        await playing(sqlite_shell(tmp_path)).__aenter__()


async def test_a_start_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, words: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "engine.db").mkdir()
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=4096))
    with pytest.raises(CannotStart, match=r"engine.db cannot be opened .*; its disk is full: make room"):
        await playing(sqlite_shell(tmp_path)).__aenter__()
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(CannotStart, match=r"engine.db.lock cannot be written: No space left on device"):
        await playing(sqlite_shell(tmp_path)).__aenter__()


async def test_deliveries_that_arrive_during_a_commit_share_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path / "engine.db") as database:
        busy, gate = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def occupy(tx: Tx) -> None:
            loop.call_soon_threadsafe(busy.set)
            gate.wait()

        async def open_gate() -> bool:
            gate.set()
            return True

        occupied = asyncio.create_task(database.write(occupy))
        await busy.wait()
        before = database.commits
        # Each has asked before the last opens the gate: the loop starts tasks in order.
        accepting = [database.write(partial(accept, Delivery(f"g{n}", "push", None))) for n in range(200)]
        assert all(await asyncio.gather(*accepting, open_gate()))
        await occupied
        assert database.commits - before == 1


async def test_one_failing_job_does_not_take_its_neighbours_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "engine.db") as database:

        def stumble(tx: Tx) -> None:
            store(tx, [Arrived(delivery("lost"), START)])
            raise KeyError("a bug")

        results = await asyncio.gather(
            database.write(partial(accept, delivery("g1"))),
            database.write(stumble),
            database.write(partial(accept, delivery("g2"))),
            return_exceptions=True,
        )
        assert results[0] is True
        assert isinstance(results[1], KeyError)
        assert results[2] is True
        assert await database.write(partial(accept, delivery("lost"))), "it was undone"


async def test_the_body_of_a_handled_delivery_is_purged(tmp_path: Path) -> None:
    async with playing(sqlite_shell(tmp_path)) as stage:
        stage.machine.poison.add("bad")
        await stage.engine.accept(delivery("handled", ("a", Do("placed"))))
        await stage.engine.accept(delivery("failed", ("a", Do("bad"))))
        await stage.engine.idle()
    with closing(sqlite3.connect(tmp_path / "engine.db")) as connection:
        kept = dict(connection.execute("SELECT guid, body IS NOT NULL FROM deliveries"))
    assert kept == {"handled": 0, "failed": 1}


async def test_a_full_disk_is_an_error_of_accept_and_passes_when_there_is_room(tmp_path: Path) -> None:
    async with opened(tmp_path / "engine.db") as database:
        await free_pages(database, 4)
        with pytest.raises(StoreError, match="full") as caught:
            await database.write(partial(accept, big(64)))
        assert caught.value.transient
        results = await asyncio.gather(
            database.write(partial(accept, Delivery("small", "push", None))),
            database.write(partial(accept, big(65))),
            return_exceptions=True,
        )
        assert results[0] is True, "what has room is not turned away with what has none"
        assert isinstance(results[1], StoreError)
        await free_pages(database, 1000)
        assert await database.write(partial(accept, big(64))), "the first try left no trace"


async def test_a_closed_database_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path / "engine.db") as database:
        pass
    with pytest.raises(StoreError, match="closed"):
        await database.write(lambda tx: None)


def spoil(path: Path) -> None:
    """Overwrite the page that the deliveries begin on."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'deliveries'").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


async def test_a_page_that_is_damaged_while_it_runs_is_an_error_that_does_not_pass(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    async with opened(path):
        pass
    async with opened(path) as database:
        spoil(path)
        with pytest.raises(StoreError, match="malformed") as caught:
            await database.write(partial(accept, big(65)))
        assert not caught.value.transient


async def test_a_damaged_page_is_found_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    async with opened(path):
        pass
    spoil(path)
    with pytest.raises(CannotStart, match=r"engine\.db is damaged: .*; put a backup in its place"):
        await playing(sqlite_shell(tmp_path)).__aenter__()


class Hearing(logging.Handler):
    """Sets `heard` when a line with these words is logged."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.heard = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self._words in record.getMessage():
            self.heard.set()


async def test_an_outcome_outlasts_a_full_disk(tmp_path: Path) -> None:
    hearing = Hearing("the store cannot write")
    logger = logging.getLogger("bot.engine.runner")
    logger.addHandler(hearing)
    try:
        async with playing(sqlite_shell(tmp_path)) as stage:
            held = stage.hands.hold("x")
            stage.hands.says["x"] = "x" * 100_000
            await stage.engine.advance("a", Do("placed", effects=(Act("x"),)), cause="test")
            await held.reached.wait()
            await free_pages(stage.engine._store, 4)  # type: ignore[attr-defined]
            held.go.set()
            await hearing.heard.wait()
            await free_pages(stage.engine._store, 1000)  # type: ignore[attr-defined]
            stage.clock.advance(STORE_RETRY)
            await stage.engine.idle()
            assert stage.hands.performed == ["x"]
            assert (await stage.labels("a"))[1] == "x" * 100_000
    finally:
        logger.removeHandler(hearing)


async def test_an_effect_revoked_between_its_claim_and_its_start_is_not_performed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing(sqlite_shell(tmp_path)) as stage:
        await stage.engine.idle()
        database: Database = stage.engine._store  # type: ignore[attr-defined]
        write = database.write

        async def revoke_behind_the_claim(work: Callable[[Tx], object], *, rouses: bool = True) -> object:
            result = await write(work, rouses=rouses)
            if isinstance(result, Round) and result.claimed:
                monkeypatch.undo()
                await stage.engine.advance("a", Do("stop", revoke=("run1",)), cause="test")
            return result

        monkeypatch.setattr(database, "write", revoke_behind_the_claim)
        await stage.do("a", Do("placed", effects=(Act("x", scope="run1"),)))
        assert await stage.labels("a") == ("placed", "stop")
        assert stage.hands.performed == []
        assert (await stage.engine.overview()).effects == ()


async def test_a_fault_of_the_store_ends_the_run_and_whoever_waits_for_rest(tmp_path: Path) -> None:
    async with sqlite_shell(tmp_path)(Script(), policies(Hands()), LANES, ManualClock()) as engine:
        await engine._store.close()  # type: ignore[attr-defined]
        with pytest.raises(StoreError, match="closed"):
            await engine.run()
        with pytest.raises(StoreError, match="closed"):
            await engine.idle()


async def test_a_performer_may_end_within_the_grace_period(tmp_path: Path) -> None:
    hands = Hands()
    held = hands.hold("x")
    patient = SqliteEngine.open(
        tmp_path / "engine.db", Script(), policies(hands), LANES, ManualClock(), seeded(1), grace=timedelta(hours=1)
    )
    async with patient as engine:
        running = asyncio.create_task(engine.run())
        await engine.advance("a", Do("placed", effects=(Act("x"), Act("y", after=MINUTE))), cause="test")
        await held.reached.wait()
        running.cancel()
        held.go.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not held.cancelled
        assert await engine.read("a") == Noted(("placed", "x done"))
