"""The little statistics that a handful of earlier reports allows: Student's t, and variances that learn of each other.

Written out because nothing else of the bot needs a numerical library, and these two are a page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean

# Stages of one tier are alike, but five of them cannot prove it: no more is learned from the others than this many
# reports' worth.
_MOST_PRIOR = 16.0


def upper_tail(t: float, df: int) -> float:
    """P(T > t) of Student's t with a whole number of degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    if t < 0:
        return 1 - upper_tail(-t, df)
    theta = math.atan2(t, math.sqrt(df))
    cosine, sine = math.cos(theta), math.sin(theta)
    term = cosine if df % 2 else 1.0
    series = term if df > 1 else 0.0
    for k in range(3 if df % 2 else 2, df - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        series += term
    inside = 2 / math.pi * (theta + sine * series) if df % 2 else sine * series
    return min(1.0, max(0.0, (1 - inside) / 2))


@lru_cache(maxsize=65_536)
def quantile(alpha: float, df: int) -> float:
    """The t that is exceeded with probability `alpha` (0 < alpha ≤ 0.5)."""
    low, high = 0.0, 2.0
    while upper_tail(high, df) > alpha and high < 1e9:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, df) > alpha else (low, middle)
    return high


def variance(values: Sequence[float]) -> float:
    """The sample variance of at least 2 values, in floats: the exact one of `statistics` is far slower."""
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def sharpened(samples: Sequence[Sequence[float]]) -> list[tuple[float, int]]:
    """(variance, degrees of freedom) of each sample, drawn towards the others' as far as they look alike.

    Empirical Bayes after Smyth (2004), as in limma: how much more the logarithms of the variances scatter than chance
    alone would make them says how much one stage's noise tells of another's. Each sample has at least 2 values.
    """
    own = [(variance(sample), len(sample) - 1) for sample in samples]
    informative = [(spread, df) for spread, df in own if spread > 0]
    if len(informative) < 3:
        return own
    logs = [math.log(spread) - _digamma(df / 2) + math.log(df / 2) for spread, df in informative]
    excess = variance(logs) - fmean(_trigamma(df / 2) for _, df in informative)
    prior = min(_MOST_PRIOR, 2 * _inverse_trigamma(excess)) if excess > 0 else _MOST_PRIOR
    typical = math.exp(fmean(logs) + _digamma(prior / 2) - math.log(prior / 2))
    return [((prior * typical + df * spread) / (prior + df), int(prior + df)) for spread, df in own]


def _digamma(x: float) -> float:
    shift = 0.0
    while x < 8:
        shift -= 1 / x
        x += 1
    inverse = 1 / (x * x)
    return shift + math.log(x) - 1 / (2 * x) - inverse * (1 / 12 - inverse * (1 / 120 - inverse / 252))


def _trigamma(x: float) -> float:
    shift = 0.0
    while x < 8:
        shift += 1 / (x * x)
        x += 1
    inverse = 1 / (x * x)
    return shift + 1 / x + inverse / 2 + inverse / x * (1 / 6 - inverse * (1 / 30 - inverse / 42))


def _inverse_trigamma(value: float) -> float:
    """The x with trigamma(x) = value; trigamma falls, so halving finds it. Between 0.01 and 1e6."""
    low, high = 1e-2, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return high
