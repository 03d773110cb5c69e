"""How a ferry is doing, from the job tree: pure. The root job decides; children only show where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from bot.iris.progress import ShardProgress
from bot.iris.records import Job
from bot.iris.steps import Pipeline, latest_attempts, pipeline

_LONGEST_TEXT = 1000


class StageProgress(msgspec.Struct, frozen=True):
    """One step of the ferry. `seconds` sums its pipelines so far; shards are those of the pipeline that runs now."""

    name: str
    state: Literal["waiting", "running", "done", "failed"]
    seconds: float
    pipelines: int = 0
    shards: ShardProgress | None = None


class FerryStatus(msgspec.Struct, frozen=True):
    """A look at a ferry. `state` is the root job's, lower case; `error` and `pending_reason` are Iris' own words.

    `jobs` counts the tree's jobs by state. `stages` are in the order in which they began, then the expected ones that
    have not. `pending_reason` of a capacity kind is a queue wait, not a failure.
    """

    job_id: str
    state: str
    terminal: bool
    succeeded: bool
    error: str = ""
    pending_reason: str = ""
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    jobs: dict[str, int] = {}
    stages: tuple[StageProgress, ...] = ()


def ferry_status(
    root: Job,
    tree: Sequence[Job],
    now: datetime,
    *,
    expected_steps: Sequence[str] = (),
    shards: Mapping[str, ShardProgress] | None = None,
) -> FerryStatus:
    """`tree` is the root and all below it; `shards` is the progress of running coordinators by job id."""
    counts: dict[str, int] = {}
    for job in tree:
        counts[job.state] = counts.get(job.state, 0) + 1
    return FerryStatus(
        job_id=root.id,
        state=root.state,
        terminal=root.terminal,
        succeeded=root.state == "succeeded",
        error=root.error[:_LONGEST_TEXT],
        # Iris repeats the error here once a job has ended.
        pending_reason="" if root.terminal else root.pending_reason[:_LONGEST_TEXT],
        submitted_at=_time(root.submitted_ms),
        started_at=_time(root.started_ms),
        finished_at=_time(root.finished_ms),
        jobs=dict(sorted(counts.items())),
        stages=_stages(root, tree, now, expected_steps, shards or {}),
    )


def _stages(
    root: Job, tree: Sequence[Job], now: datetime, expected: Sequence[str], shards: Mapping[str, ShardProgress]
) -> tuple[StageProgress, ...]:
    by_step: dict[str, list[Pipeline]] = {}
    for item in _pipelines(root, tree):
        by_step.setdefault(item.step, []).append(item)
    now_ms = round(now.timestamp() * 1000)
    begun = [
        StageProgress(
            name=step,
            state=_state(root, items),
            seconds=sum(_elapsed_ms(item.job, root, now_ms) for item in items) / 1000,
            pipelines=len(items),
            shards=next((shards[p.job.id] for p in items if p.job.state == "running" and p.job.id in shards), None),
        )
        for step, items in by_step.items()
    ]
    # A step skipped because its output exists never appears; after the end nothing waits any more.
    waiting = [] if root.terminal else [step for step in expected if step not in by_step]
    return (*begun, *(StageProgress(name=step, state="waiting", seconds=0.0) for step in waiting))


def _state(root: Job, items: Sequence[Pipeline]) -> Literal["waiting", "running", "done", "failed"]:
    states = {item.job.state for item in items}
    if states & {"failed", "worker_failed", "unschedulable"}:
        return "failed"
    # Newer Zephyr leaves the coordinator of a good pipeline killed, so killed alone says nothing.
    if root.terminal or states <= {"succeeded", "killed"}:
        return "done"
    return "running" if states & {"running", "succeeded", "killed"} else "waiting"


def _elapsed_ms(job: Job, root: Job, now_ms: int) -> int:
    if job.started_ms is None:
        return 0
    return max(0, (job.finished_ms or root.finished_ms or now_ms) - job.started_ms)


def _pipelines(root: Job, tree: Sequence[Job]) -> list[Pipeline]:
    found = [item for job in tree if (item := pipeline(root.id, job)) is not None]
    current, _ = latest_attempts(found)
    return sorted(current, key=lambda item: (item.job.submitted_ms or 0, item.job.id))


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
