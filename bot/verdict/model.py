"""The verdict's result: rows of numbers, and a judgement that carries its reasons. Stored with a run."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import msgspec

VerdictName = Literal["pass", "warn", "inconclusive", "fail", "not_comparable"]
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


class Judgement(msgspec.Struct, frozen=True):
    """The verdict over one pair of reports.

    `reasons` are the sentences of the rule that decided. `hard_fails` and `warns` are what the threshold table says of
    each signal, whichever rule decided. `flags` never change a verdict. `footnotes` say why a row is "—" and which
    optional fields a report lacks. Sentences are plain text, not Markdown, and may quote hostile names out of a report.
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
