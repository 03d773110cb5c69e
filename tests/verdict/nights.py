"""Nights of a tier that differ although its code does not, and reports a little changed."""

from __future__ import annotations

import random
from dataclasses import replace as changed
from typing import Any

from bench.verdict.simulation import Slowdown, Tier, night, report, work_noise
from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.model import Judgement, Policy
from bot.verdict.past import PastRun, past_run
from bot.verdict.report import PerfReport


class Cluster:
    """A tier with the recorded noise; the same seed gives the same nights."""

    def __init__(self, seed: int = 1, nights: int = 16, **tier: Any) -> None:
        self.tier, self.rng = changed(Tier(), **tier), random.Random(seed)
        self.noise = work_noise(self.tier, self.rng)
        self.reports = [self.run() for _ in range(nights)]

    def run(self, slowdown: Slowdown | None = None) -> PerfReport:
        return report(self.tier, self.noise, self.rng, slowdown or Slowdown(), self.rng.randrange(10**6))

    @property
    def history(self) -> list[PastRun]:
        found = [past_run(made, night(number)) for number, made in enumerate(self.reports)]
        return [past for past in found if past is not None]

    def judge(self, treatment: PerfReport, policy: Policy = "calibrated", **options: Any) -> Judgement:
        options = {"history": self.history} | options
        return judge(self.reports[-1], treatment, Thresholds(), policy=policy, **options)


def with_fields(run: PerfReport, **fields: Any) -> PerfReport:
    return PerfReport.model_validate(run.model_dump() | fields)


def scaled(run: PerfReport, factor: float, *fields: str) -> PerfReport:
    """A report with some of its stage maps scaled."""
    content = run.model_dump()
    for field in fields:
        content[field] = {stage: float(value) * factor for stage, value in content[field].items()}
    return PerfReport.model_validate(content)


def scaled_stage(run: PerfReport, stage: str, factor: float) -> PerfReport:
    """A report with the wall time of one stage scaled."""
    walls = {name: float(value or 0) for name, value in run.stage_wall_seconds.items()}
    return with_fields(run, stage_wall_seconds=walls | {stage: walls[stage] * factor})
