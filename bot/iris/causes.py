"""Why a ferry ended badly, or lost workers on its way: from its tree and tasks; the root job only repeats it. Pure.

The first failure counts, since the others follow from it: a coordinator fails with its workers, the launcher with its
coordinator. Running out of memory comes before any other, because it is what a reviewer must see (seed 002).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from bot.iris.failures import classify
from bot.iris.records import Attempt, Job, Task
from bot.watching.cause import Cause, CauseKind

# Jobs whose tasks are asked for; of a large tree the failed ones that ended first tell.
MOST_JOBS = 12
MOST_LINES = 6
_LONGEST_LINE = 400
_LONGEST_ERROR = 1500
_KINDS: Mapping[str, CauseKind] = {
    "oom": "oom",
    "preempted": "preempted",
    "hardware_fault": "hardware",
    "scheduling_timeout": "unschedulable",
    "application_failure": "application",
}
_OF_MEMORY = re.compile(
    r"\boom\b|oom[- _]?kill|out of memory|memoryerror|sigkill|\bkilled\b|memory limit", re.IGNORECASE
)
_OF_ERRORS = re.compile(r"error|exception|traceback|fatal|failed", re.IGNORECASE)


class Failure(msgspec.Struct, frozen=True):
    """One failed try of one task."""

    job_id: str
    task_id: str
    kind: CauseKind
    error: str
    exit_code: int | None
    at_ms: int


def worth_asking(root: Job, tree: Sequence[Job]) -> list[str]:
    """The jobs in which something failed, the deepest first; the launcher last."""
    failed = [job for job in tree if job.id != root.id and (job.failure_count or job.preemption_count or _failed(job))]
    failed.sort(key=lambda job: (-job.id.count("/"), job.finished_ms or 0, job.id))
    return [*(job.id for job in failed[: MOST_JOBS - 1]), root.id]


def first_failure(root: Job, tasks: Mapping[str, Sequence[Task]]) -> Failure | None:
    """None where no task failed: the ferry was killed, or never ran."""
    found = [failure for job_id, of_job in tasks.items() for task in of_job for failure in _failures(job_id, task)]
    # Preempted workers are replaced: they are the cause only where nothing else is.
    rank = {"oom": 0, "preempted": 2}
    # What is above repeats what is below, so the deepest job tells best; in it, what came first.
    return min(
        found,
        key=lambda one: (rank.get(one.kind, 1), -one.job_id.count("/"), one.at_ms, one.task_id),
        default=None,
    )


def cause(root: Job, failure: Failure | None, log: Iterable[str]) -> Cause:
    """`log` are the last lines of the failed task, in order of time."""
    if failure is None:
        kind: CauseKind = "unknown"
        if root.state in ("killed", "unschedulable"):
            kind = "killed" if root.state == "killed" else "unschedulable"
        return Cause(kind, (root.error or root.pending_reason)[:_LONGEST_ERROR])
    telling = telling_lines(log, _OF_MEMORY if failure.kind == "oom" else _OF_ERRORS)
    return Cause(failure.kind, failure.error[:_LONGEST_ERROR], failure.task_id, failure.exit_code, telling)


def telling_lines(log: Iterable[str], about: re.Pattern[str]) -> tuple[str, ...]:
    """The lines that speak of it, else the last ones."""
    lines = [line.rstrip()[:_LONGEST_LINE] for line in log if line.strip()]
    speaking = [line for line in lines if about.search(line)]
    return tuple((speaking or lines)[-MOST_LINES:])


def _failed(job: Job) -> bool:
    return job.state in ("failed", "worker_failed", "unschedulable")


def _failures(job_id: str, task: Task) -> Iterator[Failure]:
    """Each failed try of a task, also of one that succeeded at last; the task itself where its tries are not told."""
    for tried in [_as_task(task, one) for one in task.attempts] or [task]:
        bucket = classify(tried)
        if bucket is not None:
            # Iris tries lost machines again by itself, and they are no error of what ran on them.
            lost = tried.state == "worker_failed" and bucket == "application_failure"
            kind: CauseKind = "hardware" if lost else _KINDS.get(bucket, "unknown")
            yield Failure(job_id, task.id, kind, tried.error, tried.exit_code, tried.finished_ms or 0)


def _as_task(task: Task, one: Attempt) -> Task:
    last = one is task.attempts[-1]
    exit_code = one.exit_code if one.exit_code is not None else task.exit_code if last else None
    error = one.error or (task.error if last else "")
    return Task(task.id, one.state, exit_code, error, one.started_ms, one.finished_ms, 0, ())
