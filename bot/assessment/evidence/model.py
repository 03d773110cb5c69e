"""One reason for one or more yeses."""

from __future__ import annotations

from posixpath import basename

import msgspec

from bot.assessment.definitions import Defined
from bot.assessment.vocabulary import SAID, rank
from bot.config.modules import Frequency, Question


class Evidence(msgspec.Struct, frozen=True):
    """`what` is changed at `path:line`, `why` it matters, how often it runs. `weight` orders, the largest first."""

    path: str
    line: int
    what: str
    why: str
    frequency: Frequency
    questions: tuple[Question, ...]
    weight: int = 0

    @property
    def text(self) -> str:
        """As shown to the reviewer."""
        where = f"{basename(self.path)}:{self.line}" if self.line else basename(self.path)
        return f"{where} — {self.what} — {self.why} — {SAID[self.frequency]}"

    @property
    def order(self) -> tuple[int, int]:
        """For sorting: the heaviest and most frequent first."""
        return -self.weight, -rank(self.frequency)


INTERFACE_WEIGHT = 20


def interface_evidence(
    item: Defined, what: str, why: str, questions: tuple[Question, ...], weight: int = INTERFACE_WEIGHT
) -> Evidence:
    """Evidence about a definition as a whole: it counts when it is called at planning or read at import."""
    frequency: Frequency = "planning" if item.kind == "function" else "import"
    return Evidence(item.path, item.line, what, why, frequency, tuple(dict.fromkeys(questions)), weight)
