"""The shape of a launch, and what two of them differ in: values, stored with a gate's run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Source = Literal["workflow", "script"]


class Unread(msgspec.Struct, frozen=True):
    """A value that is written with a variable: it is never guessed. `written` is how it stands there."""

    written: str


Value = str | bool | tuple[str, ...] | None | Unread


class Shape(msgspec.Struct, frozen=True):
    """One `iris job run`, as it is written. What is None is not given.

    `values` has the keys of `compare.COMPARED`. `opaque` are words that stand for any number of options (`$FLAGS`):
    what else is not given may be among them. `beside` are such words that stand for options of `iris` itself. `other`
    are options that the gate's configuration has no key for.
    """

    values: Mapping[str, Value]
    environment: Mapping[str, str | Unread] = msgspec.field(default_factory=dict)
    opaque: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


class Unreadable(msgspec.Struct, frozen=True):
    """No shape can be read; `why` is the rest of a sentence that begins with the file."""

    why: str


class Difference(msgspec.Struct, frozen=True):
    """`what` is region, memory, an environment variable …; `theirs` is the file's value, `ours` the gate's."""

    what: str
    theirs: str
    ours: str
    source: Source = "workflow"

    def __str__(self) -> str:
        where = "the tier's workflow" if self.source == "workflow" else "`scripts/ci/submit_perf_run.py`"
        return f"{self.what}: {where} has {self.theirs}, the gate's configuration {self.ours}"


class Parity(msgspec.Struct, frozen=True):
    """What comparing a gate with the files at commit `sha` found; `unverified` is what it could not."""

    sha: str = ""
    differences: tuple[Difference, ...] = ()
    unverified: tuple[str, ...] = ()

    @property
    def stopping(self) -> tuple[Difference, ...]:
        """Those that make the pair not comparable: the workflow launched the baseline, the script nothing of it."""
        return tuple(one for one in self.differences if one.source == "workflow")

    @property
    def by_hand(self) -> tuple[Difference, ...]:
        """Those that say something of the script only."""
        return tuple(one for one in self.differences if one.source == "script")
