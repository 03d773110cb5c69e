"""Why tasks failed, from what real clusters said about them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.iris import records
from bot.iris.failures import classify
from bot.iris.records import Task
from tests.iris.recorded import failed_task, load

FAILED = Task("/u/j/0", "failed", 1, "", None, None, 0, ())


@pytest.mark.parametrize(
    ("recording", "bucket"),
    [
        ("exc", "application_failure"),  # RuntimeError, exit code 1
        ("zephyr", "application_failure"),  # a shard's ValueError, told by the launcher
        ("oom", "oom"),  # MemoryError, exit code 1
        ("137", "oom"),  # SIGKILL of a plain process: exit code -9
        ("exit137", "oom"),  # SIGKILL below a shell: exit code 137
    ],
)
def test_recorded_failures(recording: str, bucket: str) -> None:
    assert classify(failed_task(recording)) == bucket


def test_workers_that_were_stopped_did_not_fail() -> None:
    stopped = [records.task(task) for task in load("ferry-r1", "killed_workers.json")["tasks"]]
    assert [task.state for task in stopped] == ["killed", "killed"]
    assert [classify(task) for task in stopped] == [None, None]


@pytest.mark.parametrize(
    ("state", "exit_code", "error", "bucket"),
    [
        ("succeeded", 0, "", None),
        ("running", None, "", None),
        ("preempted", 0, "worker reclaimed", "preempted"),
        ("worker_failed", 0, "VM preempted", "preempted"),
        ("failed", 1, "container OOMKilled", "oom"),
        ("failed", 1, "java: Out of memory", "oom"),
        ("failed", 1, "no room left in the classroom", "application_failure"),
        ("worker_failed", 0, "TPU is in a bad state", "hardware_fault"),
        ("unschedulable", 0, "", "scheduling_timeout"),
        ("failed", 0, "Scheduling timeout exceeded", "scheduling_timeout"),
        ("failed", 1, "requests.exceptions.ReadTimeout: timed out", "application_failure"),
        ("worker_failed", 0, "worker lost", "application_failure"),
        ("cosched_failed", 0, "a sibling failed", "other"),
    ],
)
def test_each_bucket(state: str, exit_code: int | None, error: str, bucket: str | None) -> None:
    assert classify(replace(FAILED, state=state, exit_code=exit_code, error=error)) == bucket
