"""One signal's history as a line over its noise band: where everything lies on a small picture, for the template.

The picture is WIDTH by HEIGHT units and is shown at about its own size, so that its words stay readable on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from bot.verdict.model import Reading

WIDTH, HEIGHT = 340.0, 150.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 10.0, 10.0, 24.0
_AIR = 0.12


class Point(msgspec.Struct, frozen=True):
    """`out`: beyond the band, which the picture also tells by the point's shape."""

    x: float
    y: float
    at: datetime
    value: str
    out: bool
    address: str = ""


class Tick(msgspec.Struct, frozen=True):
    at: float
    word: str


class Chart(msgspec.Struct, frozen=True):
    """`band` is (top, height) in units, None without one; `usual` the height of the usual value."""

    points: tuple[Point, ...]
    path: str
    band: tuple[float, float] | None
    usual: float | None
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]


class Sample(msgspec.Struct, frozen=True):
    at: datetime
    value: float
    address: str = ""


class Scale(msgspec.Struct, frozen=True):
    """How values of a signal are said, in full and beside an axis, and which distances are round ones, growing."""

    word: Callable[[float], str]
    short: Callable[[float], str]
    steps: tuple[float, ...]


def chart(samples: Sequence[Sample], reading: Reading | None, scale: Scale) -> Chart:
    """`samples` oldest first, at least one. Runs stand at equal distances, whatever nights lack."""
    values = [sample.value for sample in samples]
    low, high = min(values), max(values)
    edges = band(reading)
    if edges is not None:
        low, high = min(low, edges[0]), max(high, edges[1])
    room = (high - low) * _AIR or high * _AIR or 1.0
    bottom, top = max(0.0, low - room), high + room

    def y(value: float) -> float:
        return round(TOP + (top - value) / (top - bottom) * (HEIGHT - TOP - BOTTOM), 1)

    def x(index: int) -> float:
        inner = WIDTH - LEFT - RIGHT
        return round(LEFT + (inner * index / (len(samples) - 1) if len(samples) > 1 else inner / 2), 1)

    points = tuple(
        Point(
            x(index),
            y(one.value),
            one.at,
            scale.word(one.value),
            edges is not None and not edges[0] <= one.value <= edges[1],
            one.address,
        )
        for index, one in enumerate(samples)
    )
    return Chart(
        points=points,
        path=" ".join(f"{'M' if index == 0 else 'L'}{point.x} {point.y}" for index, point in enumerate(points)),
        band=None if edges is None else (y(edges[1]), round(y(edges[0]) - y(edges[1]), 1)),
        usual=None if reading is None else y(reading.usual),
        y_ticks=tuple(Tick(y(value), scale.short(value)) for value in _round_values(bottom, top, scale.steps)),
        x_ticks=tuple(_dates(samples, x)),
    )


def band(reading: Reading | None) -> tuple[float, float] | None:
    """What unchanged code does by chance: as far below its usual value, by factor, as above."""
    if reading is None:
        return None
    factor = 1 + reading.width
    return reading.usual / factor, reading.usual * factor


def _round_values(bottom: float, top: float, steps: Sequence[float]) -> list[float]:
    """Some round values within, at most five."""
    step = next((step for step in steps if (top - bottom) / step <= 4), (top - bottom) / 4)
    first = math.ceil(bottom / step)
    return [value * step for value in range(first, first + 6) if value * step <= top]


def _dates(samples: Sequence[Sample], x: Callable[[int], float]) -> list[Tick]:
    """The first, the middle and the last, as far as they are days of their own."""
    places = dict.fromkeys((0, (len(samples) - 1) // 2, len(samples) - 1))
    words: dict[str, Tick] = {}
    for place in places if len(samples) > 4 else (0, len(samples) - 1):
        word = samples[place].at.strftime("%d %b").lstrip("0")
        words.setdefault(word, Tick(x(place), word))
    return list(words.values())
