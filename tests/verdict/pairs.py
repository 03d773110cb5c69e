"""Generated pairs of reports: near every boundary, and wrong in every way a report can be. Seeded: always the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

STAGES = ["download", "normalize", "minhash", "fuzzy_dups", "consolidate", "tokenize"]
BUCKETS = ["preempted", "oom", "hardware_fault", "scheduling_timeout", "application_failure", "other"]
# Exact boundaries of the table and values a hair beside them; "" leaves the value as it is.
FACTORS = [
    "1",
    "1.05",
    "1.0500000001",
    "1.0499999999",
    "1.10",
    "1.1000000001",
    "1.15",
    "1.1500001",
    "1.02",
    "1.0200001",
    "0.9",
]
WRONG: list[Any] = [
    "12",
    True,
    False,
    -1,
    -0.5,
    float("nan"),
    float("inf"),
    float("-inf"),
    [],
    {},
    [1],
    {"a": 1},
    "",
    [None],
    7,
]


class Literal(float):
    """A number written in the JSON exactly as its text."""

    def __new__(cls, text: str) -> Literal:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def dumps(value: Any) -> str:
    """JSON that keeps each `Literal`'s own digits."""
    match value:
        case Literal():
            return value.text
        case dict():
            return "{" + ",".join(f"{json.dumps(key)}:{dumps(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(dumps, value)) + "]"
        case _:
            return json.dumps(value)


def clean_report(job: str) -> dict[str, Any]:
    """A healthy report of round numbers."""
    return {
        "iris_job_id": job,
        "status": "succeeded",
        "marin_prefix": "gs://bucket/prefix",
        "wall_seconds_total": 2000,
        "stage_wall_seconds": {name: 100 * (place + 1) for place, name in enumerate(STAGES)},
        "sum_task_wall_seconds_total": 40000,
        "stage_sum_task_wall_seconds": dict.fromkeys(STAGES, 5000),
        "cached_steps": [],
        "ooms": 0,
        "failed_shards": 0,
        "peak_worker_memory_mb": 14000,
        "preemption_count": 0,
        "failure_count": 0,
        "task_state_counts": {"succeeded": 42},
        "tree_job_count": 13,
        "infra_failures": dict.fromkeys(BUCKETS, 0),
        "workflow_run_id": None,
        "workflow_run_attempt": None,
        "workflow_name": None,
        "commit_sha": None,
        "collected_at_utc": "2026-11-21T02:25:14+00:00",
        "warnings": [],
    }


def generated(seed: int, how_many: int) -> Iterator[tuple[str, str]]:
    """JSON texts of baseline and treatment."""
    rng = random.Random(seed)
    for _ in range(how_many):
        yield _pair(rng)


def _pair(rng: random.Random) -> tuple[str, str]:
    from decimal import Decimal

    baseline, treatment = clean_report("/bot/baseline"), clean_report("/bot/treatment")
    for name in rng.sample(STAGES, rng.randint(0, 3)):
        for report in (baseline, treatment):
            report["stage_wall_seconds"].pop(name)
    names = list(baseline["stage_wall_seconds"])
    shared = rng.choice([*FACTORS, "", ""])

    def scaled(value: Any, factor: str) -> Any:
        return Literal(str(Decimal(str(value)) * Decimal(factor)))

    for name in names:
        factor = shared or rng.choice([*FACTORS[:4], "1", "1", rng.choice(FACTORS)])
        treatment["stage_wall_seconds"][name] = scaled(baseline["stage_wall_seconds"][name], factor)
    treatment["wall_seconds_total"] = scaled(baseline["wall_seconds_total"], shared or rng.choice(["1", *FACTORS]))
    treatment["peak_worker_memory_mb"] = scaled(14000, rng.choice(["1", "1", "1", *FACTORS]))
    treatment["sum_task_wall_seconds_total"] = scaled(40000, rng.choice(["1.02", "1.0200001", "1.1", "1.3"]))
    for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
        rng.choice(DISTURBANCES)(rng, baseline, treatment)
    return dumps(baseline), dumps(treatment)


def _either(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> dict[str, Any]:
    return rng.choice([baseline, treatment])


def _inner(report: dict[str, Any], key: str) -> dict[str, Any]:
    value = report.get(key)
    return value if isinstance(value, dict) else {}


def _counts(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    field = rng.choice(["preemption_count", "failed_shards", "ooms", "failure_count"])
    baseline[field] = rng.choice([0, 1, 2, 5])
    treatment[field] = baseline[field] + rng.choice([-baseline[field], 0, 1, 3, 4])


def _buckets(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    bucket = rng.choice([*BUCKETS, "gremlins"])
    for report in (baseline, treatment):
        _inner(report, "infra_failures")[bucket] = rng.choice([0, 0, 1, 2, None])


def _tasks(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    counts = _inner(_either(rng, baseline, treatment), "task_state_counts")
    counts[rng.choice(["preempted", "killed", "succeeded"])] = rng.choice([0, 1, 40, None])


def _cached(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    name = rng.choice(STAGES)
    for report in rng.choice([[baseline], [treatment], [baseline, treatment]]):
        cached = report.get("cached_steps")
        report["cached_steps"] = [*cached, name] if isinstance(cached, list) else [name]
        if rng.random() < 0.8:
            _inner(report, "stage_wall_seconds")[name] = 0.0


def _stage_value(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    stages = _inner(_either(rng, baseline, treatment), "stage_wall_seconds")
    name = rng.choice([*STAGES, "quality"])
    if rng.random() < 0.4:
        stages.pop(name, None)
    else:
        stages[name] = rng.choice([0, None, 0.0, Literal("-0"), Literal("1e3"), Literal("3E-2"), 10**400, 100])


def _missing(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    report = _either(rng, baseline, treatment)
    field = rng.choice(list(clean_report("")))
    if rng.random() < 0.5:
        report.pop(field, None)
    else:
        report[field] = None


def _zero(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    field = rng.choice(["wall_seconds_total", "peak_worker_memory_mb", "sum_task_wall_seconds_total"])
    _either(rng, baseline, treatment)[field] = rng.choice([0, 0.0, Literal("-0.0"), Literal("0e5")])


def _wrong(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    report = _either(rng, baseline, treatment)
    if rng.random() < 0.3:
        inner = _inner(report, rng.choice(["stage_wall_seconds", "infra_failures", "task_state_counts"]))
        inner[rng.choice([*STAGES, "oom", "preempted"])] = rng.choice(WRONG)
    else:
        report[rng.choice(list(clean_report("")))] = rng.choice(WRONG)


def _identity(rng: random.Random, baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    match rng.randrange(4):
        case 0:
            treatment["iris_job_id"] = baseline.get("iris_job_id")
        case 1:
            baseline["ferry_module"] = "experiments.ferries.datakit_ferry"
            treatment["ferry_module"] = rng.choice(["experiments.ferries.datakit_ferry", "experiments.other", None])
        case 2:
            _either(rng, baseline, treatment)["status"] = rng.choice(["failed", "killed", "Succeeded", "", None])
        case _:
            _either(rng, baseline, treatment)["something_new"] = rng.choice([*WRONG, {"deep": [{}]}])


DISTURBANCES = [
    _counts,
    _buckets,
    _tasks,
    _cached,
    _cached,
    _stage_value,
    _stage_value,
    _missing,
    _zero,
    _wrong,
    _identity,
]
