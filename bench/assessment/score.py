"""Scores of the assessment on labelled diffs: gates, false skips, questions, misses and time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

import msgspec

from bench.assessment.labels import Case
from bot.assessment.model import QUESTIONS, Assessment

ASKED = ("trivial", *QUESTIONS)


class Scored(msgspec.Struct, frozen=True):
    """One case, what was proposed and how long it took."""

    case: Case
    result: Assessment
    seconds: float

    @property
    def gate(self) -> str:
        """The proposal as the labels write it."""
        return self.result.max_gate

    @property
    def acceptable(self) -> bool:
        """Would a careful reader defend it?"""
        return self.gate in (self.case.acceptable_max_gates or [self.case.max_gate])

    @property
    def false_skip(self) -> bool:
        """The unforgivable one: proposed to skip what should be measured."""
        return self.gate == "skip" and not self.acceptable


def report(scored: list[Scored], *, verbose: bool = False) -> Iterable[str]:
    """Lines for a terminal."""
    number = max(1, len(scored))
    acceptable = sum(item.acceptable for item in scored)
    strict = sum(item.gate == item.case.max_gate for item in scored)
    yield f"{len(scored)} cases"
    yield f"acceptable {acceptable} ({acceptable / number:.1%}), exact {strict} ({strict / number:.1%})"
    yield f"false skips: {sum(item.false_skip for item in scored)}"
    slowest = max(scored, key=lambda item: item.seconds, default=None)
    if slowest is not None:
        yield f"slowest: {slowest.seconds * 1000:.0f} ms ({slowest.case.id})"
    yield f"{'question':<9} {'yes/yes':>7} {'no/no':>6} {'said yes':>9} {'said no':>8}   either"
    for question in ASKED:
        counts = Counter(_outcomes(scored, question))
        yield (
            f"{question:<9} {counts['yes']:>7} {counts['no']:>6} {counts['false yes']:>9} {counts['missed']:>8}"
            f"   {counts['either']}"
        )
    for item in scored:
        if verbose or not item.acceptable or item.gate != item.case.max_gate:
            mark = "ok" if item.gate == item.case.max_gate else "near" if item.acceptable else "MISS"
            yield f"{mark:<4} {item.case.id}: {item.gate}, labelled {item.case.max_gate}: {item.result.rationale}"


def _outcomes(scored: list[Scored], question: str) -> Iterable[str]:
    for item in scored:
        for path, label in item.case.per_file.items():
            answers = item.result.per_file.get(path)
            if answers is None or question not in label:
                continue
            said, wanted = bool(getattr(answers, question)), bool(label[question])
            if said == wanted:
                yield "yes" if said else "no"
            elif question in label.get("either_ok", ()):
                yield "either"
            else:
                yield "false yes" if said else "missed"


def timed(clock: float) -> float:
    """Seconds since a reading of the monotonic clock."""
    return time.monotonic() - clock
