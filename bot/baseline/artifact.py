"""The zip that a scheduled run uploaded → the text of the one report in it. Nothing is ever written to disk."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from pathlib import PurePosixPath

import msgspec

# A report of tier 3 is some 20 kB; these leave two orders of magnitude, and bound what a hostile zip can cost.
LARGEST_ZIP = 2 * 1024 * 1024
LARGEST_REPORT = 4 * 1024 * 1024
_MOST_ENTRIES = 100
# The two methods that upload-artifact writes; the others are slow or hungry to expand.
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1

# What zipfile raises on bytes that are not a sound archive; found by feeding it broken ones.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
    struct.error,
)


class Unusable(msgspec.Struct, frozen=True):
    """Why no report could be taken from the zip. `problem` completes the sentence "the artifact …"."""

    problem: str


def report_in(archive: bytes) -> str | Unusable:
    """The text of the only `.json` file in the zip. Names in the zip are judged, never shown: they are not ours."""
    if len(archive) > LARGEST_ZIP:
        return Unusable(f"is larger than {LARGEST_ZIP} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            chosen = _only_report(opened.infolist())
            if isinstance(chosen, Unusable):
                return chosen
            with opened.open(chosen) as stream:
                # One byte more than allowed, since the size that the zip claims for it can be a lie.
                data = stream.read(LARGEST_REPORT + 1)
    except _BROKEN:
        return Unusable("is not a sound zip file")
    if len(data) > LARGEST_REPORT:
        return Unusable(f"holds a report larger than {LARGEST_REPORT} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Unusable("holds a report that is not UTF-8 text")


def _only_report(entries: list[zipfile.ZipInfo]) -> zipfile.ZipInfo | Unusable:
    if len(entries) > _MOST_ENTRIES:
        return Unusable(f"holds more than {_MOST_ENTRIES} files")
    if any(_leaves_the_folder(entry.filename) for entry in entries):
        return Unusable("holds a file whose name leads out of its folder")
    reports = [entry for entry in entries if entry.filename.lower().endswith(".json")]
    if len(reports) != 1:
        return Unusable(f"holds {len(reports)} .json files where one was expected")
    report = reports[0]
    if report.flag_bits & _ENCRYPTED:
        return Unusable("holds an encrypted report")
    if stat.S_ISLNK(report.external_attr >> 16):
        return Unusable("holds a symbolic link in place of the report")
    if report.compress_type not in _METHODS:
        return Unusable("is compressed in a way that is not accepted")
    if report.file_size > LARGEST_REPORT:
        return Unusable(f"holds a report larger than {LARGEST_REPORT} bytes")
    return report


def _leaves_the_folder(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name
