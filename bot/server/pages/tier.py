"""`/tiers/N`: the tier's scheduled runs, as far as any run of the gate was compared with them, signal by signal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from pydantic import ValidationError

from bot.comment.numbers import duration
from bot.config.load import builtin_config
from bot.config.schema import RepositoryConfig, Thresholds
from bot.gating.model import Baseline, Run
from bot.runs.reading import pull
from bot.server.pages.charts import Chart, Sample, Scale, chart
from bot.server.pages.reader import Moment
from bot.verdict.model import Noise, Reading
from bot.verdict.noise import FEWEST, read
from bot.verdict.past import PastRun, past_run
from bot.verdict.report import PerfReport, parse_report

_LOOKED_AT = 12
"""Runs whose histories are put together, the latest first; each holds up to 20 nights."""
_MOST_NIGHTS = 60
_MOST_SIGNALS = 80


class Signal(msgspec.Struct, frozen=True):
    """`now` is the last night's value, `usual` and `width` those of the band, `told` what the last night means."""

    name: str
    now: str
    usual: str
    width: str
    n: int
    told: str
    outcome: str
    chart: Chart


class Group(msgspec.Struct, frozen=True):
    title: str
    said: str
    signals: tuple[Signal, ...]


class Charts(msgspec.Struct, frozen=True):
    """Of one repository. `baseline` is the newest one that a run was compared with."""

    repository: str
    baseline: Baseline | None
    nights: int
    first: datetime | None
    last: datetime | None
    groups: tuple[Group, ...]
    fewest: int = FEWEST


class TierPage(msgspec.Struct, frozen=True):
    number: int
    name: str
    repositories: tuple[Charts, ...]
    hidden: bool
    now: datetime


def tier_page(moment: Moment, number: int, visible: Collection[str]) -> TierPage | None:
    """None where no such tier is known."""
    name = next((gate.name for key, gate in builtin_config().gates.items() if int(key) == number), "")
    keys: dict[str, list[str]] = {}
    hidden = False
    for key, pr in moment.outlines.items():
        if pr.place is None or pr.run is None or pr.run.gate_of(number) is None:
            continue
        name = pr.run.plan_of(number).name
        if pr.place.full_name in visible:
            keys.setdefault(pr.place.full_name, []).append(key)
        else:
            hidden = True
    if not name:
        return None
    found = tuple(_charts(moment, number, repository, some) for repository, some in sorted(keys.items()))
    return TierPage(number, name, found, hidden, moment.now)


def _charts(moment: Moment, number: int, repository: str, keys: Sequence[str]) -> Charts:
    runs = [pr.run for key in keys[:_LOOKED_AT] if (pr := pull(moment.tx, key)) is not None and pr.run is not None]
    nights = _nights(runs, number)
    baselines = [gate.baseline for run in runs if (gate := run.gate_of(number)) is not None and gate.baseline]
    thresholds = _thresholds(runs)
    noise = read(nights, nights[-1:], thresholds) if nights else Noise(0)
    addresses = {baseline.run_id: baseline.run_url for baseline in baselines}
    return Charts(
        repository=repository,
        baseline=max(baselines, key=lambda one: one.created_at, default=None),
        nights=len(nights),
        first=nights[0].at if nights else None,
        last=nights[-1].at if nights else None,
        groups=tuple(group for group in _groups(nights, noise, addresses) if group.signals),
    )


def _nights(runs: Sequence[Run], number: int) -> list[PastRun]:
    """Every scheduled run once, oldest first."""
    nights: dict[object, PastRun] = {}
    for run in reversed(runs):
        gate = run.gate_of(number)
        if gate is None:
            continue
        for night in gate.history:
            nights[night.workflow_run_id or (night.sha, night.at)] = night
        baseline = gate.baseline
        report = parse_report(baseline.report) if baseline is not None else None
        if baseline is not None and isinstance(report, PerfReport):
            made = past_run(report, baseline.created_at, workflow_run_id=baseline.run_id, sha=baseline.sha)
            if made is not None:
                nights.setdefault(baseline.run_id, made)
    return sorted(nights.values(), key=lambda night: night.at)[-_MOST_NIGHTS:]


def _thresholds(runs: Sequence[Run]) -> Thresholds:
    for run in runs:
        try:
            return RepositoryConfig.model_validate_json(run.config).thresholds
        except ValidationError:
            # Written by a release that knew other keys, or not read yet.
            continue
    return builtin_config().thresholds


def _groups(nights: Sequence[PastRun], noise: Noise, addresses: Mapping[int, str]) -> Iterator[Group]:
    whole = (
        _signal("total", [(night, night.total) for night in nights], noise.total, addresses, SECONDS),
        _signal("peak worker memory", [(night, night.memory) for night in nights], noise.memory, addresses, _MEMORY),
    )
    yield Group("The whole run", "Wall time from start to end, and the largest worker.", _present(whole))
    said = "Wall time of each stage. Its band is the stage's own noise; what all stages share is judged by the total."
    yield Group("Stages", said, _family(nights, "stages", noise.stages, addresses))
    said = "Summed wall time of a stage's tasks: waiting and scheduling hardly touch it, so its band is the narrowest."
    yield Group("Work", said, _family(nights, "work", noise.work, addresses))


def _family(
    nights: Sequence[PastRun], field: str, readings: Mapping[str, Reading], addresses: Mapping[int, str]
) -> tuple[Signal, ...]:
    names = list(dict.fromkeys(name for night in reversed(nights) for name in getattr(night, field)))[:_MOST_SIGNALS]
    made = []
    for name in names:
        measured = [(night, getattr(night, field).get(name)) for night in nights]
        made.append(_signal(name, measured, readings.get(name), addresses, SECONDS))
    return _present(made)


def _present(signals: Sequence[Signal | None]) -> tuple[Signal, ...]:
    return tuple(signal for signal in signals if signal is not None)


def _signal(
    name: str,
    measured: Sequence[tuple[PastRun, float | None]],
    reading: Reading | None,
    addresses: Mapping[int, str],
    scale: Scale,
) -> Signal | None:
    samples = [Sample(night.at, value, addresses.get(night.workflow_run_id, "")) for night, value in measured if value]
    if not samples:
        return None
    return Signal(
        name=name,
        now=scale.word(samples[-1].value),
        usual=scale.word(reading.usual) if reading else "",
        width=_width(reading) if reading else "",
        n=reading.n if reading else len(samples),
        told=_meaning(reading) if reading else "",
        outcome=reading.outcome if reading else "",
        chart=chart(samples, reading, scale),
    )


def _width(reading: Reading) -> str:
    """No finer than it is known."""
    points = 100 * reading.width
    return f"±{points:.0f} %" if points >= 9.95 else f"±{points:.1f} %"


def _meaning(reading: Reading) -> str:
    if reading.outcome == "inside":
        return "the last run is inside"
    return f"the last run is {reading.times:.1f} × beyond, {reading.outcome}"


def _short(seconds: float) -> str:
    """`45s`, `12m`, `12m 30s`, `3h`, `3h 20m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s" if rest else f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if minutes else f"{hours}h"


def _megabytes(value: float) -> str:
    return f"{value / 1000:.1f} GB" if value >= 1000 else f"{value:.0f} MB"


_ROUND_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 18_000, 36_000, 72_000, 180_000)
SECONDS = Scale(duration, _short, _ROUND_SECONDS)
_MEMORY = Scale(_megabytes, _megabytes, tuple(float(digit * 10**power) for power in range(7) for digit in (1, 2, 5)))
