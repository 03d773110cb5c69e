"""The coordinator's progress lines.

    I20261121 02:06:34 zephyr.execution [20261121-020616-98a873a3] [stage0-Map → Scatter] 2/8 complete, 2 in-flight, …
The log prefix and the execution id are optional, and what follows is a `; items=…` or, later, a `. items=…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

# What a log server can filter by before a flood of other lines.
SUBSTRING = " complete, "
_LINE = re.compile(
    r"\[(?P<stage>stage\d+[^\]]*)\] (?P<done>\d+)/(?P<total>\d+) complete, (?P<in_flight>\d+) in-flight, "
    r"(?P<queued>\d+) queued, (?P<alive>\d+)/(?P<workers>\d+) workers alive, (?P<dead>\d+) dead(?:[;.] |\s*$)"
)


class ShardProgress(msgspec.Struct, frozen=True):
    """How far the pipeline's current stage is, in shards; `stage` as Zephyr's planner names it."""

    stage: str
    done: int
    total: int
    in_flight: int
    queued: int
    workers_alive: int
    workers: int
    workers_dead: int


def parse(line: str) -> ShardProgress | None:
    """Read one log line; None when it is no progress line."""
    match = _LINE.search(line)
    if match is None:
        return None
    numbers = [int(match[name]) for name in ("done", "total", "in_flight", "queued", "alive", "workers", "dead")]
    return ShardProgress(match["stage"][:80], *numbers)


def latest(lines: Iterable[str]) -> ShardProgress | None:
    """The last progress among lines in order of time."""
    return next((found for line in reversed(list(lines)) if (found := parse(line))), None)
