"""A tier's earlier scheduled runs, cut down to the numbers that say how much identical code varies.

The numbers go with a run's stored state (a few hundred bytes each), so that a comment can be drawn, and a pair judged
again, without the cluster, the bucket or the repository.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal

import msgspec

from bot.verdict.report import PerfReport
from bot.verdict.rules import SUCCEEDED, bucket

ORDINARY_PREEMPTIONS = 3


class PastRun(msgspec.Struct, frozen=True):
    """One scheduled run. Seconds of wall time and of work (the summed wall time of its tasks), memory in MB.

    A stage that was cached or measured 0 is absent. `workflow_run_id` is 0 where the report names none.
    """

    workflow_run_id: int
    sha: str
    at: datetime
    total: float | None = None
    memory: float | None = None
    work_total: float | None = None
    stages: dict[str, float] = {}
    work: dict[str, float] = {}


def past_run(report: PerfReport, at: datetime, *, workflow_run_id: int = 0, sha: str = "") -> PastRun | None:
    """The numbers of a report that can stand for its tier, or None.

    None for what measured something else than the code: not succeeded, split by many preemptions, hit by broken
    hardware, or killed for memory. A few preempted tasks are ordinary in a healthy run, and part of its noise. The
    total of a run with cached stages is left out: it holds less work.
    """
    if report.status not in (None, SUCCEEDED) or (report.preemption_count or 0) > ORDINARY_PREEMPTIONS:
        return None
    if bucket(report, "hardware_fault") or bucket(report, "oom"):
        return None
    cached = report.cached_steps
    whole = not cached
    return PastRun(
        workflow_run_id=workflow_run_id,
        sha=sha or (report.commit_sha or "").lower(),
        at=at,
        total=_measured(report.wall_seconds_total) if whole else None,
        memory=_measured(report.peak_worker_memory_mb),
        work_total=_measured(report.sum_task_wall_seconds_total) if whole else None,
        stages=_all_measured(report.stage_wall_seconds, cached),
        work=_all_measured(report.stage_sum_task_wall_seconds, cached),
    )


def _measured(value: Decimal | None) -> float | None:
    number = float(value) if value is not None else 0.0
    return number if number > 0 else None


def _all_measured(values: Mapping[str, Decimal | None], cached: Collection[str]) -> dict[str, float]:
    found = {name: _measured(value) for name, value in values.items() if name not in cached}
    return {name: value for name, value in found.items() if value is not None}
