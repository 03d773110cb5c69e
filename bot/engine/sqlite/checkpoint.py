"""Moving what was committed from the write-ahead log into the database file, beside the commits.

SQLite would do it within the commit that fills the log, and all that waits would wait for it, too.
Source: https://www.sqlite.org/wal.html, "Checkpointing" and "Avoiding Excessively Large WAL Files".
"""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

FROM_BYTES = 4 * 1024 * 1024
"""As SQLite does by itself."""

PAUSE = 0.2
"""Seconds between two. The log's file keeps its size when it begins anew, so its size alone does not tell."""

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

    def committed(self) -> None:
        """After a commit: begin to move where there is enough, and none is under way."""
        now = time.monotonic()
        if now - self._began < self._pause or not (self._under_way is None or self._under_way.done()):
            return
        self._began = now
        if self._length() >= FROM_BYTES:
            self._under_way = self._thread.submit(self._move)

    def _length(self) -> int:
        """Of the log in bytes, 0 where it cannot be looked at: who waits for the commit must hear of it anyway."""
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def close(self) -> None:
        self._thread.shutdown()

    def _move(self) -> None:
        with closing(sqlite3.connect(self._database, isolation_level=None, timeout=0)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
