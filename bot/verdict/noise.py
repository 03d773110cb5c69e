"""What a delta is worth: each signal of a treatment against the noise of the tier's last scheduled runs.

**The model.** The logarithm of what a run measured is the stage's usual level, plus a part that all stages of the run
share (the cluster's day), plus a part of the stage's own. The usual level and both spreads come from up to 20 scheduled
reports, the pinned baseline among them. A treatment is compared with that level, not with the one baseline: a
single run carries the whole noise itself, so that the difference of two is √2 times as wide as it need be.

**The band.** A stage's own part is judged with the shared part taken out (the median of what the other stages did, so
that one slow stage cannot hide in it), where history shows that there is one; the shared part is judged by the total.
Where the total cannot be judged nothing is taken out: a slowdown of every stage would be nobody's.
Few samples make the band wide through Student's t; stages learn of each other's spread as far as they look alike
(`distribution.sharpened`). The error allowed for testing many signals at once, 5 % for the whole comparison, is divided
among them, most of it where most can be learned: the work signal, the summed wall time of a stage's tasks, which
waiting and scheduling hardly touch. A stage so quiet that a hard fail is seen without its share leaves the rest of it
to the louder ones, but for that no band grows beyond what chance does once in 2,000. History before a lasting step of
the level is left out, and so is a night that went astray.

**Why not what others do.** rustc-perf calls a change significant beyond Q3 + 3·IQR of neighbouring deltas: robust, but
it needs a hundred of them, has no notion of the part that all stages share, and a false-alarm rate that nobody
chose. conbench's z against a look-back window takes the normal distribution's word for a dozen samples and tests every
series as if it were the only one: with six signals at z = 5 % a quarter of identical code alarms. Pinpoint's
three outcomes (same, different, unknown) need repeats of both sides, which cost hours of a cluster here; its "unknown"
is kept: a signal with too little history has no band, and the comparison says which change it could have seen at all.
`python -m bench.verdict` measures all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from bot.config.schema import Band, Thresholds
from bot.verdict.distribution import quantile, sharpened, upper_tail
from bot.verdict.model import Noise, Reading
from bot.verdict.past import PastRun
from bot.verdict.series import Runs, Series, alone, alongside

FEWEST = 5
"""Reports below which a band would be wider than any change anybody asks about."""
MOST = 20
MOST_STAGES = 200
"""Beyond these no pipeline wrote the report, and what stages share would cost their square."""

# The error allowed for one whole comparison, by family; see `python -m bench.verdict`.
_MEMORY = 0.004
_WORK = 0.034
_WALL_BESIDE_WORK = 0.006
_WALL_ALONE = 0.025

# A spread below this is a measurement that was too coarse, not a signal without noise.
_LEAST_SD = 0.005
# Chance so small that a wider limit buys nothing for the other signals, and costs the quiet ones what they could show.
_REMOTE = 0.0005
# Seen nine times in ten: the normal distribution's 90 % point.
_NINE_IN_TEN = 1.2816


def read(
    history: Sequence[PastRun],
    treatments: Sequence[PastRun],
    thresholds: Thresholds,
) -> Noise:
    """The readings of every signal that `treatments` (repeats of one head) have and history can say something about.

    `history` is oldest first and holds the baseline. A change matters from the signal's warn limit; the search is set
    to find one of its fail limit.
    """
    kept = list(history)[-MOST:]
    walls = _WALL_BESIDE_WORK if _have_work(kept, treatments) else _WALL_ALONE
    totals = [run.total for run in kept], [run.total for run in treatments]
    total = _single(*totals, walls / 2, _aims(thresholds.total))
    # The total answers for what all stages share. Without it each stage has to, and may spend its error too.
    series_of, for_stages = (alongside, walls / 2) if total is not None else (alone, walls)
    stages = _aims(thresholds.stage)
    return Noise(
        n=len(kept),
        total=total,
        memory=_single(
            [run.memory for run in kept], [run.memory for run in treatments], _MEMORY, _aims(thresholds.memory)
        ),
        stages=_family([run.stages for run in kept], [run.stages for run in treatments], for_stages, stages, series_of),
        work=_family([run.work for run in kept], [run.work for run in treatments], _WORK, stages, series_of),
    )


def _have_work(history: Sequence[PastRun], treatments: Sequence[PastRun]) -> bool:
    """Can the work of any stage be read?"""
    names = {name for run in treatments for name in run.work}
    return any(sum(name in run.work for run in history) >= FEWEST for name in names)


def _aims(band: Band) -> tuple[float, float]:
    """From where a change matters, and the change that is to be found, in logarithms."""
    return math.log1p(float(band.warn_percent) / 100), math.log1p(float(band.fail_percent) / 100)


def _single(
    past: Sequence[float | None], now: Sequence[float | None], error: float, aims: tuple[float, float]
) -> Reading | None:
    series = alone(
        [{"": value} if value else {} for value in past], [{"": value} if value else {} for value in now], ""
    )
    return _readings({"": series}, error, aims).get("") if series is not None else None


def _family(
    past: Sequence[Mapping[str, float]],
    now: Sequence[Mapping[str, float]],
    error: float,
    aims: tuple[float, float],
    series_of: Callable[[Runs, Runs, str], Series | None],
) -> dict[str, Reading]:
    known = {name for run in past for name in run}
    names = [name for name in dict.fromkeys(name for run in now for name in run) if name in known]
    if len(known) > MOST_STAGES:
        return {}
    found = {name: series_of(past, now, name) for name in names}
    return _readings({name: series for name, series in found.items() if series is not None}, error, aims)


def _readings(found: Mapping[str, Series], error: float, aims: tuple[float, float]) -> dict[str, Reading]:
    told = {name: series for name, series in found.items() if len(series.past) >= FEWEST}
    if not told:
        return {}
    spreads = sharpened([series.past for series in told.values()])
    errors = [
        (max(math.sqrt(variance), _LEAST_SD) * math.sqrt(1 / len(series.past) + 1 / len(series.now)), df)
        for (variance, df), series in zip(spreads, told.values(), strict=True)
    ]
    limits = _limits(errors, error, aims)
    return {
        name: _reading(series, limit, deviation)
        for (name, series), limit, (deviation, _) in zip(told.items(), limits, errors, strict=True)
    }


def _reading(series: Series, limit: float, deviation: float) -> Reading:
    change = fmean(series.now) - fmean(series.past)
    return Reading(
        n=len(series.past),
        change=math.expm1(_bounded(change)),
        width=math.expm1(_bounded(limit)),
        visible=math.expm1(_bounded(limit + _NINE_IN_TEN * deviation)),
        times=abs(change) / limit,
        outcome="inside" if abs(change) <= limit else "slower" if change > 0 else "faster",
        usual=math.exp(series.level),
        shared=math.expm1(_bounded(series.shared)) if series.shared is not None else None,
        skipped=series.skipped,
    )


def _bounded(value: float) -> float:
    """So that no literal out of a report can overflow."""
    return max(-50.0, min(50.0, value))


def _limits(errors: Sequence[tuple[float, int]], allowed: float, aims: tuple[float, float]) -> list[float]:
    """How far each signal must be off to count, in logarithms, so that any of them is by chance with `allowed`.

    Equal shares first. A signal whose share would find less than matters, or a hard fail with far more than
    certainty, takes a wider limit, and what it does not use goes to the others.
    """
    matters, aim = aims

    def at(share: float) -> list[float]:
        # Two deviations below the aim it is found 49 times in 50.
        return [
            max(quantile(share, df) * sd, min(aim - 2 * sd, quantile(_REMOTE, df) * sd), matters) for sd, df in errors
        ]

    low, high = allowed / len(errors), allowed
    for _ in range(12):
        middle = (low + high) / 2
        used = sum(upper_tail(limit / sd, df) for limit, (sd, df) in zip(at(middle), errors, strict=True))
        low, high = (middle, high) if used <= allowed else (low, middle)
    return at(low)
