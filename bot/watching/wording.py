"""Spans and counts, as sentences about a ferry have them."""

from __future__ import annotations

from datetime import timedelta


def span(length: timedelta) -> str:
    """`42 s`, `12 min`, `2 h 5 min`: rounded to what matters at that length."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
