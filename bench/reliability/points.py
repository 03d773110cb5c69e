"""Named points in the life of a bot process, and its death at one of them. Runs inside the process that dies."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Points:
    """Each point that is passed becomes a line of `trace`.

    `at` ("name:occurrence", from 1) or the first of `any_of` kills the process there, as a crash does: nothing of it
    can tidy up.
    """

    trace: Path
    at: str = ""
    any_of: Collection[str] = ()
    _passed: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def passing(self, name: str) -> None:
        with self._lock:
            self._passed[name] += 1
            with self.trace.open("a", encoding="utf-8") as trace:
                trace.write(f"{name}\n")
            if self.at == f"{name}:{self._passed[name]}" or name in self.any_of:
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, act: Callable[P, Awaitable[T]], name: Callable[P, str]) -> Callable[P, Awaitable[T]]:
        """`act` with a point before and one after it. An empty name: no points."""

        @wraps(act)
        async def acting(*args: P.args, **kwargs: P.kwargs) -> T:
            called = name(*args, **kwargs)
            if not called:
                return await act(*args, **kwargs)
            self.passing(f"before {called}")
            result = await act(*args, **kwargs)
            self.passing(f"after {called}")
            return result

        return acting


def always(name: str) -> Callable[..., str]:
    def called(*_: Any, **__: Any) -> str:
        return name

    return called
