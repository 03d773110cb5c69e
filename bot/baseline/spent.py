"""What a tier's ferry usually takes, by the scheduled reports that were read before: nothing is asked of anybody."""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import median

import msgspec

from bot.baseline.history import history_shelf
from bot.baseline.mirror import mirror_shelf
from bot.baseline.model import Archive
from bot.verdict.past import past_run
from bot.verdict.report import PerfReport, parse_report

# A week of a daily tier: recent enough to say what it takes now.
_MOST = 7
_EPOCH = datetime.fromtimestamp(0, UTC)


class Spent(msgspec.Struct, frozen=True):
    """The median total of `runs` recent scheduled runs, in seconds."""

    seconds: float
    runs: int


def usually_spent(archive: Archive, full_name: str, workflow: str, tier: int) -> Spent | None:
    """By the workflow's artifacts, else by the mirror's copies; None where no report with a total is at hand."""
    shelves = [history_shelf(archive, full_name, workflow)]
    if archive.mirror is not None:
        shelves.append(mirror_shelf(archive, archive.mirror, tier))
    for shelf in shelves:
        totals = [total for text in shelf.newest(_MOST) if (total := _total(text)) is not None]
        if totals:
            return Spent(median(totals), len(totals))
    return None


def _total(text: str) -> float | None:
    report = parse_report(text)
    past = past_run(report, _EPOCH) if isinstance(report, PerfReport) else None
    return past.total if past is not None else None
