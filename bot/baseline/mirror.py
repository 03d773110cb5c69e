"""The mirror's reports, believed only as far as GitHub's API vouches for them.

Code of a pull request may be able to write the bucket, so a report counts only where the run that it names is among the
tier's scheduled successful runs, and was of the commit that it names. One listing of runs vouches for all of them. Of
several reports that name one run, the one that the bucket got first counts: who copies a true run's id and commit
into a report of his own, comes later than the run itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from bot.baseline.bucket import LARGEST_REPORT, Bucket, Entry, opened
from bot.baseline.model import Archive, Tier
from bot.baseline.scheduled import not_from_the_schedule, same_commit
from bot.baseline.shelf import MOST, Shelf
from bot.faults import Fault
from bot.github.model import WorkflowRun
from bot.verdict.report import BadReport, PerfReport, parse_report

_log = logging.getLogger(__name__)

# Why a report is not believed; each follows a number.
NO_REPORT = "unreadable"
NO_SUCH_RUN = "of no scheduled run of this workflow"
OTHER_COMMIT = "of another commit than its run's"
REPEATED = "of a run that another is of"
_SUCCEEDED = "succeeded"


class Verified(msgspec.Struct, frozen=True):
    """A report that GitHub vouches for, and the run that it is of."""

    entry: Entry
    run: WorkflowRun
    text: str
    report: PerfReport


class Mirrored(msgspec.Struct, frozen=True):
    """What the mirror gave: a report for each of some runs, newest first by the timestamps of their names.

    `refused` counts, by reason, what was read and not believed. `trouble` completes "The GCS mirror of the reports …"
    where it could not be read, or not to the end; `passing` says that it may be another time.
    """

    reports: tuple[Verified, ...] = ()
    refused: Mapping[str, int] = msgspec.field(default_factory=dict)
    trouble: str = ""
    passing: bool = False


class _Reading(msgspec.Struct):
    texts: list[tuple[Entry, str]] = msgspec.field(default_factory=list)
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    fault: Fault | None = None


async def read_mirror(archive: Archive, tier: Tier, runs: Sequence[WorkflowRun], now: datetime) -> Mirrored | None:
    """The tier's newest reports that are those of `runs`. None where there is no mirror. Raises nothing."""
    if archive.mirror is None:
        return None
    reading = await asyncio.to_thread(_read, archive, archive.mirror, tier.number, now)
    vouched = {run.id: run for run in runs if not_from_the_schedule(run, tier.default_branch) is None}
    # Off the loop: who can write the bucket can make forty megabytes of it to parse.
    reports = await asyncio.to_thread(_believed, reading, vouched)
    skipped = dict(reading.refused)
    _log.debug("read the mirror", extra={"tier": tier.number, "believed": len(reports), "refused": skipped})
    if reading.fault is None:
        return Mirrored(reports, skipped)
    _log.warning("the mirror could not be read", extra={"tier": tier.number, "error": str(reading.fault)})
    return Mirrored(reports, skipped, reading.fault.public, reading.fault.retryable)


def mirror_shelf(archive: Archive, mirror: str, tier: int) -> Shelf:
    """Where a tier's reports of this mirror are kept."""
    place = hashlib.sha256(mirror.encode()).hexdigest()[:12]
    return Shelf(archive.folder / f"mirror-{place}" / f"tier{tier}")


def _read(archive: Archive, mirror: str, tier: int, now: datetime) -> _Reading:
    """The newest reports' texts, as many as the shelf holds; what was read before is not read again."""
    reading = _Reading()
    shelf = mirror_shelf(archive, mirror, tier)
    try:
        with opened(mirror, archive.patience) as bucket:
            for entry in bucket.entries(tier, now)[:MOST]:
                if (text := _text(bucket, entry, shelf)) is None:
                    reading.refused[NO_REPORT] += 1
                else:
                    reading.texts.append((entry, text))
    except Fault as fault:
        reading.fault = fault
    return reading


def _text(bucket: Bucket, entry: Entry, shelf: Shelf) -> str | None:
    text = shelf.get(entry.shelf_name)
    if text is None and 0 < entry.size <= LARGEST_REPORT and (text := bucket.text(entry)):
        shelf.put(entry.shelf_name, text)
    return text or None


def _believed(reading: _Reading, runs: Mapping[int, WorkflowRun]) -> tuple[Verified, ...]:
    return _first_of_each_run(_verified(reading, runs), reading.refused)


def _verified(reading: _Reading, runs: Mapping[int, WorkflowRun]) -> Iterable[Verified]:
    for entry, text in reading.texts:
        report = parse_report(text)
        if isinstance(report, BadReport):
            reading.refused[NO_REPORT] += 1
        elif (run := runs.get(_run_id(report))) is None:
            reading.refused[NO_SUCH_RUN] += 1
        elif not same_commit(run, report):
            reading.refused[OTHER_COMMIT] += 1
        else:
            yield Verified(entry, run, text, report)


def _run_id(report: PerfReport) -> int:
    """The run that the report names; 0, which no run has, where it names none."""
    said = report.workflow_run_id or ""
    return int(said) if said.isascii() and said.isdigit() and len(said) <= 20 else 0


def _first_of_each_run(found: Iterable[Verified], refused: Counter[str]) -> tuple[Verified, ...]:
    """An attempt that failed leaves a report too: what counts is the first that says it succeeded, if any does."""
    chosen: dict[int, Verified] = {}
    for one in found:
        other = chosen.get(one.run.id)
        if other is not None:
            refused[REPEATED] += 1
        if other is None or _rank(one) < _rank(other):
            chosen[one.run.id] = one
    return tuple(sorted(chosen.values(), key=lambda one: (one.entry.moment, one.entry.name), reverse=True))


def _rank(one: Verified) -> tuple[bool, datetime, int]:
    return one.report.status not in (None, _SUCCEEDED), one.entry.written, one.entry.generation
