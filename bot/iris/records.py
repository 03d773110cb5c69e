"""Jobs and tasks as Iris describes them, read from its JSON.

HTTP answers have camelCase keys and "JOB_STATE_RUNNING", the command line snake_case and sometimes "running"; 64-bit
integers are strings in both, and what is left out has its protobuf default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

Json = Mapping[str, Any]

# A job in one of these is over (facts: "terminal SUCCEEDED, FAILED, KILLED, WORKER_FAILED, UNSCHEDULABLE").
TERMINAL_STATES = frozenset({"succeeded", "failed", "killed", "worker_failed", "unschedulable"})

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_STATE_PREFIX = re.compile(r"^(JOB|TASK)_STATE_")


class Job(msgspec.Struct, frozen=True):
    """One job of the tree. Times are milliseconds since the epoch, None while not reached. `state` is lower case."""

    id: str
    state: str
    error: str = ""
    pending_reason: str = ""
    submitted_ms: int | None = None
    started_ms: int | None = None
    finished_ms: int | None = None
    failure_count: int = 0
    preemption_count: int = 0
    task_state_counts: Mapping[str, int] | None = None
    has_children: bool = False

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL_STATES

    @property
    def duration_ms(self) -> int | None:
        return _between(self.started_ms, self.finished_ms)


class Attempt(msgspec.Struct, frozen=True):
    """One try of a task, on one worker."""

    state: str
    started_ms: int | None
    finished_ms: int | None
    error: str = ""
    worker_id: str = ""
    exit_code: int | None = None

    @property
    def duration_ms(self) -> int | None:
        return _between(self.started_ms, self.finished_ms)


class Task(msgspec.Struct, frozen=True):
    """One task of a job; `exit_code` is None while it runs, `peak_memory_mb` 0 where the cluster does not measure."""

    id: str
    state: str
    exit_code: int | None
    error: str
    started_ms: int | None
    finished_ms: int | None
    peak_memory_mb: int
    attempts: tuple[Attempt, ...]

    @property
    def duration_ms(self) -> int | None:
        return _between(self.started_ms, self.finished_ms)


class Worker(msgspec.Struct, frozen=True):
    """A machine of the cluster; what is empty or 0 the controller does not say."""

    id: str
    scale_group: str = ""
    device: str = ""
    cpus: int = 0
    memory_bytes: int = 0
    zone: str = ""
    region: str = ""


def snake_keys(value: Any) -> Any:
    """The same JSON with snake_case keys."""
    if isinstance(value, Mapping):
        return {_HUMP.sub(lambda m: "_" + m[1].lower(), str(key)): snake_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [snake_keys(item) for item in value]
    return value


def state_name(value: object) -> str:
    """ "JOB_STATE_WORKER_FAILED" and "worker_failed" are "worker_failed"."""
    return _STATE_PREFIX.sub("", str(value or "")).lower()


def job(data: Json) -> Job:
    """Read a JobStatus. Raises ValueError when it is none."""
    raw = snake_keys(data)
    counts = raw.get("task_state_counts") or {}
    if not isinstance(raw.get("job_id"), str) or not isinstance(counts, Mapping):
        raise ValueError("a job without an id or with malformed task counts")
    return Job(
        id=raw["job_id"],
        state=state_name(raw.get("state")),
        error=str(raw.get("error") or ""),
        pending_reason=str(raw.get("pending_reason") or ""),
        submitted_ms=_epoch_ms(raw.get("submitted_at")),
        started_ms=_epoch_ms(raw.get("started_at")),
        finished_ms=_epoch_ms(raw.get("finished_at")),
        failure_count=int(raw.get("failure_count") or 0),
        preemption_count=int(raw.get("preemption_count") or 0),
        task_state_counts={str(state): int(count) for state, count in counts.items()},
        has_children=bool(raw.get("has_children")),
    )


def task(data: Json) -> Task:
    """Read a TaskStatus. Raises ValueError when it is none."""
    raw = snake_keys(data)
    if not isinstance(raw.get("task_id"), str):
        raise ValueError("a task without an id")
    state = state_name(raw.get("state"))
    # A running task has exit code 0 on the wire, which must not look like a clean end.
    ended = state not in {"pending", "building", "running", "assigned", ""}
    return Task(
        id=raw["task_id"],
        state=state,
        exit_code=int(raw.get("exit_code") or 0) if ended else None,
        error=str(raw.get("error") or ""),
        started_ms=_epoch_ms(raw.get("started_at")),
        finished_ms=_epoch_ms(raw.get("finished_at")),
        peak_memory_mb=int((raw.get("resource_usage") or {}).get("memory_peak_mb") or 0),
        attempts=tuple(
            Attempt(
                state_name(a.get("state")),
                _epoch_ms(a.get("started_at")),
                _epoch_ms(a.get("finished_at")),
                str(a.get("error") or ""),
                str(a.get("worker_id") or ""),
                int(a["exit_code"]) if a.get("exit_code") else None,
            )
            for a in raw.get("attempts") or ()
        ),
    )


def worker(data: Json) -> Worker:
    """Read a WorkerHealthStatus. Raises ValueError when it is none."""
    raw = snake_keys(data)
    if not isinstance(raw.get("worker_id"), str):
        raise ValueError("a worker without an id")
    about = raw.get("metadata") or {}
    attributes = {key: str(value.get("string_value") or "") for key, value in (about.get("attributes") or {}).items()}
    variant = attributes.get("device-variant", "")
    return Worker(
        id=raw["worker_id"],
        scale_group=attributes.get("scale-group", ""),
        device="" if variant == "cpu" else variant,
        cpus=int(about.get("cpu_count") or 0),
        memory_bytes=int(about.get("memory_bytes") or 0),
        zone=str(about.get("gce_zone") or "") or attributes.get("zone", ""),
        region=attributes.get("region", ""),
    )


def _epoch_ms(value: object) -> int | None:
    if not isinstance(value, Mapping):
        return None
    # Epoch 0 is the protobuf default, not a time.
    return int(value.get("epoch_ms") or 0) or None


def _between(started_ms: int | None, finished_ms: int | None) -> int | None:
    if started_ms is None or finished_ms is None or finished_ms < started_ms:
        return None
    return finished_ms - started_ms
