"""The perf report, field by field, against numbers worked out by hand from the recordings.

healthy   /gate/healthy            1795235565388 … 8190   launcher task 1795235565396 … 598190   = 32.794 s
          download coordinator     1795235566612 … 575832 =  9.220 s    its worker 567741 … 574820 = 7.079 s
          normalize coordinator    1795235578023 … 585839 =  7.816 s    its worker 578762 … 584829 = 6.067 s
          tokenize coordinator     1795235585880 … 593711 =  7.831 s    its worker 586636 … 592701 = 6.065 s
failed    launcher task            1795235599697 … 619877 = 20.180 s, exit code 1
          download coordinator     1795235600574 … 609529 =  8.955 s    its worker 601440 … 608519 = 7.079 s
          normalize coordinator    1795235611447 … 616313 =  4.866 s    its worker 612266 … 615302 = 3.036 s, succeeded
cached    launcher task            1795235621628 … 622643 =  1.015 s, and no other job
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from bot.iris.collect import Ferry, leaves, report
from bot.iris.records import Attempt, Job, Task
from bot.iris.status_file import StatusFile, parse
from tests.iris.recorded import ferry, load, tree

AT = datetime(2026, 11, 21, 2, 25, 14, tzinfo=UTC)
NO_FAILURES = {
    "preempted": 0,
    "oom": 0,
    "hardware_fault": 0,
    "scheduling_timeout": 0,
    "application_failure": 0,
    "other": 0,
}
SAME_IN_ALL: dict[str, Any] = {
    "marin_prefix": "SCRATCH/cluster/marin",
    "ferry_module": "experiments.ferries.datakit_ferry",
    "peak_worker_memory_mb": 0,
    "ooms": 0,
    "preemption_count": 0,
    "workflow_run_id": None,
    "workflow_run_attempt": None,
    "workflow_name": None,
    "commit_sha": "c" * 40,
    "collected_at_utc": "2026-11-21T02:25:14+00:00",
}


def test_a_healthy_ferry() -> None:
    assert report(ferry("healthy"), AT) == SAME_IN_ALL | {
        "iris_job_id": "/gate/healthy",
        "status": "succeeded",
        "wall_seconds_total": 32.794,
        "stage_wall_seconds": {"download": 9.22, "normalize": 7.816, "tokenize": 7.831},
        "sum_task_wall_seconds_total": 19.211,
        "stage_sum_task_wall_seconds": {"download": 7.079, "normalize": 6.067, "tokenize": 6.065},
        "cached_steps": [],
        "failed_shards": 0,
        "failure_count": 0,
        "task_state_counts": {"succeeded": 7},
        "tree_job_count": 7,
        "infra_failures": NO_FAILURES,
        "warnings": [],
    }


def test_a_ferry_whose_shard_raised() -> None:
    # The workers succeeded, the coordinator and the launcher failed: one failure, counted at the launcher.
    assert report(ferry("failed"), AT) == SAME_IN_ALL | {
        "iris_job_id": "/gate/failed",
        "status": "failed",
        "wall_seconds_total": 20.18,
        "stage_wall_seconds": {"download": 8.955, "normalize": 4.866},
        "sum_task_wall_seconds_total": 10.115,
        "stage_sum_task_wall_seconds": {"download": 7.079, "normalize": 3.036, "tokenize": None},
        "cached_steps": [],
        "failed_shards": 1,
        "failure_count": 2,
        "task_state_counts": {"succeeded": 3, "failed": 2},
        "tree_job_count": 5,
        "infra_failures": NO_FAILURES | {"application_failure": 1},
        "warnings": ["steps that never ran: tokenize"],
    }


def test_a_ferry_that_found_all_its_output() -> None:
    assert report(ferry("cached"), AT) == SAME_IN_ALL | {
        "iris_job_id": "/gate/healthy",
        "status": "succeeded",
        "wall_seconds_total": 1.015,
        "stage_wall_seconds": {"download": 0.0, "normalize": 0.0, "tokenize": 0.0},
        "sum_task_wall_seconds_total": 1.015,
        "stage_sum_task_wall_seconds": {"download": None, "normalize": None, "tokenize": None},
        "cached_steps": ["download", "normalize", "tokenize"],
        "failed_shards": 0,
        "failure_count": 0,
        "task_state_counts": {"succeeded": 1},
        "tree_job_count": 1,
        "infra_failures": NO_FAILURES,
        "warnings": ["all expected steps were cached: the pipeline may not have done any work"],
    }


def test_the_fields_stand_in_the_upstream_order() -> None:
    ours = [name for name in report(ferry("healthy"), AT) if name in load("ferry-r1", "report.json")]
    assert ours == list(load("ferry-r1", "report.json"))


def test_the_upstream_collectors_report_is_reproduced_from_its_tree() -> None:
    # The recording has no tasks. The report's total is the launcher task's, 3 ms less than its job's; workers and
    # coordinators take part only with their counts, which the tree has.
    theirs, jobs = load("ferry-r1", "report.json"), tree("ferry-r1")
    launcher = Task("/bot/ferry-r1/0", "succeeded", 0, "", 1795227310720, 1795227393295, 0, ())
    steps = ("normalize", "minhash", "fuzzy_dups", "consolidate", "tokenize")
    status = StatusFile("succeeded", theirs["marin_prefix"])
    ours = report(Ferry(jobs[0], jobs, {"/bot/ferry-r1": [launcher]}, status, steps, "", ""), AT)
    not_in_theirs = {
        "ferry_module": "",
        "sum_task_wall_seconds_total": 0.0,
        "stage_sum_task_wall_seconds": dict.fromkeys([*steps, "download"])
        | dict.fromkeys(theirs["stage_wall_seconds"], 0),
        "commit_sha": "",
    }
    assert ours == theirs | not_in_theirs


def test_the_pipelines_of_a_step_are_summed_as_in_the_baselines() -> None:
    # fuzzy_dups ran p0 … p3: 35.626 + 16.810 + 17.679 + 30.517; the span from first to last would be 111.161.
    jobs = tree("datakit")
    stages = report(ferry("healthy", tree=jobs, root=jobs[0]), AT)["stage_wall_seconds"]
    assert stages["fuzzy_dups"] == 100.632
    assert stages["normalize"] == 47.433


def test_what_counts_as_a_leaf() -> None:
    assert leaves(tree("cached")[0], tree("cached")) == ["/gate/healthy"]
    assert [job_id.rpartition("/")[2] for job_id in leaves(tree("failed")[0], tree("failed"))] == [
        "failed",
        "zephyr-download-hf-70acb0bd-p0-workers-a0",
        "zephyr-normalize-3268d5f1-p0-workers-a0",
    ]


def again(jobs: list[Job], name: str, state: str, by: str) -> list[Job]:
    """The tree with the normalize coordinator ended so, and another one like it, five seconds later and 1 s long."""
    first = next(job for job in jobs if name in job.id and job.id.count("/") == 3)
    assert first.submitted_ms
    later = replace(
        first,
        id=first.id.replace(name, by),
        submitted_ms=first.submitted_ms + 5000,
        started_ms=first.submitted_ms + 5000,
        finished_ms=first.submitted_ms + 6000,
    )
    return [*(replace(job, state=state) if job is first else job for job in jobs), later]


@pytest.mark.parametrize(
    ("state", "by"),
    [
        ("failed", "normalize-aaaaaaaa-p0-a0"),
        ("killed", "normalize-aaaaaaaa-p0-a0"),
        ("worker_failed", "normalize-aaaaaaaa-p0-a0"),
        ("killed", "normalize-feb60aff-p0-a1"),
        ("succeeded", "normalize-feb60aff-p0-a1"),
    ],
)
def test_only_the_latest_attempt_of_a_pipeline_counts(state: str, by: str) -> None:
    jobs = again(tree("healthy"), "normalize-feb60aff-p0-a0", state, by)
    made = report(ferry("healthy", tree=jobs), AT)
    assert made["stage_wall_seconds"]["normalize"] == 1.0
    assert made["warnings"] == ["earlier attempts are not counted: zephyr-normalize-feb60aff-p0-a0"]
    # The workers of the lost attempt worked for nothing: not for the stage, but for the whole.
    assert made["stage_sum_task_wall_seconds"]["normalize"] is None
    assert made["sum_task_wall_seconds_total"] == 19.211


def test_a_second_pipeline_is_no_retry() -> None:
    jobs = again(tree("healthy"), "normalize-feb60aff-p0-a0", "succeeded", "normalize-aaaaaaaa-p0-a0")
    assert report(ferry("healthy", tree=jobs), AT)["stage_wall_seconds"]["normalize"] == 8.816
    jobs = again(tree("healthy"), "normalize-feb60aff-p0-a0", "killed", "normalize-feb60aff-p1-a0")
    assert report(ferry("healthy", tree=jobs), AT)["stage_wall_seconds"]["normalize"] == 8.816


def test_a_later_zephyr_leaves_its_good_coordinator_killed() -> None:
    jobs = tree("later")
    made = report(ferry("healthy", tree=jobs, expected_steps=("normalize",)), AT)
    assert made["stage_wall_seconds"] == {"normalize": 89.33}
    assert made["status"] == "succeeded"
    jobs = again(jobs, "79153c99-coordinator-723f8b4d", "killed", "aaaaaaaa-coordinator-bbbbbbbb")
    assert report(ferry("healthy", tree=jobs), AT)["stage_wall_seconds"]["normalize"] == 90.33


def test_levanters_cache_is_part_of_tokenizing() -> None:
    jobs = again(tree("healthy"), "tokenize-train-09eb76a6-p0-a0", "succeeded", "levanter-cache-copy-0a-p0-a0")
    assert report(ferry("healthy", tree=jobs), AT)["stage_wall_seconds"]["tokenize"] == 8.831


def test_a_child_of_no_known_step_is_said_and_not_counted() -> None:
    jobs = again(tree("healthy"), "zephyr-normalize-feb60aff-p0-a0", "succeeded", "zephyr-quality-0a-p0-a0")
    made = report(ferry("healthy", tree=jobs), AT)
    assert made["stage_wall_seconds"] == {"download": 9.22, "normalize": 7.816, "tokenize": 7.831}
    assert made["warnings"] == ["child jobs of no known step are not counted: zephyr-quality-0a-p0-a0"]


def test_preemptions_are_counted_over_the_tree_and_said() -> None:
    jobs = tree("healthy")
    jobs[2] = replace(jobs[2], preemption_count=2, task_state_counts={"succeeded": 1, "preempted": 2})
    made = report(ferry("healthy", tree=jobs), AT)
    assert made["preemption_count"] == 2
    assert made["task_state_counts"] == {"succeeded": 7, "preempted": 2}
    assert made["warnings"] == ["task_state_counts.preempted > 0: stage durations may be split across attempts"]


def test_memory_peaks_and_lost_attempts_of_tasks_that_got_through_count() -> None:
    of = ferry("healthy")
    worker = leaves(of.root, of.tree)[-1]
    ((task,), tasks) = of.tasks[worker], dict(of.tasks)
    retried = (Attempt("worker_failed", 1795235586000, 1795235586500), *task.attempts)
    tasks[worker] = [replace(task, peak_memory_mb=3456, attempts=retried)]
    made = report(replace(of, tasks=tasks), AT)
    assert made["peak_worker_memory_mb"] == 3456
    assert made["stage_sum_task_wall_seconds"]["tokenize"] == 6.565


def test_a_launcher_without_a_duration_has_no_total() -> None:
    of = ferry("healthy")
    running = replace(of.tasks["/gate/healthy"][0], finished_ms=None)
    made = report(replace(of, tasks={**of.tasks, "/gate/healthy": [running]}), AT)
    assert made["wall_seconds_total"] is None
    assert made["warnings"] == ["wall_seconds_total: the launcher task has no duration"]


@pytest.mark.parametrize(
    ("root", "said", "status", "warned"),
    [
        ("succeeded", b'{"status": "succeeded"}', "succeeded", []),
        ("failed", b'{"status": "failed"}', "failed", []),
        ("killed", b'{"status": "succeeded"}', "killed", ["the status file says succeeded, but the job ended killed"]),
        ("succeeded", b'{"status": "failed"}', "failed", ["the job succeeded, but its status file says failed"]),
        ("succeeded", b"", "succeeded", ["status file not JSON; marin_prefix unset"]),
        ("succeeded", b'{"status": {"succeeded": 1}}', "succeeded", []),
    ],
)
def test_the_status_file_can_make_the_end_worse_never_better(
    root: str, said: bytes, status: str, warned: list[str]
) -> None:
    jobs = tree("cached")
    jobs[0] = replace(jobs[0], state=root)
    made = report(ferry("cached", tree=jobs, root=jobs[0], status=parse(said), expected_steps=()), AT)
    assert (made["status"], made["warnings"]) == (status, warned)
