"""An independent reading of the verdict's rules: plain dictionaries and fractions, one `if` after another.

It shares no code and no structure with `bot.verdict`, so that the two agree only where both read the rules alike. It
takes the reports' JSON text, and says the verdict and each row's (verdict, Δ).
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

NUMBERS = [
    "wall_seconds_total",
    "sum_task_wall_seconds_total",
    "ooms",
    "failed_shards",
    "peak_worker_memory_mb",
    "preemption_count",
    "failure_count",
    "tree_job_count",
]
MAPS = ["stage_wall_seconds", "stage_sum_task_wall_seconds", "task_state_counts", "infra_failures"]
STRINGS = [
    "iris_job_id",
    "status",
    "marin_prefix",
    "workflow_name",
    "commit_sha",
    "collected_at_utc",
    "ferry_module",
    "wandb_url",
]
LISTS = ["cached_steps", "warnings"]

Oracle = dict[str, Any]


def load(text: str) -> Any:
    return json.loads(
        text, parse_float=Fraction, parse_int=Fraction, parse_constant=lambda name: {"not a number": name}
    )


def good_number(value: Any) -> bool:
    return value is None or (type(value) is Fraction and value >= 0)


def well_typed(report: Any) -> bool:
    if type(report) is not dict:
        return False
    for key in NUMBERS:
        if not good_number(report.get(key)):
            return False
    for key in MAPS:
        inner = report.get(key)
        if inner is not None and (type(inner) is not dict or not all(good_number(v) for v in inner.values())):
            return False
    for key in STRINGS:
        if report.get(key) is not None and type(report[key]) is not str:
            return False
    for key in LISTS:
        items = report.get(key)
        if items is not None and (type(items) is not list or any(type(item) is not str for item in items)):
            return False
    for key in ("workflow_run_id", "workflow_run_attempt"):
        if type(report.get(key)) is not str and not good_number(report.get(key)):
            return False
    return True


def count(report: Any, key: str) -> Fraction:
    return report.get(key) or Fraction(0)


def failures(report: Any, bucket: str) -> Fraction:
    buckets = report.get("infra_failures")
    if buckets is None:
        return count(report, "ooms") if bucket == "oom" else Fraction(0)
    return buckets.get(bucket) or Fraction(0)


def graded(b: Fraction | None, t: Fraction | None, fail_above: Fraction) -> tuple[str, Fraction | None]:
    if not b or t is None:
        return "—", None
    change = (t - b) / b
    if change > fail_above:
        return "fail", change
    if change > Fraction(5, 100):
        return "warn", change
    return "pass", change


def judge(baseline_text: str, treatment_text: str, excluded: frozenset[str] = frozenset()) -> Oracle:
    b, t = load(baseline_text), load(treatment_text)
    if not well_typed(b) or not well_typed(t):
        return {"verdict": "not_comparable"}

    b_stages = b.get("stage_wall_seconds") or {}
    t_stages = t.get("stage_wall_seconds") or {}
    b_cached = set(b.get("cached_steps") or [])
    t_cached = set(t.get("cached_steps") or [])
    every_stage = set(b_stages) | set(t_stages)

    stages: dict[str, tuple[str, Fraction | None]] = {}
    for name in every_stage:
        if name in b_cached or name in t_cached or name in excluded or not t_stages.get(name):
            stages[name] = ("—", None)
        else:
            stages[name] = graded(b_stages.get(name), t_stages.get(name), Fraction(10, 100))

    same_work = b_cached == t_cached and "total" not in excluded
    for name in every_stage:
        if (b_stages.get(name) is None) != (t_stages.get(name) is None):
            same_work = False
    if excluded & (every_stage | b_cached | t_cached):
        same_work = False
    if same_work and count(t, "wall_seconds_total") > 0:
        total = graded(b.get("wall_seconds_total"), t["wall_seconds_total"], Fraction(10, 100))
    else:
        total = ("—", None)
    memory = graded(b.get("peak_worker_memory_mb"), t.get("peak_worker_memory_mb"), Fraction(15, 100))

    verdict = nine_rules(b, t, total, memory, stages)
    return {"verdict": verdict, "total": total, "memory": memory, "stages": stages}


def nine_rules(b: Any, t: Any, total: Any, memory: Any, stages: Any) -> str:
    # 1
    if b.get("iris_job_id") is not None and b.get("iris_job_id") == t.get("iris_job_id"):
        return "not_comparable"
    if None not in (b.get("ferry_module"), t.get("ferry_module")) and b["ferry_module"] != t["ferry_module"]:
        return "not_comparable"
    # 2
    if failures(t, "oom") > failures(b, "oom"):
        return "fail"
    # 3
    for report in (b, t):
        if report.get("status") not in (None, "succeeded"):
            return "not_comparable"
    # 4
    before, after = count(b, "preemption_count"), count(t, "preemption_count")
    if after > before + 3 or (before == 0 and after > 0):
        return "inconclusive"
    if count(t.get("task_state_counts") or {}, "preempted") > 0:
        return "inconclusive"
    if failures(t, "hardware_fault") > 0:
        return "inconclusive"
    # 5
    walls = [total, *stages.values()]
    if all(verdict == "—" for verdict, _ in walls):
        return "not_comparable"
    # 6
    if any(verdict == "fail" for verdict, _ in [*walls, memory]):
        return "fail"
    for bucket in ("scheduling_timeout", "application_failure", "other"):
        if failures(t, bucket) > failures(b, bucket):
            return "fail"
    if count(t, "failed_shards") > count(b, "failed_shards"):
        return "fail"
    # 7
    wall_warns = any(verdict == "warn" for verdict, _ in walls)
    if wall_warns and memory[0] != "warn":
        changes = [change for _, change in stages.values() if change is not None]
        if len(changes) >= 3 and min(changes) > 0 and max(changes) - min(changes) <= Fraction(5, 100):
            return "inconclusive"
        work_before, work_after = b.get("sum_task_wall_seconds_total"), t.get("sum_task_wall_seconds_total")
        if work_before and work_after is not None and work_after <= work_before * Fraction(102, 100):
            return "inconclusive"
    # 8
    if wall_warns or memory[0] == "warn":
        return "warn"
    # 9
    return "pass"
