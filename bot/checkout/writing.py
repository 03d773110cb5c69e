"""Writing a commit's files into a plain folder, without git's checkout: no filter, no attribute, no hook has a say.

Blocking, for a thread. Links are made last, so that no file can be written through one.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from bot.checkout.git import command, environment
from bot.checkout.refusals import Entry
from bot.faults import Fault

PIECE = 2**20  # bytes copied at a time


class TreeWriter:
    """One writing of one tree. `stop` may be called from another thread and makes `write` end soon, with a Fault."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def write(self, entries: Sequence[Entry], folder: Path) -> None:
        """Write every entry below `folder`, which must be empty. Raises Fault when git fails or the disk is full."""
        try:
            for parent in {_place(folder, entry).parent for entry in entries}:
                parent.mkdir(parents=True, exist_ok=True)
            self._write_files([entry for entry in entries if entry.target is None], folder)
            for entry in entries:
                if entry.target is not None:
                    _place(folder, entry).symlink_to(os.fsdecode(entry.target))
        except OSError as error:
            raise Fault("the tree could not be written to the bot's disk", str(error), retryable=True) from error

    def stop(self) -> None:
        self._stopped = True
        if self._process is not None:
            self._process.kill()  # a read that waits for it then ends

    def _write_files(self, files: Sequence[Entry], folder: Path) -> None:
        process = self._process = subprocess.Popen(
            command(self._git_dir, "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 — it was asked for
        assert process.stdout is not None  # noqa: S101 — it was asked for
        try:
            # One blob is asked for at a time: neither side can then wait for the other with a full pipe.
            for entry in files:
                if self._stopped:
                    raise Fault("making the tree was given up", f"stopped before {entry.path!r}", retryable=True)
                process.stdin.write(entry.blob + b"\n")
                process.stdin.flush()
                _copy(process.stdout, entry, _place(folder, entry))
        finally:
            process.kill()
            process.stdout.close()
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()


def _place(folder: Path, entry: Entry) -> Path:
    return folder / os.fsdecode(entry.path)  # any bytes survive this


def _copy(source: IO[bytes], entry: Entry, path: Path) -> None:
    header = source.readline().split()
    if len(header) != 3 or header[0] != entry.blob or int(header[2]) != entry.size:
        raise Fault("git could not read the repository", f"cat-file said {header!r} for {entry.blob!r}")
    mode = 0o755 if entry.executable else 0o644
    # "x" refuses whatever stands there, a symbolic link included.
    with path.open("xb") as target:
        os.fchmod(target.fileno(), mode)
        left = entry.size
        while left:
            piece = source.read(min(left, PIECE))
            if not piece:
                raise Fault("git could not read the repository", f"cat-file ended within {entry.blob!r}")
            target.write(piece)
            left -= len(piece)
    source.read(1)  # the line feed after each blob
