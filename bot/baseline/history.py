"""The tier's last scheduled reports, from which the noise of identical code is told.

From the mirror where it gives any, else from the artifacts of the scheduled runs, which GitHub keeps for ninety days.
What was read is kept, so that a gate usually costs what the last night added. No trouble with any of it stops a run:
less history makes the noise's bands wider, and none leaves the fixed table alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.baseline.mirror import Mirrored
from bot.baseline.model import Archive, BaselinePin, Missing, Tier
from bot.baseline.scheduled import not_from_the_schedule
from bot.baseline.shelf import Shelf
from bot.baseline.uploaded import uploaded
from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import WorkflowRun
from bot.verdict.past import PastRun, past_run
from bot.verdict.report import BadReport, PerfReport, parse_report

_log = logging.getLogger(__name__)

MOST = 20
# Each is two requests and a download. Runs that left no report are looked past, but not without end.
_MOST_FETCHED = 25
# A share of the effect's five minutes.
_PATIENCE_SECONDS = 60.0
# Beyond these no collector wrote it; every run's state would carry it.
_MOST_STAGES = 100
_LONGEST_NAME = 100
# Kept for a run that left no usable report, which will not change: read as a report, JSON's null is none.
_NOTHING = "null"


async def past_runs(
    gh: GitHub,
    tier: Tier,
    runs: Sequence[WorkflowRun],
    mirrored: Mirrored | None,
    pin: BaselinePin,
    archive: Archive,
    now: datetime,
) -> tuple[PastRun, ...]:
    """Up to 20 of the tier's scheduled runs, oldest first, the pinned baseline among them. Raises nothing.

    `runs` are newest first, as GitHub lists them; only they can be in the answer.
    """
    skipped: Counter[str] = Counter()
    reports = {one.run.id: one.report for one in mirrored.reports} if mirrored is not None else {}
    source = "mirror"
    if not reports:
        source = "artifacts"
        reports = await _from_artifacts(gh, tier, runs, pin, archive, now)
    if isinstance(pinned := parse_report(pin.report), PerfReport):
        reports[pin.run_id] = pinned
    found = list(_usable(tier, runs, reports, skipped))[:MOST]
    said = {"tier": tier.number, "source": source, "used": len(found), "skipped": dict(skipped)}
    _log.debug("read the history", extra=said)
    return tuple(reversed(found))


def _usable(
    tier: Tier, runs: Sequence[WorkflowRun], reports: dict[int, PerfReport], skipped: Counter[str]
) -> Iterator[PastRun]:
    """Newest first; what is left out is counted with its reason."""
    for run in runs:
        report = reports.get(run.id)
        if not_from_the_schedule(run, tier.default_branch) is not None:
            skipped["no scheduled run"] += 1
        elif report is None:
            skipped["no report"] += 1
        elif (past := past_run(report, run.created_at, workflow_run_id=run.id, sha=run.head_sha)) is None:
            skipped["measured trouble"] += 1
        elif not _plausible(past):
            skipped["implausible"] += 1
        else:
            yield past


def _plausible(past: PastRun) -> bool:
    """Something was measured, and no more stages than a pipeline has."""
    stages = [*past.stages, *past.work]
    if not stages and past.total is None:
        return False
    return len(stages) <= 2 * _MOST_STAGES and all(len(name) <= _LONGEST_NAME for name in stages)


def history_shelf(archive: Archive, full_name: str, workflow: str) -> Shelf:
    """Where the reports of a workflow's artifacts are kept."""
    return Shelf(archive.folder / full_name.replace("/", "--") / workflow)


async def _from_artifacts(
    gh: GitHub, tier: Tier, runs: Sequence[WorkflowRun], pin: BaselinePin, archive: Archive, now: datetime
) -> dict[int, PerfReport]:
    """What could be read in time, by run id; the newest first, so that what is missing is the oldest."""
    shelf = history_shelf(archive, tier.repo.full_name, tier.gate.workflow)
    reports: dict[int, PerfReport] = {}
    fetched = 0
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            for run in runs:
                text = await asyncio.to_thread(shelf.get, _shelf_name(run))
                if text is None:
                    if fetched == _MOST_FETCHED:
                        break
                    fetched += run.id != pin.run_id
                    text = pin.report if run.id == pin.run_id else await _fetch(gh, tier, run, now)
                    await asyncio.to_thread(shelf.put, _shelf_name(run), text)
                report = parse_report(text)
                if not isinstance(report, BadReport):
                    reports[run.id] = report
                if len(reports) == MOST:
                    break
    except (Fault, TimeoutError) as error:
        _log.warning("the history could not be read to its end", extra={"tier": tier.number, "error": str(error)})
    return reports


async def _fetch(gh: GitHub, tier: Tier, run: WorkflowRun, now: datetime) -> str:
    answer = await uploaded(gh, tier, run, now)
    return _NOTHING if isinstance(answer, Missing) else answer.text


def _shelf_name(run: WorkflowRun) -> str:
    """Sorts by the run's age."""
    return f"run-{run.id:020d}"
