"""Trouble on purpose: wrong answers, silence, waiting, limits and stale listings, matched by method and path."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, get_args

FaultKind = Literal[
    "status",  # answer with `status`; nothing was done
    "status_after",  # do it, then answer with `status`: the ambiguous 5xx
    "drop",  # close the connection; nothing was done
    "drop_after",  # do it, then close the connection
    "delay",  # wait `seconds`, then go on
    "hold",  # wait until released, then go on
    "primary_limit",  # x-ratelimit-remaining: 0
    "secondary_limit",  # retry-after where `seconds` is given
    "moved",  # as of a renamed repository: 301 for GET, 307 for anything else
    "stale",  # listings do not have yet what was made after the fault was
]


@dataclass(eq=False)
class Fault:
    """`path`: a glob over the decoded path (`*` crosses slashes). `times` None: until cleared. `hits`: matches."""

    id: int
    kind: FaultKind
    method: str = "*"
    path: str = "*"
    times: int | None = 1
    status: int = 502
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    hide_after_id: int = 0
    hits: int = 0
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    def matches(self, method: str, path: str) -> bool:
        return self.times != 0 and fnmatchcase(method, self.method) and fnmatchcase(path, self.path)

    def release(self) -> None:
        """Let those that a `hold` keeps waiting go on, and everyone after them."""
        self._released.set()

    async def wait(self) -> None:
        if self.kind == "delay" and self.seconds:
            await asyncio.sleep(self.seconds)
        elif self.kind == "hold":
            await self._released.wait()


class Faults:
    def __init__(self) -> None:
        self.active: list[Fault] = []
        self._ids = itertools.count(1)

    def add(self, kind: FaultKind, **details: object) -> Fault:
        """Raises ValueError for an unknown kind, TypeError for an unknown detail."""
        if kind not in get_args(FaultKind):
            raise ValueError(f"a fault is one of {', '.join(get_args(FaultKind))}; not {kind!r}")
        fault = Fault(next(self._ids), kind, **details)  # type: ignore[arg-type]
        self.active.append(fault)
        return fault

    def take(self, method: str, path: str) -> Fault | None:
        """The first live fault that matches; it has one use less afterwards."""
        for fault in self.active:
            if fault.matches(method, path):
                fault.hits += 1
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None

    def clear(self) -> None:
        for fault in self.active:
            fault.release()
        self.active.clear()
