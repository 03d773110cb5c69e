"""A tier's earlier scheduled runs, cut down to the numbers that say how much identical code varies.

The numbers go with a run's stored state (a few hundred bytes each), so that a comment can be drawn, and a pair judged
again, without the cluster, the bucket or the repository.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from bot.verdict.report import Json, PerfReport, validate_report
from bot.verdict.rules import SUCCEEDED, bucket

ORDINARY_PREEMPTIONS = 3
_FIRST = datetime.fromtimestamp(0, UTC)
_SHORTEST, _LONGEST = 1e-6, 1e15
_LONGEST_RUN_ID, _LONGEST_NAME = 18, 200


class PastRun(msgspec.Struct, frozen=True):
    """One scheduled run. Seconds of wall time and of work (the summed wall time of its tasks), memory in MB.

    A stage that was cached or measured 0 is absent. `workflow_run_id` is 0, and `job` (the Iris job) and `ferry_module`
    are empty, where the report names none.
    """

    workflow_run_id: int
    sha: str
    at: datetime
    total: float | None = None
    memory: float | None = None
    stages: dict[str, float] = {}
    work: dict[str, float] = {}
    job: str = ""
    ferry_module: str = ""


def past_run(report: PerfReport, at: datetime, *, workflow_run_id: int = 0, sha: str = "") -> PastRun | None:
    """The numbers of a report that can stand for its tier, or None.

    None for what measured something else than the code: not succeeded, split by many preemptions, hit by broken
    hardware, or killed for memory. A few preempted tasks are ordinary in a healthy run, and part of its noise.
    """
    if report.status not in (None, SUCCEEDED) or (report.preemption_count or 0) > ORDINARY_PREEMPTIONS:
        return None
    if bucket(report, "hardware_fault") or bucket(report, "oom"):
        return None
    return numbers(report, at, workflow_run_id=workflow_run_id, sha=sha)


def numbers(report: PerfReport, at: datetime, *, workflow_run_id: int = 0, sha: str = "") -> PastRun:
    """A report cut down to its numbers. The total of a run with cached stages is left out: it holds less work."""
    cached = report.cached_steps
    return PastRun(
        workflow_run_id=workflow_run_id,
        sha=sha or (report.commit_sha or "").lower(),
        at=at,
        total=_measured(report.wall_seconds_total) if not cached else None,
        memory=_measured(report.peak_worker_memory_mb),
        stages=_all_measured(report.stage_wall_seconds, cached),
        work=_all_measured(report.stage_sum_task_wall_seconds, cached),
        job=_kept_name(report.iris_job_id),
        ferry_module=_kept_name(report.ferry_module),
    )


def samples(history: Sequence[PastRun], baseline: PerfReport, treatments: Sequence[PerfReport]) -> list[PastRun]:
    """The runs of `history`, each once, that vary as the baseline does, and the baseline where it is a sample itself.

    Left out are the treatments' own runs, which a folder of reports may hold too, and those of another ferry. The total
    of a run with other stages than the baseline's is left out: it holds other work.
    """
    ours = past_run(baseline, _FIRST)
    like = numbers(baseline, _FIRST)
    of_treatments = {report.iris_job_id for report in treatments}
    found: dict[object, PastRun] = {}
    for past in history:
        if past.job and past.job in of_treatments:
            continue
        if past.ferry_module and like.ferry_module and past.ferry_module != like.ferry_module:
            continue
        # A later copy of a run, or its later attempt, takes the place of the earlier one.
        found.pop(same := _identity(past), None)
        found[same] = past
    if ours is not None and not any(_is_of(past, ours) for past in found.values()):
        found[None] = ours
    return [_of_the_same_work(past, like) for past in found.values()]


def _identity(past: PastRun) -> object:
    """Equal for two reports of one run. A run that names neither itself nor its job is only itself."""
    if past.workflow_run_id:
        return past.workflow_run_id
    return (past.job, past.total, tuple(past.stages.items())) if past.job else id(past)


def _is_of(past: PastRun, baseline: PastRun) -> bool:
    return (past.total, past.stages) == (baseline.total, baseline.stages)


def _of_the_same_work(past: PastRun, like: PastRun) -> PastRun:
    if not past.stages or not like.stages or past.stages.keys() == like.stages.keys():
        return past
    return replace(past, total=None)


def _kept_name(value: str | None) -> str:
    """The name as it is, for comparing; one that nothing of ours is called is not kept."""
    return value if value and len(value) <= _LONGEST_NAME else ""


class Earlier(msgspec.Struct, frozen=True):
    """Runs oldest first, and why others are not among them, by name."""

    runs: tuple[PastRun, ...]
    left_out: dict[str, str]


def earlier_reports(reports: Sequence[Json], names: Sequence[str] = ()) -> Earlier:
    """Parsed reports, named by `names` or by their place, as a history, by the time each says it was collected at.

    A report without that time keeps its place after the one before it.
    """
    found: list[PastRun] = []
    left_out: dict[str, str] = {}
    latest = _FIRST
    for index, content in enumerate(reports):
        name = names[index] if index < len(names) else f"report {index + 1}"
        report = validate_report(content)
        if not isinstance(report, PerfReport):
            left_out[name] = f"its {report[0]}"
            continue
        latest = _collected_at(report) or latest
        made = past_run(report, latest, workflow_run_id=_run_id(report))
        if made is None:
            left_out[name] = "its run did not succeed, or was split by preemptions, broken hardware or lack of memory"
        else:
            found.append(made)
    return Earlier(tuple(sorted(found, key=lambda run: run.at)), left_out)


def _collected_at(report: PerfReport) -> datetime | None:
    try:
        at = datetime.fromisoformat(report.collected_at_utc or "")
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _run_id(report: PerfReport) -> int:
    said = report.workflow_run_id or ""
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _LONGEST_RUN_ID else 0


def _measured(value: Decimal | None) -> float | None:
    """None where nothing was measured, or nothing that could be: a literal of 1E+900 seconds is no duration."""
    number = float(value) if value is not None else 0.0
    return number if _SHORTEST <= number <= _LONGEST else None


def _all_measured(values: Mapping[str, Decimal | None], cached: Collection[str]) -> dict[str, float]:
    found = {name: _measured(value) for name, value in values.items() if name not in cached}
    return {name: value for name, value in found.items() if value is not None}
