"""Why a ferry ended badly: from recorded trees and tasks, and from what happened to them in this order or that."""

from __future__ import annotations

from collections.abc import Sequence

from bot.iris.causes import MOST_JOBS, cause, first_failure, worth_asking
from bot.iris.records import Attempt, Job, Task
from bot.watching.cause import Cause
from tests.iris.recorded import failed_task, tasks, tree

ROOT = Job("/u/f", "failed", error="Exit code: 1. stderr: the pipeline failed")
COORDINATOR, POOL = "/u/f/zephyr-normalize-c3-p0-a0", "/u/f/zephyr-normalize-c3-p0-a0/zephyr-normalize-c3-p0-workers-a0"


def failed(job_id: str, error: str, at: int, *, exit_code: int = 1, state: str = "failed") -> Task:
    return Task(f"{job_id}/0", state, exit_code, error, 1, at, 0, (Attempt(state, 1, at, error, "w", exit_code),))


def why(*found: Task, log: Sequence[str] = ()) -> Cause:
    by_job: dict[str, list[Task]] = {}
    for task in found:
        by_job.setdefault(task.id.rpartition("/")[0], []).append(task)
    return cause(ROOT, first_failure(ROOT, by_job), log)


def test_recorded_ends() -> None:
    for recording, kind, exit_code in (("exc", "application", 1), ("oom", "oom", 1), ("137", "oom", -9)):
        task = failed_task(recording)
        found = cause(ROOT, first_failure(ROOT, {"/u/f": [task]}), ())
        assert (found.kind, found.exit_code, found.task) == (kind, exit_code, task.id)


def test_a_recorded_ferry_whose_pipeline_failed() -> None:
    jobs = tree("failed")
    root = next(job for job in jobs if job.id.count("/") == 2)
    asked = worth_asking(root, jobs)
    assert asked[-1] == root.id
    found = cause(root, first_failure(root, tasks("failed")), ())
    assert found.kind == "application"
    assert found.task.startswith(root.id)


def test_workers_that_ran_out_of_memory_come_before_all_that_follows_from_it() -> None:
    log = ["worker started", "E1121 Out of memory: Killed process 71 (python)", "bye"]
    found = why(
        failed("/u/f", "Exit code: 1. stderr: workers lost", 30),
        failed(COORDINATOR, "Exit code: 1. stderr: OOM in a worker", 20),
        failed(POOL, "Exit code 137: killed by SIGKILL (possibly OOM or resource limit)", 10, exit_code=137),
        log=log,
    )
    assert (found.kind, found.task, found.exit_code) == ("oom", f"{POOL}/0", 137)
    assert found.log == ("E1121 Out of memory: Killed process 71 (python)",)


def test_a_try_that_ran_out_of_memory_counts_although_a_later_one_succeeded() -> None:
    tries = (
        Attempt("failed", 1, 10, "Exit code 137: killed by SIGKILL", "w", 137),
        Attempt("succeeded", 11, 20, "", "w", None),
    )
    found = why(Task(f"{POOL}/0", "succeeded", 0, "", 1, 20, 0, tries))
    assert (found.kind, found.exit_code) == ("oom", 137)


def test_the_deepest_first_error_tells_and_preemption_only_where_nothing_else_does() -> None:
    preempted = failed(POOL, "preempted by a higher priority", 5, state="preempted")
    shard = failed(COORDINATOR, "Exit code: 1. stderr: ValueError: bad shard payload 3", 20)
    launcher = failed("/u/f", "Exit code: 1. stderr: ValueError: bad shard payload 3", 30)
    assert why(preempted, shard, launcher).task == f"{COORDINATOR}/0"
    assert why(preempted).kind == "preempted"


def test_a_lost_machine_is_no_error_of_the_application() -> None:
    assert why(failed(POOL, "worker lost", 5, state="worker_failed")).kind == "hardware"


def test_without_a_failed_task_the_job_itself_tells() -> None:
    killed = Job("/u/f", "killed", error="Terminated by user")
    assert cause(killed, None, ()) == Cause("killed", "Terminated by user")
    waits = Job("/u/f", "unschedulable", pending_reason="no groups in region mars-1")
    assert cause(waits, None, ()) == Cause("unschedulable", "no groups in region mars-1")


def test_of_a_large_tree_the_launcher_is_always_asked() -> None:
    many = [Job(f"/u/f/{number}", "failed", failure_count=1) for number in range(50)]
    asked = worth_asking(ROOT, [ROOT, *many])
    assert (len(asked), asked[-1]) == (MOST_JOBS, ROOT.id)


def test_the_same_error_is_the_same_whatever_it_counts() -> None:
    first = Cause("application", "ValueError: bad shard 3 of run 20261121-0200-d6746b21 at 0x7f3a")
    again = Cause("application", "ValueError: bad shard 17 of run 20261122-1114-aa01cc3e at 0x7e00")
    assert first.same_as(again)
    assert not first.same_as(Cause("application", "ValueError: bad key 3"))
    assert not Cause("oom", "x").same_as(Cause("oom", "x"))
