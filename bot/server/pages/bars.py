"""A ferry's stages as bars beside the baseline's, each as long as it took."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from bot.comment.numbers import change, duration
from bot.gating.model import Attempt, Baseline
from bot.verdict.model import Row
from bot.verdict.report import PerfReport, parse_report

MOST_STAGES = 60
"""A pipeline has a dozen; a report may say anything."""
_WORDS = {"pass": "pass", "warn": "warn", "fail": "fail"}


class Bar(msgspec.Struct, frozen=True):
    """One stage. Lengths in percent of the longest; `verdict` is pass, warn or fail where the stage was judged."""

    name: str
    baseline: str
    ours: str
    baseline_percent: float
    ours_percent: float
    state: str
    delta: str = ""
    verdict: str = ""


class Bars(msgspec.Struct, frozen=True):
    stages: tuple[Bar, ...]
    total: Bar | None
    left_out: int


class _Stage(msgspec.Struct, frozen=True):
    name: str
    before: float
    ours: float
    state: str
    row: Row | None


def bars(baseline: Baseline | None, attempt: Attempt) -> Bars | None:
    """None where nothing was measured yet."""
    stages = _judged(attempt) or _under_way(baseline, attempt)
    if not stages:
        return None
    longest = max(max(stage.before, stage.ours) for stage in stages) or 1.0
    return Bars(
        tuple(_bar(stage, longest) for stage in stages[:MOST_STAGES]),
        _total(attempt),
        max(0, len(stages) - MOST_STAGES),
    )


def _judged(attempt: Attempt) -> list[_Stage]:
    judgement = attempt.judgement
    if judgement is None:
        return []
    return [
        _Stage(name, _seconds(row.baseline), _seconds(row.treatment), "done", row)
        for name, row in judgement.stages.items()
    ]


def _under_way(baseline: Baseline | None, attempt: Attempt) -> list[_Stage]:
    before = _baseline_stages(baseline)
    seen = {stage.name: stage for stage in attempt.progress}
    if not seen:
        return []
    names = list(dict.fromkeys((*seen, *before)))
    stages = []
    for name in names:
        stage = seen.get(name)
        shards = f", {stage.shards_done}/{stage.shards_total} shards" if stage and stage.shards_total else ""
        state = f"{stage.state}{shards}" if stage else "waiting"
        stages.append(_Stage(name, before.get(name, 0.0), stage.seconds if stage else 0.0, state, None))
    return stages


def _baseline_stages(baseline: Baseline | None) -> dict[str, float]:
    report = parse_report(baseline.report) if baseline is not None else None
    if not isinstance(report, PerfReport):
        return {}
    return {name: _seconds(value) for name, value in report.stage_wall_seconds.items()}


def _bar(stage: _Stage, longest: float) -> Bar:
    return Bar(
        name=stage.name,
        baseline=duration(stage.before or None),
        ours=duration(stage.ours or None),
        baseline_percent=_share(stage.before, longest),
        ours_percent=_share(stage.ours, longest),
        state=stage.state,
        delta=change(stage.row) if stage.row is not None else "",
        verdict=_WORDS.get(stage.row.verdict, "") if stage.row is not None else "",
    )


def _total(attempt: Attempt) -> Bar | None:
    if attempt.judgement is None:
        return None
    row = attempt.judgement.total
    before, ours = _seconds(row.baseline), _seconds(row.treatment)
    return _bar(_Stage("total", before, ours, "done", row), max(before, ours) or 1.0)


def _seconds(value: Decimal | None) -> float:
    """Of a hostile report's number no more than a bar can show."""
    return float(min(value, Decimal(10**9))) if value is not None else 0.0


def _share(seconds: float, longest: float) -> float:
    return round(100 * seconds / longest, 2)
