"""Why a ferry ended as it did, from its tasks and their logs: values, told by whoever saw them.

Texts are the ferry's own words: hostile, cut to a length, never Markdown.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

CauseKind = Literal["oom", "application", "preempted", "hardware", "unschedulable", "killed", "unknown"]

# What differs between two words of one error: addresses, ids, times, shard numbers, byte counts.
_VARIABLE = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8,}\b|\d+")


class Cause(msgspec.Struct, frozen=True):
    """`error` is the first failure's own words and `task` where it was; `exit_code` None where it has none.

    `log` are the lines of that task that tell most, as they were; empty where its log could not be read.
    """

    kind: CauseKind = "unknown"
    error: str = ""
    task: str = ""
    exit_code: int | None = None
    log: tuple[str, ...] = ()

    def same_as(self, other: Cause) -> bool:
        """Whether the application failed twice in the same way: the same words but for what is counted in them."""
        both = self.kind == other.kind == "application"
        return both and bool(self.error) and _plain(self.error) == _plain(other.error)


def _plain(error: str) -> str:
    return " ".join(_VARIABLE.sub("#", error).split())
