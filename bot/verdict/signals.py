"""The measured signals of a pair: the total, peak memory and every stage, each as a row, or "—" with the reason why.

A stage is not counted when it is cached in either report, 0 or missing on either side, or excluded; the total for the
same causes, and also where the two totals cannot hold the same work.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Final

import msgspec

from bot.config.schema import Band, Thresholds
from bot.verdict.arithmetic import Measured, delta, exceeds
from bot.verdict.model import Row
from bot.verdict.report import PerfReport, printable

MEMORY_FIELD: Final = "peak_worker_memory_mb"
TOTAL: Final = "total"
"""The name by which the total is excluded."""


class Signal(msgspec.Struct, frozen=True):
    """`field` is the report's path, `why_not` is empty when the row counts."""

    field: str
    row: Row
    band: Band
    why_not: str = ""

    @property
    def counts(self) -> bool:
        return not self.why_not


class Signals(msgspec.Struct, frozen=True):
    total: Signal
    memory: Signal
    stages: dict[str, Signal]

    @property
    def wall(self) -> tuple[Signal, ...]:
        """The total and the stages, those that count."""
        return tuple(signal for signal in (self.total, *self.stages.values()) if signal.counts)

    @property
    def compared_stages(self) -> list[Measured]:
        rows = (signal.row for signal in self.stages.values() if signal.counts)
        return [(row.baseline, row.treatment) for row in rows if row.baseline is not None and row.treatment is not None]

    @property
    def all(self) -> tuple[Signal, ...]:
        return (self.total, self.memory, *self.stages.values())


def measure(baseline: PerfReport, treatment: PerfReport, thresholds: Thresholds, excluded: Collection[str]) -> Signals:
    """All rows of a pair; stages in the baseline's order, then those only the treatment has."""
    names = dict.fromkeys([*baseline.stage_wall_seconds, *treatment.stage_wall_seconds])
    return Signals(
        total=_signal(
            "wall_seconds_total",
            baseline.wall_seconds_total,
            treatment.wall_seconds_total,
            thresholds.total,
            _total_cause(baseline, treatment, excluded),
        ),
        memory=_memory(baseline.peak_worker_memory_mb, treatment.peak_worker_memory_mb, thresholds.memory),
        stages={
            name: _signal(
                f"stage_wall_seconds.{printable(name)}",
                baseline.stage_wall_seconds.get(name),
                treatment.stage_wall_seconds.get(name),
                thresholds.stage,
                "excluded" if name in excluded else _cached_cause(name, baseline, treatment),
            )
            for name in names
        },
    )


def one_sided(baseline: PerfReport, treatment: PerfReport) -> tuple[list[str], list[str]]:
    """Stages present (and not null) only in the baseline, and only in the treatment."""
    ours = {name: None for name, seconds in baseline.stage_wall_seconds.items() if seconds is not None}
    theirs = {name: None for name, seconds in treatment.stage_wall_seconds.items() if seconds is not None}
    return [name for name in ours if name not in theirs], [name for name in theirs if name not in ours]


def known_names(baseline: PerfReport, treatment: PerfReport) -> set[str]:
    """Everything that `excluded` can name."""
    return {
        TOTAL,
        *baseline.stage_wall_seconds,
        *treatment.stage_wall_seconds,
        *baseline.cached_steps,
        *treatment.cached_steps,
    }


def listed(names: Iterable[str], most: int = 5) -> str:
    """Names out of a report for a sentence: quoted, shortened, at most five."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(printable(name) for name in every[:most]) + more


def _signal(field: str, baseline: Decimal | None, treatment: Decimal | None, band: Band, cause: str) -> Signal:
    """A wall-time row: 0 or missing on either side is not a measurement."""
    why_not = cause or _absence("baseline", baseline) or _absence("treatment", treatment)
    return Signal(field, _row(baseline, treatment, band, counts=not why_not), band, why_not)


def _memory(baseline: Decimal | None, treatment: Decimal | None, band: Band) -> Signal:
    """Memory counts from any measured baseline, also down to 0."""
    missing = "missing in the treatment" if treatment is None else ""
    why_not = _absence("baseline", baseline) or missing
    return Signal(MEMORY_FIELD, _row(baseline, treatment, band, counts=not why_not), band, why_not)


def _row(baseline: Decimal | None, treatment: Decimal | None, band: Band, *, counts: bool) -> Row:
    if not counts or baseline is None or treatment is None:
        return Row(baseline, treatment)
    change = delta(baseline, treatment)
    if exceeds(baseline, treatment, band.fail_percent):
        return Row(baseline, treatment, change, "fail")
    if exceeds(baseline, treatment, band.warn_percent):
        return Row(baseline, treatment, change, "warn")
    return Row(baseline, treatment, change, "pass")


def _absence(side: str, value: Decimal | None) -> str:
    if value is None:
        return f"missing in the {side}"
    return "" if value else f"0 in the {side}"


def _cached_cause(name: str, baseline: PerfReport, treatment: PerfReport) -> str:
    in_baseline, in_treatment = name in baseline.cached_steps, name in treatment.cached_steps
    if in_baseline and in_treatment:
        return "cached in both reports"
    if in_baseline or in_treatment:
        return f"cached in the {'baseline' if in_baseline else 'treatment'}"
    return ""


def _total_cause(baseline: PerfReport, treatment: PerfReport, excluded: Collection[str]) -> str:
    if TOTAL in excluded:
        return "excluded"
    if left_out := known_names(baseline, treatment).intersection(excluded):
        return f"holds the excluded {_stages(left_out)}"
    if cached := sorted(set(baseline.cached_steps) ^ set(treatment.cached_steps)):
        return f"holds the {_stages(cached)} cached in one report only"
    only_baseline, only_treatment = one_sided(baseline, treatment)
    if only_baseline:
        return f"the {_stages(only_baseline)} {'is' if len(only_baseline) == 1 else 'are'} only in the baseline"
    if only_treatment:
        return f"the {_stages(only_treatment)} {'is' if len(only_treatment) == 1 else 'are'} only in the treatment"
    return ""


def _stages(names: Collection[str]) -> str:
    return f"stage{'' if len(names) == 1 else 's'} {listed(sorted(names))}"
