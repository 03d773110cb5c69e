"""Spans of time, as replies say them."""

from __future__ import annotations


def minutes(seconds: float) -> str:
    whole = round(seconds / 60)
    hours, rest = divmod(whole, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"
