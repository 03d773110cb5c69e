"""Durations, ages and marks as the comment's cells show them."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from bot.verdict.model import Row
from bot.verdict.wording import number, percent

NOTHING = "—"
_MARKS = {"pass": "✅", "warn": "⚠", "fail": "❌"}
# Durations from here on are no durations; they are shown as numbers.
_ABSURD_SECONDS = Decimal(10**9)


def duration(seconds: Decimal | float | None) -> str:
    """`31m 12s`, `12s`, `1h 07m 12s`; whole seconds, halves up."""
    if seconds is None:
        return NOTHING
    exact = seconds if isinstance(seconds, Decimal) else Decimal(str(seconds))
    if exact >= _ABSURD_SECONDS:
        return f"{number(exact)}s"
    if 0 < exact < Decimal("0.5"):
        return "<1s"
    whole = int(exact.to_integral_value(ROUND_HALF_UP))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02d}m {rest:02d}s"
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def about(span: timedelta) -> str:
    """A rough span for a sentence: `3 d`, `2 h 5 min`, `12 min`."""
    minutes = max(0, int(span.total_seconds() // 60))
    if minutes >= 2 * 24 * 60:
        return f"{minutes // (24 * 60)} d"
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def age_in_days(then: datetime, now: datetime) -> str:
    """Whole days, as in `age=3d`."""
    return f"{max(0, (now - then).days)}d"


def count(value: Decimal | None) -> str:
    """A counter; one that the report lacks counts as 0 and is shown so."""
    return "0" if value is None else number(value)


def measured(value: Decimal | None) -> str:
    """A measurement of what is never 0, "—" where there is none."""
    return number(value) if value else NOTHING


def change(row: Row, *limits: Decimal) -> str:
    """The Δ cell."""
    return NOTHING if row.delta is None else percent(row.delta, *limits)


def mark(row: Row) -> str:
    """The verdict cell: ✅, ⚠, ❌, or "—" for what does not count."""
    return _MARKS.get(row.verdict, NOTHING)
