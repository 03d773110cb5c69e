"""How numbers read in the verdict's sentences and in the comment's cells."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

# Beyond these powers of ten a number is written as 1.5E+300, so that one hostile literal cannot fill a comment.
_PLAIN_POWERS = range(-9, 16)
_WIDE = Context(prec=60)
_SHOWN = Context(prec=15)


def number(value: Decimal) -> str:
    """A value in plain decimals, at most 15 significant digits."""
    if not value:
        return "0"
    if value.adjusted() not in _PLAIN_POWERS:
        return f"{value:.2E}"
    text = f"{_SHOWN.plus(value):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(delta: Decimal, *limits: Decimal) -> str:
    """A fraction as a signed percentage with one decimal: "+2.8%", "-0.4%", "+0%" for exactly nothing.

    Where one decimal would show one of `limits` although the delta is not equal to it, as many decimals as tell them
    apart are shown: a delta a hair above +10% must not read "+10.0%".
    """
    if not delta:
        return "+0%"
    if delta.adjusted() > 12:
        return f"{delta.scaleb(2):+.2E}%"
    points = _WIDE.multiply(delta, Decimal(100))
    shown = points
    for decimals in range(1, 30):
        shown = points.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP, context=_WIDE)
        if shown == points or shown not in limits:
            break
    return f"{shown:+f}%"


def limit(value: Decimal) -> str:
    """A threshold in percent: "+10%"."""
    return f"+{number(value)}%"


def rough(fraction: float) -> str:
    """An estimated fraction, no finer than it is known: "+12%", "-3%", "+2.4%" below 10."""
    points = fraction * 100
    if abs(points) >= 1000:
        return f"{points:+.1e}%"
    return f"{points:+.0f}%" if abs(points) >= 10 else f"{points:+.1f}%"
