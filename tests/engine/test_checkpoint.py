"""Moving the write-ahead log, beside the commits and never in their way."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bot.engine.sqlite.checkpoint import ANEW_FROM_BYTES, FROM_BYTES, Checkpoints
from bot.engine.sqlite.database import connect


@contextmanager
def filled(path: Path, size: int) -> Iterator[sqlite3.Connection]:
    """A database with a log of that many bytes at least, nothing of it moved."""
    with closing(connect(path)) as writing:
        writing.execute("PRAGMA wal_autocheckpoint = 0")
        writing.execute("CREATE TABLE bodies (body BLOB)")
        writing.execute("INSERT INTO bodies VALUES (zeroblob(?))", (size,))
        yield writing


def move(checkpoints: Checkpoints) -> None:
    checkpoints.committed()
    checkpoints.wait()


def test_a_log_that_cannot_be_looked_at_keeps_no_commit_from_being_told(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "no folder" / "state.db", pause=0)
    checkpoints.committed()
    checkpoints.close()


def test_the_log_is_moved_into_the_file_beside_the_commits(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with filled(path, FROM_BYTES):
        assert path.stat().st_size < FROM_BYTES
        checkpoints = Checkpoints(path, pause=0)
        checkpoints.committed()
        checkpoints.close()
        assert path.stat().st_size > FROM_BYTES
        with closing(sqlite3.connect(path)) as reading:
            assert reading.execute("SELECT length(body) FROM bodies").fetchall() == [(FROM_BYTES,)]


def test_a_long_log_begins_anew_though_commits_follow_each_other(tmp_path: Path) -> None:
    """What came while the rest was moved is moved between two commits: else the log would never be wholly moved."""
    path = tmp_path / "engine.db"
    log = path.with_name("engine.db-wal")
    with filled(path, ANEW_FROM_BYTES) as writing:
        checkpoints = Checkpoints(path, pause=0)
        move(checkpoints)
        writing.execute("INSERT INTO bodies VALUES ('came while the rest was moved')")
        checkpoints.between(writing)
        grown = log.stat().st_size
        for _ in range(100):
            writing.execute("INSERT INTO bodies VALUES ('later')")
        checkpoints.close()
        assert log.stat().st_size == grown


def test_a_short_log_is_left_to_the_moves_beside_the_commits(tmp_path: Path) -> None:
    path = tmp_path / "engine.db"
    with filled(path, FROM_BYTES) as writing:
        checkpoints = Checkpoints(path, pause=0)
        move(checkpoints)
        writing.execute("INSERT INTO bodies VALUES (zeroblob(?))", (FROM_BYTES,))
        size = path.stat().st_size
        checkpoints.between(writing)
        checkpoints.close()
        assert path.stat().st_size == size


def test_a_log_that_cannot_be_moved_is_told_of_once_and_so_is_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "bot.engine")
    path, aside = tmp_path / "engine.db", tmp_path / "aside.db"
    with filled(path, FROM_BYTES):
        checkpoints = Checkpoints(path, pause=0)
        path.rename(aside)
        path.mkdir()
        move(checkpoints)
        move(checkpoints)
        path.rmdir()
        aside.rename(path)
        move(checkpoints)
        checkpoints.close()
    first, last = (record for record in caplog.records if record.name.endswith("checkpoint"))
    assert first.levelno == logging.ERROR
    assert "unable to open database file" in first.message
    assert str(path) in first.message
    assert last.message == f"the log of {path} is moved into the file again"
