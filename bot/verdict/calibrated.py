"""The verdict by the tier's own noise: which signals stand out of it, and by enough to matter.

Counts, churn, mismatches and the order of the rules are the table's. Only what the table says of durations and memory
is replaced: a signal counts when its change is beyond the band that chance explains and its size is beyond the table's
warn or fail limit, taken from the usual value instead of the one baseline. A signal with too little history for a band
is judged by the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from bot.config.schema import Band, Thresholds
from bot.verdict.model import Finding, Noise, Reading, RowVerdict
from bot.verdict.noise import FEWEST, read
from bot.verdict.past import PastRun, numbers, samples
from bot.verdict.report import PerfReport, printable
from bot.verdict.rules import (
    RULES,
    Find,
    Pair,
    Rule,
    beyond_fail,
    beyond_warn,
    contention,
    crossed,
    more_failures,
)
from bot.verdict.signals import MEMORY_FIELD, Signal, Signals
from bot.verdict.wording import limit, rough

_WORST_FIRST: Final[tuple[RowVerdict, ...]] = ("fail", "warn", "pass")
_UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)


def readings(
    baseline: PerfReport,
    treatments: Sequence[PerfReport],
    signals: Signals,
    thresholds: Thresholds,
    history: Sequence[PastRun],
) -> Noise:
    """What the noise says of every signal that counts in the table, and of the work of the stages that do."""
    counting = {name for name, signal in signals.stages.items() if signal.counts}
    counted = [
        replace(
            theirs,
            total=theirs.total if signals.total.counts else None,
            memory=theirs.memory if signals.memory.counts else None,
            stages={name: value for name, value in theirs.stages.items() if name in counting},
            work={name: value for name, value in theirs.work.items() if name in counting},
        )
        for theirs in (numbers(report, _UNKNOWN_TIME) for report in treatments)
    ]
    return read(samples(history, baseline, treatments), counted, thresholds)


def known(noise: Noise | None) -> bool:
    """Is there history enough for any wall time?"""
    return noise is not None and noise.n >= FEWEST and bool(noise.total or noise.stages)


def stands_out(pair: Pair, verdict: RowVerdict) -> list[Finding]:
    """The signals beyond their band whose change is of the class `verdict`; the table's word for those without one."""
    noise, thresholds = pair.noise or Noise(0), pair.thresholds
    found = crossed(_without_band(pair.signals, noise), verdict)
    named = [
        ("wall_seconds_total", "s", noise.total, thresholds.total),
        (MEMORY_FIELD, "MB", noise.memory, thresholds.memory),
        *((_wall(name), "s", reading, thresholds.stage) for name, reading in noise.stages.items()),
        *((_work(name), "s", reading, thresholds.stage) for name, reading in noise.work.items()),
    ]
    return found + [
        _finding(field, unit, reading, band)
        for field, unit, reading, band in named
        if reading is not None and _class(reading, band) == verdict
    ]


def by_their_noise(signals: Signals, noise: Noise, thresholds: Thresholds) -> Signals:
    """The rows with the verdicts of their readings; a stage's is the worse one of its wall time's and its work's.

    The table's word stands for what has no reading, as in `stands_out`: a row is never milder than the findings.
    """

    def read_as(signal: Signal, band: Band, own: Reading | None, work: Reading | None = None) -> Signal:
        if not signal.counts:
            return signal
        told = [_class(own, band) if own is not None else signal.row.verdict]
        told += [_class(work, band)] if work is not None else []
        worst = next(verdict for verdict in _WORST_FIRST if verdict in told)
        return replace(signal, row=replace(signal.row, verdict=worst))

    return Signals(
        total=read_as(signals.total, thresholds.total, noise.total),
        memory=read_as(signals.memory, thresholds.memory, noise.memory),
        stages={
            name: read_as(signal, thresholds.stage, noise.stages.get(name), noise.work.get(name))
            for name, signal in signals.stages.items()
        },
    )


def _class(reading: Reading, band: Band) -> RowVerdict:
    if reading.outcome != "slower" or reading.change * 100 <= float(band.warn_percent):
        return "pass"
    return "fail" if reading.change * 100 > float(band.fail_percent) else "warn"


def _finding(field: str, unit: str, reading: Reading, band: Band) -> Finding:
    beyond = rough(reading.width)
    usual = _estimated(reading.usual)
    measured = _estimated(reading.usual * (1 + reading.change) * (1 + (reading.shared or 0)))
    apart = "" if reading.shared is None else f", after the {rough(reading.shared)} that all stages share"
    said = (
        f"{field} is {measured} {unit}, usually {usual} {unit}: {rough(reading.change)}{apart},"
        f" {reading.times:.1f} times its noise of ±{beyond.lstrip('+')} (n = {reading.n})."
    )
    worst = band.fail_percent if _class(reading, band) == "fail" else band.warn_percent
    return Finding(field, said, usual, measured, f"±{beyond.lstrip('+')} and {limit(worst)}")


def _estimated(value: float) -> Decimal:
    """A value of seconds or MB, to a tenth, or to three digits where that would leave fewer."""
    return Decimal(f"{value:.1f}") if value >= 10 else Decimal(f"{Decimal(f'{value:.3g}'):f}")


def _without_band(signals: Signals, noise: Noise) -> list[Signal]:
    singles = ((signals.total, noise.total), (signals.memory, noise.memory))
    unread = [signal for signal, reading in singles if reading is None]
    return unread + [signal for name, signal in signals.stages.items() if name not in noise.stages]


def _wall(stage: str) -> str:
    return f"stage_wall_seconds.{printable(stage)}"


def _work(stage: str) -> str:
    return f"stage_sum_task_wall_seconds.{printable(stage)}"


def _calibrated_fail(pair: Pair) -> list[Finding]:
    return [*stands_out(pair, "fail"), *more_failures(pair)]


def _calibrated_warn(pair: Pair) -> list[Finding]:
    return stands_out(pair, "warn")


_REPLACED: dict[Find, Find] = {beyond_fail: _calibrated_fail, beyond_warn: _calibrated_warn}

# Contention is the table's way to doubt its own warns; the noise has already answered that.
CALIBRATED: Final = tuple(
    Rule(rule.name, rule.verdict, _REPLACED.get(rule.find, rule.find)) for rule in RULES if rule.find is not contention
)
