"""The shapes in which a controller tells of jobs, tasks and machines, as recorded from a real one (tests/iris)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Child job names as the datakit ferry's steps have them.
CHILD = {"download": "zephyr-download-hf", "normalize": "zephyr-normalize", "tokenize": "zephyr-tokenize-train"}


@dataclass
class Work:
    """The stage that runs now, and how its shards and workers do."""

    stage: str
    began: int
    done: int = 0
    total: int = 64
    in_flight: int = 2
    queued: int = 62
    workers: int = 2
    waiting: str = ""
    """Why the workers wait for capacity; empty: they run."""
    errors: tuple[str, ...] = ()
    """What the tries of the first worker ended with so far."""
    zombie: bool = False


@dataclass
class Job:
    """One submitted ferry and what the test made of it. Times in milliseconds since the epoch."""

    id: str
    arguments: list[str]
    environment: dict[str, str]
    state: str = "JOB_STATE_PENDING"
    error: str = ""
    submitted: int = 1_780_000_000_000
    started: int = 0
    finished: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    preemptions: int = 0
    workers_died: str = ""
    """The error of the last stage's workers, killed with exit code 137; empty: they lived."""
    pending: str = ""
    stopping: bool = False
    """Told to stop, and not gone yet."""
    work: Work | None = None
    printed: tuple[str, ...] = ()
    """The lines of a job that is a single command."""


def progress_line(work: Work) -> str:
    """As a coordinator of June 2026 writes it."""
    return (
        "I20260620 08:00:00 zephyr.execution [20260620-080000-98a873a3] [stage0-Map → Scatter] "
        f"{work.done}/{work.total} complete, {work.in_flight} in-flight, {work.queued} queued, "
        f"{work.workers}/{work.workers} workers alive, 0 dead; items=4.00K (749.1/s), bytes_processed=1.4 MiB"
    )


def tree(job: Job) -> list[dict[str, Any]]:
    """ListJobs' rows for a job: the launcher, and a coordinator with its workers for each stage."""
    root = row(job.id, job.state, job.started, job.finished, job.error, job.submitted)
    root["preemptionCount"] = job.preemptions
    root["pendingReason"] = job.pending if job.state == "JOB_STATE_PENDING" else ""
    rows, at = [root], job.started
    for stage, seconds in job.stages.items():
        end = at + round(1000 * seconds)
        coordinator = f"{job.id}/{CHILD[stage]}-0123abcd-p0-a0"
        workers = f"{coordinator}/{CHILD[stage]}-0123abcd-p0-workers-a0"
        rows += [row(i, "JOB_STATE_SUCCEEDED", at, end, "", at) for i in (coordinator, workers)]
        at = end
    if job.work is not None and not job.finished:
        rows += at_work(job.id, job.work)
    if job.workers_died:
        # The coordinator of a pipeline that lost its workers fails with them.
        for dead in rows[-2:]:
            dead |= {"state": "JOB_STATE_FAILED", "error": job.workers_died, "taskStateCounts": {"failed": 1}}
        rows[-1]["exitCode"] = 137
    return rows


def at_work(job_id: str, work: Work) -> list[dict[str, Any]]:
    """The running stage's coordinator and its pool."""
    coordinator = f"{job_id}/{CHILD[work.stage]}-0123abcd-p0-a0"
    pool = f"{coordinator}/{CHILD[work.stage]}-0123abcd-p0-workers-a0"
    state = "SUCCEEDED" if work.zombie else "PENDING" if work.waiting else "RUNNING"
    workers = row(pool, f"JOB_STATE_{state}", work.began, work.began + 1 if work.zombie else 0, "", work.began)
    workers["taskStateCounts"] = {state.lower(): work.workers}
    workers |= {"pendingReason": work.waiting, "failureCount": len(work.errors), "errors": work.errors}
    return [row(coordinator, "JOB_STATE_RUNNING", work.began, 0, "", work.began), workers]


def row(job_id: str, state: str, started: int, finished: int, error: str, submitted: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "jobId": job_id,
        "name": job_id,
        "state": state,
        "exitCode": 0,
        "error": error,
        "failureCount": 1 if state == "JOB_STATE_FAILED" else 0,
        "preemptionCount": 0,
        "submittedAt": {"epochMs": str(submitted)},
        "taskStateCounts": {state.removeprefix("JOB_STATE_").lower(): 1},
        "taskCount": 1,
        "completedCount": 1 if finished else 0,
        "pendingReason": "",
        "hasChildren": "/zephyr-" not in job_id.rpartition("/")[0],
    }
    if started:
        result["startedAt"] = {"epochMs": str(started)}
    if finished:
        result["finishedAt"] = {"epochMs": str(finished)}
    return result


def task(of: dict[str, Any]) -> dict[str, Any]:
    shared: dict[str, Any] = {
        "workerId": "worker-1",
        "state": of["state"].replace("JOB_", "TASK_"),
        "exitCode": of["exitCode"] or (1 if of["state"] == "JOB_STATE_FAILED" else 0),
        "error": of["error"],
        **{key: of[key] for key in ("startedAt", "finishedAt") if key in of},
    }
    failed = [
        {"attemptId": number, "workerId": "worker-1", "state": "TASK_STATE_FAILED", "exitCode": 1, "error": error}
        for number, error in enumerate(of.get("errors", ()))
    ]
    attempt = {"attemptId": 0, "isWorkerFailure": False, "attemptUid": "0", **shared}
    return {
        "taskId": f"{of['jobId']}/0",
        "workerAddress": "",
        "currentAttemptId": 0,
        "attempts": [*failed, attempt],
        **shared,
    }


def machine(scale_group: str, *, zone: str, cpus: int = 8, gib: int = 32) -> dict[str, Any]:
    """A row of ListWorkers: the machine that every task of this double runs on."""
    attributes = {"scale-group": {"stringValue": scale_group}, "device-variant": {"stringValue": "cpu"}}
    about = {"cpuCount": cpus, "memoryBytes": str(gib * 1024**3), "gceZone": zone, "attributes": attributes}
    return {"workerId": "worker-1", "healthy": True, "metadata": about}
