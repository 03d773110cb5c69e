"""Nine rules in one order: a pair that breaks several is judged by the first of them, and says only its reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.verdict.story import Report, baseline, buckets, judged, stages, treatment


class Break(NamedTuple):
    """One way to break a rule; `said` is in the reason."""

    rule: int
    verdict: str
    said: str
    do: Callable[[Report, Report], Any]
    options: Mapping[str, Any] = MappingProxyType({})


def more(bucket: str) -> Callable[[Report, Report], Any]:
    return lambda ours, theirs: theirs["infra_failures"].update({bucket: 1})


def slower_stage(ours: Report, theirs: Report) -> None:
    theirs["stage_wall_seconds"]["minhash"] *= 2


def nothing_compares(ours: Report, theirs: Report) -> None:
    """Every stage cached, in one report only, which leaves the total without a meaning too."""
    ours["cached_steps"] = list(ours["stage_wall_seconds"])


def contention(ours: Report, theirs: Report) -> None:
    theirs["stage_wall_seconds"]["normalize"] = 215
    theirs["sum_task_wall_seconds_total"] = 40000


def memory_warns(ours: Report, theirs: Report) -> None:
    theirs["peak_worker_memory_mb"] = 15000


BREAKS = [
    Break(1, "not_comparable", "wandb_url is the number 3", lambda _, theirs: theirs.update(wandb_url=3)),
    Break(1, "not_comparable", "iris_job_id", lambda ours, theirs: theirs.update(iris_job_id=ours["iris_job_id"])),
    Break(
        1,
        "not_comparable",
        "ferry_module differs",
        lambda ours, theirs: (ours.update(ferry_module="a.b"), theirs.update(ferry_module="a.c")),
    ),
    Break(2, "fail", "infra_failures.oom", more("oom")),
    Break(3, "not_comparable", "The baseline's status", lambda ours, _: ours.update(status="failed")),
    Break(3, "not_comparable", "The treatment's status", lambda _, theirs: theirs.update(status="killed")),
    Break(4, "inconclusive", "preemption_count", lambda _, theirs: theirs.update(preemption_count=1)),
    Break(
        4,
        "inconclusive",
        "task_state_counts.preempted",
        lambda _, theirs: theirs["task_state_counts"].update(preempted=1),
    ),
    Break(4, "inconclusive", "hardware_fault", more("hardware_fault")),
    Break(4, "inconclusive", "worker generation", lambda *_: None, {"worker_generations": ("v5e", "v6e")}),
    Break(5, "not_comparable", "Neither wall_seconds_total nor any stage", nothing_compares),
    Break(6, "fail", "wall_seconds_total went", lambda _, theirs: theirs.update(wall_seconds_total=3000)),
    Break(6, "fail", "stage_wall_seconds.minhash went", slower_stage),
    Break(6, "fail", "peak_worker_memory_mb went", lambda _, theirs: theirs.update(peak_worker_memory_mb=20000)),
    Break(6, "fail", "infra_failures.scheduling_timeout", more("scheduling_timeout")),
    Break(6, "fail", "infra_failures.application_failure", more("application_failure")),
    Break(6, "fail", "infra_failures.other", more("other")),
    Break(6, "fail", "failed_shards", lambda _, theirs: theirs.update(failed_shards=1)),
    Break(7, "inconclusive", "looks like contention", contention),
    Break(8, "warn", "peak_worker_memory_mb went", memory_warns),
    Break(8, "warn", "wall_seconds_total went", lambda _, theirs: theirs.update(wall_seconds_total=2150)),
    Break(8, "warn", "tokenize went", lambda _, theirs: theirs["stage_wall_seconds"].update(tokenize=640)),
]


def broken(*breaks: Break) -> tuple[str, tuple[str, ...]]:
    ours, theirs = baseline(infra_failures=buckets()), treatment(infra_failures=buckets())
    ours["stage_wall_seconds"], theirs["stage_wall_seconds"] = stages(), stages()
    options: dict[str, Any] = {}
    for one in breaks:
        one.do(ours, theirs)
        options |= one.options
    result = judged(ours, theirs, **options)
    return result.verdict, result.reasons


def spoils(earlier: Break, later: Break) -> bool:
    """Pairs where the later change takes away what the earlier rule looks at, so that there is no contest.

    A memory warning is itself the end of contention: rule 7 asks that every warn be a wall time's.
    """
    return earlier.rule == 7 and later.said == "peak_worker_memory_mb went"


CONTESTS = [
    pytest.param(first, second, id=f"rule {first.rule} ({first.said}) before rule {second.rule} ({second.said})")
    for first, second in combinations(BREAKS, 2)
    if first.rule < second.rule and not spoils(first, second)
]


@pytest.mark.parametrize("one", [pytest.param(one, id=f"rule {one.rule}: {one.said}") for one in BREAKS])
def test_each_break_alone_gives_its_verdict_and_says_so(one: Break) -> None:
    verdict, reasons = broken(one)
    assert verdict == one.verdict
    assert any(one.said in reason for reason in reasons), reasons


@pytest.mark.parametrize(("earlier", "later"), CONTESTS)
def test_the_earlier_rule_decides(earlier: Break, later: Break) -> None:
    verdict, reasons = broken(later, earlier)
    assert verdict == earlier.verdict
    assert any(earlier.said in reason for reason in reasons), reasons
    if earlier.said != later.said:
        assert not any(later.said in reason for reason in reasons), reasons


def test_every_rule_takes_part() -> None:
    assert {one.rule for one in BREAKS} == set(range(1, 9))
    assert broken()[0] == "pass"


def test_a_memory_warning_is_no_contention() -> None:
    contended = treatment(wall_seconds_total=2150, sum_task_wall_seconds_total=40000, peak_worker_memory_mb=15000)
    assert judged(baseline(), contended).verdict == "warn"


def test_what_is_not_judged_alone_changes_nothing() -> None:
    """`failure_count`, killed tasks and the preempted bucket are in healthy runs; unknown buckets belong to no rule."""
    noisy = treatment(
        failure_count=9,
        task_state_counts={"succeeded": 42, "killed": 1},
        infra_failures=buckets(preempted=3, gremlins=4),
        ooms=5,
        something_new={"deep": [True]},
    )
    assert judged(baseline(), noisy).verdict == "pass"
