"""Exact comparisons of decimal numbers: limits are tested by multiplying, so no division is rounded on a boundary.

`EXACT` never rounds: a sum or product grows only as long as the literals it came from, because `report` accepts no
exponent far from 0 (1e999999999 + 1 would need a gigabyte). It must not divide: that would fill its precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import cmp_to_key

EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_ROUNDED = Context(prec=28, Emax=MAX_EMAX, Emin=MIN_EMIN)
_HUNDRED = Decimal(100)

Measured = tuple[Decimal, Decimal]
"""(baseline, treatment), the baseline above 0."""


def delta(baseline: Decimal, treatment: Decimal) -> Decimal:
    """(treatment − baseline) / baseline to 28 significant digits, no trailing zeros. For showing, not for deciding."""
    change = _ROUNDED.divide(EXACT.subtract(treatment, baseline), baseline).normalize(_ROUNDED)
    # 1E+1 is written 10 wherever that fits.
    is_short_integer = change.adjusted() < _ROUNDED.prec and change == change.to_integral_value()
    return change.quantize(Decimal(1), context=_ROUNDED) if is_short_integer else change


def exceeds(baseline: Decimal, treatment: Decimal, percent: Decimal) -> bool:
    """Whether Δ > percent: treatment × 100 > baseline × (100 + percent)."""
    return EXACT.multiply(treatment, _HUNDRED) > EXACT.multiply(baseline, EXACT.add(_HUNDRED, percent))


def apart(baseline: Decimal, treatment: Decimal, percent: Decimal) -> bool:
    """Whether |Δ| > percent; from 0, anything above 0 is."""
    change = EXACT.subtract(treatment, baseline).copy_abs()
    return EXACT.multiply(change, _HUNDRED) > EXACT.multiply(baseline, percent)


def extremes(pairs: Sequence[Measured]) -> tuple[Measured, Measured]:
    """The pairs with the least and the greatest Δ, found without dividing."""

    def compare(a: Measured, b: Measured) -> int:
        # t_a / b_a against t_b / b_b
        return int(EXACT.multiply(a[1], b[0]).compare(EXACT.multiply(b[1], a[0]), EXACT))

    return min(pairs, key=cmp_to_key(compare)), max(pairs, key=cmp_to_key(compare))


def spread_within(least: Measured, greatest: Measured, points: Decimal) -> bool:
    """Whether Δ(greatest) − Δ(least) ≤ points percent, multiplied out by both baselines."""
    (low_base, low), (high_base, high) = least, greatest
    difference = EXACT.subtract(EXACT.multiply(high, low_base), EXACT.multiply(low, high_base))
    limit = EXACT.multiply(points, EXACT.multiply(low_base, high_base))
    return EXACT.multiply(difference, _HUNDRED) <= limit


def total_of(values: Iterable[Decimal | None]) -> Decimal:
    """The sum, missing values being 0."""
    result = Decimal(0)
    for value in values:
        if value is not None:
            result = EXACT.add(result, value)
    return result
