"""Which stages a reviewer can leave out of a verdict, and how a written name is understood. Pure."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from bot.gating.granting import config_of
from bot.gating.model import GateRun, Run
from bot.verdict.report import PerfReport, parse_report
from bot.verdict.signals import TOTAL, known_names

# A report may hold any number of names of any length, and telling how alike two are costs their product.
_MOST_COMPARED, _LONGEST_COMPARED = 200, 300


def nameable(gate: GateRun | None) -> list[str] | None:
    """The stages of this gate's stored reports, and `total`; None while there is no report to know them by.

    Before the treatment's report is there, the baseline's stages are all: what the baseline lacks never counts.
    """
    if gate is None:
        return None
    stored = [gate.baseline.report if gate.baseline else "", gate.attempt.report if gate.attempt else ""]
    read = [parse_report(text) for text in stored if text]
    reports = [report for report in read if isinstance(report, PerfReport)]
    if not reports:
        return None
    return [*sorted(known_names(reports[0], reports[-1]) - {TOTAL}), TOTAL]


def expected(run: Run) -> list[str]:
    """The stages its reports will probably have: those of the gates before, and those its ferries are there for."""
    config = config_of(run)
    names = {name for gate in run.gates for name in nameable(gate) or ()} | {TOTAL}
    return sorted(names.union(*(config.gates[number].expected_steps for number in config.ladder)))


def resolve(asked: str, names: Collection[str]) -> str | None:
    """The name that is meant: itself, or the only one that looks the same where it is shown."""
    if asked in names:
        return asked
    seen = _as_seen(asked)
    alike = [name for name in names if _as_seen(name) == seen]
    return alike[0] if len(alike) == 1 else None


def closest(asked: str, names: Collection[str]) -> str:
    """The name that may have been meant, or an empty string."""
    likely = [name for name in names if len(name) <= _LONGEST_COMPARED][:_MOST_COMPARED]
    by_lower = {name.lower(): name for name in likely}
    close = get_close_matches(asked.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else ""


def leaves_nothing(gate: GateRun, excluded: Collection[str]) -> bool:
    """Whether no wall time would be left to compare. An excluded stage takes the total with it, which holds it."""
    if gate.judgement is not None:
        counted = {name for name, row in gate.judgement.stages.items() if row.verdict != "—"}
        return not counted.difference(excluded)
    report = parse_report(gate.baseline.report) if gate.baseline else None
    if not isinstance(report, PerfReport):
        return False
    return not {name for name, seconds in report.stage_wall_seconds.items() if seconds}.difference(excluded)


def _as_seen(name: str) -> str:
    """Without what nobody sees and nobody can type."""
    return " ".join("".join(char if char.isprintable() else " " for char in name).split())
