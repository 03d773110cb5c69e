"""Where ferries leave their status, and where reports are mirrored: there, and readable from here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from bot import google_storage
from bot.cli.checks.model import Found, Surroundings, ok, wrong
from bot.config.settings import PREFIX

_SECONDS = 20.0


async def prefixes(around: Surroundings) -> Sequence[Found]:
    settings = around.settings
    named = [("STATUS_PREFIX", settings.status_prefix)]
    named += [("PERF_REPORTS", settings.perf_reports)] if settings.perf_reports else []
    return [await asyncio.to_thread(_readable, f"{PREFIX}{variable}", prefix) for variable, prefix in named]


def _readable(variable: str, prefix: str) -> Found:
    if not prefix.startswith("gs://"):
        return _folder(variable, Path(prefix))
    from google.api_core.exceptions import Forbidden, GoogleAPIError, NotFound
    from google.auth.exceptions import GoogleAuthError
    from google.cloud.storage.retry import DEFAULT_RETRY
    from requests.exceptions import RequestException

    bucket, _, folder = prefix.removeprefix("gs://").partition("/")
    try:
        retry = DEFAULT_RETRY.with_timeout(_SECONDS)
        with google_storage.opened() as client:
            listed = client.list_blobs(
                bucket, prefix=f"{folder}/" if folder else None, max_results=1, timeout=_SECONDS, retry=retry
            )
            next(iter(listed), None)
    except NotFound:
        return wrong(f"there is no bucket {bucket}", f"make it, or set {variable}")
    except Forbidden:
        fix = f"grant this machine's service account roles/storage.objectViewer on {bucket}"
        return wrong(f"{prefix} may not be listed from here", fix)
    except GoogleAuthError as error:
        return wrong(f"there are no Google credentials: {error}", "set GOOGLE_APPLICATION_CREDENTIALS")
    except (GoogleAPIError, RequestException, OSError) as error:
        return wrong(f"{prefix} cannot be listed: {type(error).__name__}", f"see the network from here; set {variable}")
    return ok(f"{prefix} can be listed")


def _folder(variable: str, folder: Path) -> Found:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(there, os.R_OK | os.X_OK):
        return ok(f"{folder} can be read" if there == folder else f"{folder} is not there yet; {there} can be read")
    return wrong(f"{there} cannot be read", f"give this user access, or set {variable}")
