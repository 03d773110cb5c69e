"""The verdict's result: rows of numbers, and a judgement that carries its reasons. Stored with a run."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import msgspec

VerdictName = Literal["pass", "warn", "inconclusive", "fail", "not_comparable"]
Policy = Literal["table", "calibrated"]
RowVerdict = Literal["pass", "warn", "fail", "—"]


class Row(msgspec.Struct, frozen=True):
    """One compared signal. Values in the report's own unit (seconds, MB), None where the report has none.

    `delta` is (treatment − baseline) / baseline as a fraction: exact where its expansion ends within 28 digits, else
    rounded there; the verdict never depends on that rounding. None exactly when `verdict` is "—": shown, not counted.
    """

    baseline: Decimal | None = None
    treatment: Decimal | None = None
    delta: Decimal | None = None
    verdict: RowVerdict = "—"


class Finding(msgspec.Struct, frozen=True):
    """What a rule found: the report's field, a sentence, the numbers (in the report's unit) and the limit they met."""

    field: str
    sentence: str
    baseline: Decimal | None = None
    treatment: Decimal | None = None
    limit: str = ""


class Branch(msgspec.Struct, frozen=True):
    """A rule that found something, and the verdict that follows where it is the first."""

    rule: str
    verdict: VerdictName
    findings: tuple[Finding, ...] = ()


class Reading(msgspec.Struct, frozen=True):
    """What one signal's change means against its own noise, over `n` earlier scheduled runs.

    Fractions: `change` from the usual value, `width` of the band that chance explains, `visible` the smallest change
    that would be found nine times in ten. `times` is the change in widths. `usual` is in the report's unit. `shared` is
    what the treatment's other stages did together where that was taken out of `change`; `skipped` counts earlier
    runs that were left out, as astray or as before a lasting step of the level.
    """

    n: int
    change: float
    width: float
    visible: float
    times: float
    outcome: Literal["inside", "slower", "faster"]
    usual: float
    shared: float | None = None
    skipped: int = 0


class Noise(msgspec.Struct, frozen=True):
    """The readings of a pair; a signal without one has too little history. `n` counts the earlier runs looked at."""

    n: int
    total: Reading | None = None
    memory: Reading | None = None
    stages: dict[str, Reading] = {}
    work: dict[str, Reading] = {}


class Judgement(msgspec.Struct, frozen=True):
    """The verdict over one pair of reports.

    `tree` holds every rule that found something, in order: its first branch decided, and `reasons` are that branch's
    sentences. `policy` is the reading that decided deltas, by the fixed table or by the tier's `noise`;
    `other_verdict` is what the other one would have said (for `other_reasons`), None where there is no other.
    `fallback` says why the table decided although the noise was to. `hard_fails` and `warns` are what the deciding
    reading says of each signal, whichever rule decided. `flags` never
    change a verdict. `footnotes` say why a row is "—" and which optional fields a report lacks. Sentences are plain
    text, not Markdown, and may quote hostile names out of a report.
    """

    verdict: VerdictName
    reasons: tuple[str, ...]
    total: Row = Row()
    memory: Row = Row()
    stages: dict[str, Row] = {}
    flags: tuple[str, ...] = ()
    footnotes: tuple[str, ...] = ()
    hard_fails: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    tree: tuple[Branch, ...] = ()
    policy: Policy = "table"
    noise: Noise | None = None
    other_verdict: VerdictName | None = None
    other_reasons: tuple[str, ...] = ()
    fallback: str = ""
