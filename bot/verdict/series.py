"""One signal's logarithms over the tier's runs: what is left out of them, and what all stages of a run share.

All values are natural logarithms of seconds (or MB), oldest first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median

import msgspec

from bot.verdict.distribution import variance

_MAD_TO_SD = 1.4826
# Beyond so many robust standard deviations a night is no sample of the noise; a step of the level is no chance.
_ASTRAY = 6.0
_STEP = 6.0
_FEWEST_TO_TELL = 8
_FEWEST_BESIDE_A_STEP = 3
# The shared part is taken out where that leaves clearly less noise: stages that share nothing would only lend theirs.
_WORTHWHILE = 0.8

Runs = Sequence[Mapping[str, float]]


class Series(msgspec.Struct, frozen=True):
    """`past` and `now` as they are to be compared, `level` the usual value before anything was taken out.

    `shared` is what all other stages of the treatment did together, where it was taken out; `skipped` counts the
    reports that were left out.
    """

    past: tuple[float, ...]
    now: tuple[float, ...]
    level: float
    shared: float | None = None
    skipped: int = 0


def alone(past: Runs, now: Runs, name: str) -> Series | None:
    """A signal by itself; None where the treatment lacks it or history has fewer than 2."""
    having, theirs = [run for run in past if name in run], [math.log(run[name]) for run in now if name in run]
    kept = settled([math.log(run[name]) for run in having])
    if not theirs or len(kept) < 2:
        return None
    ours = tuple(math.log(having[index][name]) for index in kept)
    return Series(ours, tuple(theirs), fmean(ours), None, len(having) - len(kept))


def alongside(past: Runs, now: Runs, name: str) -> Series | None:
    """A stage with what it shares with the run's other stages taken out, or alone where that makes it no quieter."""
    by_itself = alone(past, now, name)
    if by_itself is None or len(by_itself.past) < _FEWEST_BESIDE_A_STEP:
        return by_itself
    having = [run for run in past if name in run]
    having = [having[index] for index in settled([math.log(run[name]) for run in having])]
    others = {other for run in having for other in run}
    levels = {other: fmean([math.log(run[other]) for run in having if other in run]) for other in others}
    ours = [_without_shared(run, name, levels) for run in having]
    theirs = [_without_shared(run, name, levels) for run in now if name in run]
    left, taken = [value for value, _ in ours if value is not None], [value for value, _ in theirs if value is not None]
    if len(left) < len(ours) or len(taken) < len(theirs) or variance(left) >= _WORTHWHILE**2 * variance(by_itself.past):
        return by_itself
    usual = fmean(left)
    apart = [_excused(raw - by_itself.level, own - usual) for raw, own in zip(by_itself.now, taken, strict=True)]
    shared = fmean(by_itself.now) - by_itself.level - fmean(apart)
    return Series(tuple(left), tuple(usual + own for own in apart), by_itself.level, shared, by_itself.skipped)


def _excused(raw: float, own: float) -> float:
    """How far a stage is off its usual, given how far with and without what the others share.

    The others excuse, they never accuse: where a change made them faster, a stage that stayed as it was would look
    slower beside them, and where one of few became slow, the rest faster.
    """
    if raw * own <= 0:
        return 0.0
    return min(raw, own, key=abs)


def _without_shared(run: Mapping[str, float], name: str, levels: Mapping[str, float]) -> tuple[float | None, float]:
    """The stage's logarithm less the median of what the run's other stages were off their levels, and that median."""
    others = [math.log(value) - levels[other] for other, value in run.items() if other != name and other in levels]
    if len(others) < 2:
        return None, 0.0
    common = median(others)
    return math.log(run[name]) - common, common


def settled(values: Sequence[float]) -> list[int]:
    """Which values tell the usual level: those since its last lasting step, without those astray."""
    recent = list(range(_last_step(values), len(values)))
    if len(recent) >= _FEWEST_TO_TELL:
        middle = median(values[index] for index in recent)
        spread = _MAD_TO_SD * median(abs(values[index] - middle) for index in recent)
        if spread > 0:
            recent = [index for index in recent if abs(values[index] - middle) <= _ASTRAY * spread]
    return recent


def _last_step(values: Sequence[float]) -> int:
    """Where the level last changed for good, 0 if it did not: a new machine type, or a change that main lives with.

    The noise is told by neighbours, which a step touches once; a step must stand out six times from it.
    """
    last = 0
    while step := _step(values[last:]):
        last += step
    return last


def _step(values: Sequence[float]) -> int:
    """Where the two levels lie that leave the least of the values unexplained, 0 if they are not apart.

    Medians and absolute deviations, so that one night that went astray is no step. How far the levels are apart does
    not tell where: between halves of one size they seem surest, however many old nights the newer half holds.
    """
    if len(values) < _FEWEST_TO_TELL:
        return 0
    noise = _MAD_TO_SD * median(abs(after - before) for before, after in pairwise(values)) / math.sqrt(2)
    if noise <= 0:
        return 0
    places = range(_FEWEST_BESIDE_A_STEP, len(values) - _FEWEST_BESIDE_A_STEP + 1)
    where = min(places, key=lambda split: _unexplained(values[:split]) + _unexplained(values[split:]))
    before, after = values[:where], values[where:]
    apart = abs(median(after) - median(before)) / (noise * math.sqrt(1 / len(before) + 1 / len(after)))
    return where if apart > _STEP else 0


def _unexplained(values: Sequence[float]) -> float:
    level = median(values)
    return math.fsum(abs(value - level) for value in values)
