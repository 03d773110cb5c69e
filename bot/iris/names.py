"""Names that make a submission findable after a crash: all derive from the ids that identify the attempt.

Iris replaces a finished job of the same name, and a reused SMOKE_RUN_ID serves the stages of the earlier run from its
cache, so no two attempts may ever share a name.
"""

from __future__ import annotations

import hashlib
import re

_NOT_ALLOWED = re.compile(r"[^a-z0-9]+")
LONGEST_NAME = 63


def job_name(repository_id: int, pull: int, head_sha: str, run: int | str, gate: int, attempt: int) -> str:
    """At most 63 characters of [a-z0-9-]: readable parts, then a digest of the full ids, so nothing is lost."""
    ids = f"{repository_id}/{pull}/{head_sha}/{run}/{gate}/{attempt}"
    digest = hashlib.sha256(ids.encode()).hexdigest()[:12]
    short_run = _NOT_ALLOWED.sub("-", str(run).lower()).strip("-")[:12].strip("-")
    readable = f"perf-gate-{pull}-{head_sha[:8].lower()}-{short_run}-g{gate}-a{attempt}"
    readable = _NOT_ALLOWED.sub("-", readable)[: LONGEST_NAME - len(digest) - 1].rstrip("-")
    return f"{readable}-{digest}"


def job_id(user: str, name: str) -> str:
    """Iris' id of a root job."""
    return f"/{user}/{name}"


def smoke_run_id(name: str) -> str:
    """The ferry's SMOKE_RUN_ID, under which it keeps its output."""
    return name


def status_path(prefix: str, name: str) -> str:
    """The ferry's FERRY_STATUS_PATH."""
    return f"{prefix.rstrip('/')}/{name}/ferry_run_status.json"
