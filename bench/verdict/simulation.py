"""Runs of a made-up tier with the recorded noise: a part that all stages of a run share, and a part of their own.

Noise: the same-code repeats on record differ by a shared factor of about 8 % and 6 % a stage; the work signal, the
summed wall time of tasks, by 1.5 to 3 %.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.verdict.report import PerfReport, validate_report

STAGES = {"tokenize": 6689.0, "consolidate": 136.0, "fuzzy_dups": 831.0, "minhash": 729.0, "normalize": 377.0}
BEGAN = datetime(2026, 7, 1, tzinfo=UTC)
TASKS = 30


@dataclass(frozen=True)
class Tier:
    """What the tier's runs vary by: standard deviations of logarithms. `work` False: only wall times are reported."""

    shared: float = 0.08
    own: float = 0.06
    work: bool = True
    quietest: float = 0.015
    loudest: float = 0.03


@dataclass(frozen=True)
class Slowdown:
    """What a treatment does otherwise: `factor` on one stage (by name), on `some` of them, or on all."""

    factor: float = 1.0
    stage: str | None = None
    some: int = len(STAGES)

    def of(self, stage: str) -> float:
        touched = self.stage == stage if self.stage else stage in list(STAGES)[: self.some]
        return self.factor if touched else 1.0


def work_noise(tier: Tier, rng: random.Random) -> dict[str, float]:
    """Each stage's own noise of the work signal, which stays its own over the tier's history."""
    return {stage: rng.uniform(tier.quietest, tier.loudest) for stage in STAGES}


def report(tier: Tier, noise: dict[str, float], rng: random.Random, slowdown: Slowdown, number: int) -> PerfReport:
    """One run's report."""
    day = rng.gauss(0, tier.shared)
    walls = {
        stage: seconds * slowdown.of(stage) * math.exp(day + rng.gauss(0, tier.own))
        for stage, seconds in STAGES.items()
    }
    content: dict[str, object] = {
        "iris_job_id": f"/runner/iris-run-job-{number}",
        "status": "succeeded",
        "wall_seconds_total": _exact(sum(walls.values())),
        "stage_wall_seconds": {stage: _exact(seconds) for stage, seconds in walls.items()},
        "peak_worker_memory_mb": _exact(3400 * math.exp(rng.gauss(0, 0.01))),
        "infra_failures": {},
    }
    if tier.work:
        works = {
            stage: seconds * TASKS * slowdown.of(stage) * math.exp(rng.gauss(0, noise[stage]))
            for stage, seconds in STAGES.items()
        }
        content["stage_sum_task_wall_seconds"] = {stage: _exact(seconds) for stage, seconds in works.items()}
        content["sum_task_wall_seconds_total"] = _exact(sum(works.values()))
    made = validate_report(content)
    if not isinstance(made, PerfReport):
        raise AssertionError(f"the simulation writes a report that cannot be read: {made}")
    return made


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.1f}")


def night(number: int) -> datetime:
    """When the scheduled run of that number took place."""
    return BEGAN + timedelta(days=number)
