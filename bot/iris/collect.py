"""The perf report of a finished ferry, from its job tree, its tasks and its status file: pure.

The fields, their order and their meaning are those of the upstream collector (scripts/ci/collect_perf_metrics.py, which
writes the baselines), so that the two sides compare:

- `wall_seconds_total` is the launcher task's own duration: the queue before it is not the code's doing.
- `stage_wall_seconds` sums the coordinators' durations of a step's pipelines. They run one after another, so the sum is
  the time Zephyr worked; the span from first to last would add what the launcher does between them, and the baseline's
  is a sum. Of a pipeline that was tried again, the latest attempt counts.
- `stage_sum_task_wall_seconds` sums all attempts of the tasks that succeeded in jobs without children: work done,
  however it was scheduled.
- `cached_steps` are expected steps that a successful ferry did not run: their output existed. They appear with 0.0.
- Failures are counted over the launcher's and the workers' tasks. A coordinator repeats what its workers or its
  launcher already say, so counting it would double every failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from bot.iris.failures import BUCKETS, classify
from bot.iris.records import Job, Task
from bot.iris.status_file import StatusFile
from bot.iris.steps import Pipeline, latest_attempts, pipeline, step_of


class Ferry(msgspec.Struct, frozen=True):
    """Everything a report is made of. `tasks` holds the tasks of the launcher and of every job without children."""

    root: Job
    tree: Sequence[Job]
    tasks: Mapping[str, Sequence[Task]]
    status: StatusFile
    expected_steps: Sequence[str]
    ferry_module: str
    commit_sha: str


def leaves(root: Job, tree: Sequence[Job]) -> list[str]:
    """The jobs whose tasks a report needs: the launcher first, then every job without children."""
    return [root.id, *(job.id for job in tree if not job.has_children and job.id != root.id)]


def report(ferry: Ferry, collected_at: datetime) -> dict[str, Any]:
    """The report as JSON values; numbers of seconds are exact to the millisecond."""
    warnings: list[str] = []
    pipelines = [item for job in ferry.tree if (item := pipeline(ferry.root.id, job)) is not None]
    current, superseded = latest_attempts(pipelines)
    if superseded:
        lost = ", ".join(sorted(item.job.id.rpartition("/")[2] for item in superseded))
        warnings.append(f"earlier attempts are not counted: {lost}")
    stages, cached = _stage_wall(ferry, current, warnings)
    peak, buckets = _failures(ferry)
    counts = _task_state_counts(ferry.tree)
    if counts.get("preempted"):
        warnings.append("task_state_counts.preempted > 0: stage durations may be split across attempts")
    sum_total, sum_stages = _sum_task_wall(ferry, {item.job.id for item in superseded})
    return {
        "iris_job_id": ferry.root.id,
        "status": _status(ferry, warnings),
        "marin_prefix": ferry.status.marin_prefix,
        "ferry_module": ferry.ferry_module,
        "wall_seconds_total": _wall_total(ferry, warnings),
        "stage_wall_seconds": stages,
        "sum_task_wall_seconds_total": sum_total,
        "stage_sum_task_wall_seconds": sum_stages,
        "cached_steps": cached,
        "ooms": buckets["oom"],
        "failed_shards": buckets["application_failure"],
        "peak_worker_memory_mb": peak,
        "preemption_count": sum(job.preemption_count for job in ferry.tree),
        "failure_count": sum(job.failure_count for job in ferry.tree),
        "task_state_counts": counts,
        "tree_job_count": len(ferry.tree),
        "infra_failures": buckets,
        "workflow_run_id": None,
        "workflow_run_attempt": None,
        "workflow_name": None,
        "commit_sha": ferry.commit_sha,
        "collected_at_utc": collected_at.astimezone(UTC).isoformat(timespec="seconds"),
        "warnings": warnings,
    }


def status_of(root: Job, said: StatusFile, warnings: list[str]) -> str:
    """The root job decides. The file, which the ferry's own code writes, can make the end worse, never better."""
    if root.state != "succeeded":
        if said.status == "succeeded":
            warnings.append(f"the status file says succeeded, but the job ended {root.state}")
        return root.state
    if said.status is not None and said.status != "succeeded":
        warnings.append(f"the job succeeded, but its status file says {said.status}")
        return said.status
    return "succeeded"


def _status(ferry: Ferry, warnings: list[str]) -> str:
    if ferry.status.problem:
        warnings.append(f"status file {ferry.status.problem}; marin_prefix unset")
    return status_of(ferry.root, ferry.status, warnings)


def _wall_total(ferry: Ferry, warnings: list[str]) -> float | None:
    durations = [task.duration_ms for task in ferry.tasks.get(ferry.root.id, ()) if task.duration_ms is not None]
    if not durations:
        warnings.append("wall_seconds_total: the launcher task has no duration")
        return None
    return max(durations) / 1000


def _stage_wall(ferry: Ferry, current: Sequence[Pipeline], warnings: list[str]) -> tuple[dict[str, float], list[str]]:
    milliseconds: dict[str, int] = {}
    for item in sorted(current, key=lambda item: (item.job.submitted_ms or 0, item.job.id)):
        if item.job.duration_ms is not None:
            milliseconds[item.step] = milliseconds.get(item.step, 0) + item.job.duration_ms
    stages = {step: total / 1000 for step, total in milliseconds.items()}
    absent = [step for step in ferry.expected_steps if step not in stages]
    unknown = _unknown_children(ferry)
    if unknown:
        warnings.append(f"child jobs of no known step are not counted: {', '.join(unknown)}")
    if ferry.root.state != "succeeded":
        if absent:
            warnings.append(f"steps that never ran: {', '.join(absent)}")
        return stages, []
    if absent and len(absent) == len(ferry.expected_steps):
        warnings.append("all expected steps were cached: the pipeline may not have done any work")
    return stages | dict.fromkeys(sorted(absent), 0.0), sorted(absent)


def _unknown_children(ferry: Ferry) -> list[str]:
    names = (job.id.removeprefix(f"{ferry.root.id}/") for job in ferry.tree if job.id != ferry.root.id)
    return sorted(n for n in names if "/" not in n and step_of(ferry.root.id, f"{ferry.root.id}/{n}") is None)


def _sum_task_wall(ferry: Ferry, superseded: set[str]) -> tuple[float, dict[str, float | None]]:
    total = 0
    steps: dict[str, int | None] = dict.fromkeys(ferry.expected_steps)
    for job in ferry.tree:
        if job.has_children:
            continue
        done = [task for task in ferry.tasks.get(job.id, ()) if task.state == "succeeded"]
        spent = sum(attempt.duration_ms or 0 for task in done for attempt in task.attempts)
        total += spent
        step = step_of(ferry.root.id, job.id)
        if step is not None and not any(job.id == lost or job.id.startswith(f"{lost}/") for lost in superseded):
            steps[step] = (steps.get(step) or 0) + spent
    return total / 1000, {step: None if spent is None else spent / 1000 for step, spent in steps.items()}


def _failures(ferry: Ferry) -> tuple[int, dict[str, int]]:
    peak, buckets = 0, dict.fromkeys(BUCKETS, 0)
    for job_id in leaves(ferry.root, ferry.tree):
        for task in ferry.tasks.get(job_id, ()):
            peak = max(peak, task.peak_memory_mb)
            bucket = classify(task)
            if bucket is not None:
                buckets[bucket] += 1
    return peak, buckets


def _task_state_counts(tree: Sequence[Job]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for job in tree:
        for state, count in (job.task_state_counts or {}).items():
            if count:
                counts[state] = counts.get(state, 0) + count
    return counts
