"""Spans and counts, as sentences about a ferry have them."""

from __future__ import annotations

from datetime import datetime, timedelta


def span(length: timedelta) -> str:
    """`42 s`, `12 min`, `2 h 5 min`: rounded to what matters at that length."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def exact(seconds: float) -> str:
    """`16m 30s`, as the comment's tables have it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}h {minutes % 60:02d}m {rest:02d}s" if minutes >= 60 else f"{minutes}m {rest:02d}s"


def clock(when: datetime) -> str:
    """`08:23 UTC`; evidence is not written anew at every look, so it tells times and not how long ago they are."""
    return when.strftime("%H:%M UTC")


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
