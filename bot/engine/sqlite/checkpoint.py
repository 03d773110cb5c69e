"""Moving what was committed from the write-ahead log into the database file, beside the commits.

SQLite would do it within the commit that fills the log, and all that waits would wait for it, too.
Source: https://www.sqlite.org/wal.html, "Checkpointing" and "Avoiding Excessively Large WAL Files".
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

logger = logging.getLogger(__name__)

FROM_BYTES = 4 * 1024 * 1024
"""As SQLite does by itself."""

PAUSE = 1.0
"""Seconds between two. The log's file keeps its size when it begins anew, so its size alone does not tell. A page that
was written many times meanwhile is moved once, so few moves take much less of the disk than many."""

ANEW_FROM_BYTES = 32 * 1024 * 1024
"""A log of this length is to begin anew. It can only where nothing is left to move, and as long as commits follow each
other there is always what came since: the little that is left is then moved between two of them."""

LITTLE_FRAMES = 1024
"""Pages of the log, 4 MB: what is moved in some milliseconds."""

LAST_RESORT_PAGES = 64 * 1024
"""A log of 256 MB that was never wholly moved, as commits came too fast: then a commit does it after all."""


class Checkpoints:
    def __init__(self, database: Path, pause: float = PAUSE) -> None:
        self._database = database
        self._log = database.with_name(database.name + "-wal")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="engine-checkpoint")
        self._under_way: Future[None] | None = None
        self._pause = pause
        self._began = time.monotonic()
        self._little_is_left = False
        self._failing = False

    def committed(self) -> None:
        """After a commit: begin to move where there is enough, and none is under way."""
        now = time.monotonic()
        if now - self._began < self._pause or not (self._under_way is None or self._under_way.done()):
            return
        self._began = now
        if self._length() >= FROM_BYTES:
            self._under_way = self._thread.submit(self._move)

    def between(self, writing: sqlite3.Connection) -> None:
        """Between two transactions, in the thread that writes: move what little is left; the log then begins anew."""
        if self._little_is_left:
            self._little_is_left = False
            self._try(partial(_move, writing))

    def wait(self) -> None:
        """Until none is under way."""
        if self._under_way is not None:
            self._under_way.result()

    def close(self) -> None:
        self._thread.shutdown()

    def _length(self) -> int:
        """Of the log in bytes, 0 where it cannot be looked at: who waits for the commit must hear of it anyway."""
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def _move(self) -> None:
        self._try(self._move_beside)

    def _move_beside(self) -> None:
        with closing(sqlite3.connect(self._database, isolation_level=None, timeout=0)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            frames, moved = _move(connection)
        self._little_is_left = self._length() >= ANEW_FROM_BYTES and frames - moved <= LITTLE_FRAMES

    def _try(self, move: Callable[[], object]) -> None:
        """What was committed is safe in the log, so no commit fails with a move; that the log grows is told."""
        try:
            move()
        except sqlite3.Error as error:
            if not self._failing:
                logger.error("the log of %s is not moved into the file and grows: %s", self._database, error)
            self._failing = True
        else:
            if self._failing:
                logger.info("the log of %s is moved into the file again", self._database)
            self._failing = False


def _move(connection: sqlite3.Connection) -> tuple[int, int]:
    """What can be without waiting for anybody. Pages in the log, and how many of them are in the file now."""
    _, frames, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return frames, moved
