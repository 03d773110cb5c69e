"""The ferry's status file. The pull request's code writes it, so it is read with a limit and believed in little."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import msgspec

from bot import google_storage

_log = logging.getLogger(__name__)

LARGEST_FILE = 64 * 1024
_LONGEST_VALUE = 300
READ_WITHIN_SECONDS = 60.0


class StatusFile(msgspec.Struct, frozen=True):
    """What the ferry said. `fields` is its whole JSON object; `problem` says why there is nothing, else empty."""

    status: str | None = None
    marin_prefix: str | None = None
    fields: dict[str, Any] = msgspec.field(default_factory=dict)
    problem: str = ""


def parse(data: bytes) -> StatusFile:
    """Read the file's bytes; anything that is not a small JSON object is a problem, never an error."""
    if len(data) > LARGEST_FILE:
        return StatusFile(problem=f"larger than {LARGEST_FILE // 1024} KiB")
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return StatusFile(problem="not JSON")
    if not isinstance(fields, dict):
        return StatusFile(problem="not a JSON object")
    return StatusFile(_text(fields.get("status")), _text(fields.get("marin_prefix")), fields)


async def read(path: str) -> StatusFile:
    """Read `gs://bucket/name` or a file. One that is not there, or cannot be read, is a problem in the answer."""
    data = await asyncio.to_thread(_read_bucket if path.startswith("gs://") else _read_file, path)
    return data if isinstance(data, StatusFile) else parse(data)


def _read_file(name: str) -> bytes | StatusFile:
    path = Path(name)
    # A device or a pipe in its place would never end, a link would lead to files that are not the ferry's.
    if path.is_symlink() or not path.is_file():
        return StatusFile(problem="not there")
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        return StatusFile(problem=f"not readable ({error.strerror})")


def _read_bucket(url: str) -> bytes | StatusFile:
    from google.api_core.exceptions import GoogleAPIError, NotFound
    from google.auth.exceptions import GoogleAuthError
    from google.cloud.storage.retry import DEFAULT_RETRY
    from requests.exceptions import RequestException

    bucket, _, name = url.removeprefix("gs://").partition("/")
    try:
        retry = DEFAULT_RETRY.with_timeout(READ_WITHIN_SECONDS)
        with google_storage.opened() as client:
            blob = client.bucket(bucket).blob(name)
            return bytes(blob.download_as_bytes(start=0, end=LARGEST_FILE, timeout=READ_WITHIN_SECONDS, retry=retry))
    except NotFound:
        return StatusFile(problem="not there")
    except (GoogleAPIError, GoogleAuthError, RequestException, OSError) as error:
        _log.warning("status file not readable", extra={"path": url, "error": str(error)})
        return StatusFile(problem=f"not readable ({type(error).__name__})")


def _text(value: object) -> str | None:
    """A short single line, or None: whatever else a hostile file holds here has no meaning."""
    if not isinstance(value, str) or len(value) > _LONGEST_VALUE or not value.isprintable():
        return None
    return value
