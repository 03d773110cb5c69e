"""Artifacts as a run uploads them, and as somebody with bad intentions would."""

from __future__ import annotations

import io
import zipfile


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return buffer.getvalue()


def with_link(name: str, target: str) -> bytes:
    buffer = io.BytesIO()
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, target)
    return buffer.getvalue()


def encrypted(files: dict[str, bytes]) -> bytes:
    """The flag alone, in the local header and in the directory: enough for a reader to want a password."""
    data = bytearray(zipped(files, zipfile.ZIP_STORED))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(signature, at + 1)) >= 0:
            data[at + offset] |= 1
    return bytes(data)


def claiming_size(archive: bytes, size: int) -> bytes:
    """The directory says that the first file expands to `size` bytes, whatever it does."""
    data = bytearray(archive)
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = size.to_bytes(4, "little")
    return bytes(data)
