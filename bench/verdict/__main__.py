"""`python -m bench.verdict`: false alarms and power of both readings, on simulated runs with the recorded noise.

An alarm is any verdict of warn or fail. Every trial has a history of its own, a baseline (its last run) and a
treatment; both readings judge the same pair. Exit 1 when the calibrated reading misses what it promises by
more than chance.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from bench.verdict.simulation import STAGES, Slowdown, Tier, night, report, work_noise
from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.past import past_run

ALARMS = ("warn", "fail")
THRESHOLDS = Thresholds()
NONE = Slowdown()


@dataclass(frozen=True)
class Question:
    """One row of the table; `at_least` or `at_most` is the share of alarms that the calibrated reading promises."""

    what: str
    tier: Tier
    nights: int
    slowdown: Slowdown = NONE
    any_stage: bool = False
    treatments: int = 1
    at_most: float | None = None
    at_least: float | None = None


def questions() -> Iterator[Question]:
    with_work, walls = Tier(), Tier(work=False)
    for nights in (14, 20):
        for name, tier in (("work", with_work), ("wall only", walls)):
            yield Question(f"identical, {name}", tier, nights, at_most=0.05)
            yield Question(f"identical, {name}, 2 runs", tier, nights, treatments=2, at_most=0.05)
        yield Question("one stage +10%, work", with_work, nights, Slowdown(1.10), any_stage=True, at_least=0.90)
        yield Question("one stage +10%, work, 2 runs", with_work, nights, Slowdown(1.10), any_stage=True, treatments=2)
        yield Question("one stage +25%, work", with_work, nights, Slowdown(1.25), any_stage=True)
        yield Question("one stage +25%, wall only", walls, nights, Slowdown(1.25), any_stage=True)
        yield Question("one stage +25%, wall only, 2 runs", walls, nights, Slowdown(1.25), any_stage=True, treatments=2)
        yield Question("all stages +25%, wall only", walls, nights, Slowdown(1.25))
        yield Question("all stages +50%, wall only", walls, nights, Slowdown(1.50), at_least=0.90)
        faster = Slowdown(0.7, some=2)
        yield Question("two stages 30% faster, work", with_work, nights, faster, at_most=0.05)
        yield Question("two stages 30% faster, wall only", walls, nights, faster, at_most=0.05)
    for nights in (6, 9):
        yield Question("identical, work, few nights", with_work, nights)
        yield Question("identical, wall only, few nights", walls, nights)
    yield Question("all stages +50%, wall only, few nights", walls, 6, Slowdown(1.50))


def trials(question: Question, count: int, seed: str) -> tuple[int, int]:
    """How many of `count` pairs each reading alarms on: (table, calibrated)."""
    rng = random.Random(f"{seed} {question}")
    alarms = [0, 0]
    for _ in range(count):
        noise = work_noise(question.tier, rng)
        nights = [report(question.tier, noise, rng, Slowdown(), number) for number in range(question.nights)]
        history = [past for number, made in enumerate(nights) if (past := past_run(made, night(number))) is not None]
        stage = rng.choice(list(STAGES)) if question.any_stage else None
        slowdown = Slowdown(question.slowdown.factor, stage, question.slowdown.some)
        treatments = [
            report(question.tier, noise, rng, slowdown, 1000 + number) for number in range(question.treatments)
        ]
        for index, policy in enumerate(("table", "calibrated")):
            judgement = judge(
                nights[-1],
                treatments[0],
                THRESHOLDS,
                history=history,
                policy="calibrated" if policy == "calibrated" else "table",
                repeats=treatments[1:],
            )
            alarms[index] += judgement.verdict in ALARMS
    return alarms[0], alarms[1]


def promised(row: Question, share: float, count: int) -> tuple[str, bool]:
    """What the row promises and whether it is kept: broken only where so few trials cannot miss it by chance.

    Two standard errors of a share that is just what was promised: 1.0 points of a false-alarm row at 2,000 trials.
    """
    promise = row.at_most if row.at_most is not None else row.at_least
    if promise is None:
        return "", False
    sign, missed_by = ("≤", share - promise) if row.at_most is not None else ("≥", promise - share)
    chance = 2 * math.sqrt(promise * (1 - promise) / count)
    if missed_by <= 0:
        return f"{sign} {promise:.0%}", False
    if missed_by <= chance:
        return f"{sign} {promise:.0%} not shown: within ±{chance:.1%} of {count} trials", False
    return f"{sign} {promise:.0%} MISSED", True


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.verdict", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="pairs judged for each row; default 2000")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    if arguments.trials < 1:
        parser.error("--trials must be 1 or more")
    rows = list(questions())
    began, kept = time.monotonic(), True
    print(f"{arguments.trials} trials a row, seed {arguments.seed}; shared sd 0.08, stage sd 0.06, work sd 0.015-0.03")
    print(f"{'':<40} {'nights':>6} {'table':>8} {'calibrated':>10}  promised")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        counted = pool.map(trials, rows, [arguments.trials] * len(rows), [arguments.seed] * len(rows))
        for row, (table, calibrated) in zip(rows, counted, strict=True):
            share = calibrated / arguments.trials
            said, broken = promised(row, share, arguments.trials)
            kept = kept and not broken
            print(
                f"{row.what:<40} {row.nights:>6} {table / arguments.trials:>8.1%} {share:>10.1%}  {said}".rstrip(),
                flush=True,
            )
    print(f"{time.monotonic() - began:.0f} s on {os.cpu_count()} cores")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
