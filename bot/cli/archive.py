"""A run in one file: everything it was judged by, so that it can be judged again on any machine, and what was kept.

`case.json` holds what judging needs; beside it stand the run's folder as it is, and the trace. Reading one trusts
nothing in it: no member is written to disk, and sizes are bounded.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from bot.verdict.past import PastRun

CASE = "case.json"
FORMAT = 1
LARGEST_CASE = 64 * 2**20
_GZIP = b"\x1f\x8b"


class GateCase(msgspec.Struct, frozen=True):
    """One gate's two reports (JSON text, as collected), what was left out, and what was said of them."""

    number: int
    attempt: int
    baseline: str
    treatment: str
    verdict: str
    excluded: tuple[str, ...] = ()
    history: tuple[PastRun, ...] = ()
    generation: str | None = None


class Case(msgspec.Struct, frozen=True):
    """`config`: the repository's configuration as it was pinned, as JSON; empty where the run never came to one."""

    run: str
    pull_request: str
    head_sha: str
    merge_base: str
    config_sha: str
    state: str
    config: str
    gates: tuple[GateCase, ...]
    exported_at: datetime
    format: int = FORMAT


class Unreadable(Exception):
    """The file is no archive of a run, or one of a newer release; the message says which."""


def write(file: Path, case: Case, files: Mapping[str, bytes]) -> int:
    """Write the archive; its size in bytes. Raises OSError."""
    folder = f"perf-gate-run-{case.run}"
    partial = file.with_name(f".{file.name}.new")
    contents = {CASE: msgspec.json.format(msgspec.json.encode(case), indent=2), **files}
    try:
        with partial.open("wb") as out, tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name, data in contents.items():
                member = tarfile.TarInfo(f"{folder}/{name}")
                member.size, member.mode = len(data), 0o644
                member.mtime = int(case.exported_at.timestamp())
                archive.addfile(member, io.BytesIO(data))
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return file.stat().st_size


def is_archive(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(2) == _GZIP
    except OSError:
        return False


def read(file: Path) -> Case:
    """Raises Unreadable."""
    try:
        with tarfile.open(file, mode="r:gz") as archive:
            data = _case_in(archive)
    except (OSError, tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Unreadable(f"{file} is no archive of perf-gate export: {error}") from None
    if data is None:
        raise Unreadable(f"{file} holds no {CASE}: it is no archive of perf-gate export")
    try:
        case = msgspec.json.decode(data, type=Case)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreadable(f"{file}: {CASE} cannot be read: {error}") from None
    if case.format > FORMAT:
        raise Unreadable(f"{file} was written by a newer release (format {case.format}, this one reads {FORMAT})")
    return case


def _case_in(archive: tarfile.TarFile) -> bytes | None:
    for member in archive:
        if member.isfile() and member.name.endswith(f"/{CASE}") and member.name.count("/") == 1:
            opened = archive.extractfile(member)
            if member.size > LARGEST_CASE or opened is None:
                raise tarfile.TarError(f"{CASE} is larger than {LARGEST_CASE} bytes")
            return opened.read()
    return None
