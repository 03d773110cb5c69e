"""What every table of a repository's configuration is made of: no unknown keys, and values in their own forms."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer


class Strict(BaseModel):
    """Unknown keys are errors, values are frozen."""

    # Built when something is first read: a start does not wait for it.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# The exponent is of no person's: an earlier release stored durations of twelve days and more with one.
_DURATION = re.compile(r"(\d+(?:\.\d+)?(?:e\+\d{1,2})?)\s*([smhd])")
_ACCEPTED = 'a duration is a number and a unit: "90s", "10m", "2.5h" or "7d"'


class BeyondAllTime(ValueError, OverflowError):
    """A duration, but a longer one than Python knows: 2.7 million years."""


def parse_duration(value: Any) -> timedelta:
    """Read "90s", "10m", "2.5h" or "7d"; a timedelta passes through. Raises ValueError naming the accepted forms, and
    BeyondAllTime."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and (match := _DURATION.fullmatch(value.strip())):
        try:
            return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
        except OverflowError:
            raise BeyondAllTime(_ACCEPTED) from None
    raise ValueError(_ACCEPTED)


def format_duration(value: timedelta) -> str:
    """The inverse of `parse_duration`, in seconds: to the last microsecond, as what is stored is read again."""
    whole, _, part = f"{value.total_seconds():f}".partition(".")
    return f"{whole}.{part.rstrip('0')}".rstrip(".") + "s"


Duration = Annotated[timedelta, BeforeValidator(parse_duration), PlainSerializer(format_duration, return_type=str)]
Percent = Annotated[Decimal, Field(ge=0, le=100_000)]
# A name that goes into a URL path or a command line of ours: nothing that could be read as an option or a path upwards.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", max_length=100)]
