"""A run's folder: what went in and what came out, as files that outlive the run. Bounded, swept, and only for people.

Nothing the bot decides is read from here: a full disk costs the files and nothing else. Names are relative paths such
as `gate-1/baseline.json`; text is redacted before it is written.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

LARGEST_FILE = 8 * 2**20
LARGEST_LOG = 64 * 2**10
MOST_BYTES = 64 * 2**20
MOST_FILES = 500
"""Of one run: a climb of three gates that is watched for days writes some hundred."""

MOST_RUNS = 200
MOST_IN_ALL = 4 * 2**30
"""Bytes: beside mirror and trees on a volume of twenty gigabytes."""

KEPT = timedelta(days=90)

_FIRST_TO_GO = ("comments", "logs")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_CUT = b"\n[the rest was cut off here]\n"
_log = logging.getLogger(__name__)


class RunDirs:
    def __init__(self, root: Path, hide: Callable[[str], str]) -> None:
        """`hide` takes secrets out of text."""
        self._root = root
        self._hide = hide

    def folder(self, run_id: str) -> Path:
        """Where a run's files are; perhaps there are none. Raises ValueError for what can be no run's id."""
        return self._root / _checked(run_id)

    def put(self, run_id: str, name: str, text: str | bytes, most: int = LARGEST_FILE) -> str:
        """Write a file, its beginning where it is too long. Its name; empty where it could not be kept."""
        data = self._hidden(text)
        return self._write(run_id, name, data if len(data) <= most else data[:most] + _CUT)

    def put_log(self, run_id: str, name: str, output: bytes) -> str:
        """Write the end of what a program said."""
        return self._write(run_id, name, self._hidden(output[-LARGEST_LOG:]))

    def files(self, run_id: str) -> dict[str, Path]:
        """What is kept of a run, by name."""
        folder = self.folder(run_id)
        return {path.relative_to(folder).as_posix(): path for path in sorted(_files(folder))}

    def sweep(self, now: datetime, live: Callable[[str], bool] = lambda _run: False) -> list[str]:
        """Remove what nobody has written to for long, and the oldest above `MOST_RUNS` and `MOST_IN_ALL`; ids of the
        runs removed. A run of whose id `live` says that it goes on stays, and does not count."""
        try:
            found = sorted((path.stat().st_mtime, path) for path in self._root.iterdir() if not live(path.name))
        except FileNotFoundError:
            return []
        limit, count = (now - KEPT).timestamp(), len(found)
        sizes = {path: sum(one.stat().st_size for one in _files(path)) for _, path in found}
        total, old = sum(sizes.values()), list[str]()
        for changed, path in found:
            if changed < limit or count > MOST_RUNS or total > MOST_IN_ALL:
                shutil.rmtree(path, ignore_errors=True)
                old.append(path.name)
                count, total = count - 1, total - sizes[path]
        return old

    def _hidden(self, text: str | bytes) -> bytes:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        return self._hide(text).encode("utf-8", "replace")

    def _write(self, run_id: str, name: str, data: bytes) -> str:
        folder = self.folder(run_id)
        path = folder.joinpath(*map(_checked, name.split("/")))
        partial = path.with_name(f".{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _make_room(folder, len(data))
            partial.write_bytes(data)
            partial.replace(path)
            # A folder's own time changes with its direct children only, and sweeping goes by it.
            folder.touch()
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            _log.warning("a run's file was not kept", extra={"run": run_id, "file": name, "error": str(error)})
            return ""
        return name


def _make_room(folder: Path, size: int) -> None:
    """Drop the oldest comments and logs of a run that has too much; its reports and its diff stay."""
    known = [(path, path.stat()) for path in _files(folder)]
    spare = [(one.st_mtime, path) for path, one in known if path.parent.name in _FIRST_TO_GO]
    count, total = len(known) + 1, sum(one.st_size for _, one in known) + size
    for _, path in sorted(spare):
        if count <= MOST_FILES and total <= MOST_BYTES:
            return
        total -= path.stat().st_size
        count -= 1
        path.unlink()
    if count > MOST_FILES or total > MOST_BYTES:
        raise OSError("the run's folder is full")


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"no name of a run's file: {name!r}")
    return name
