"""What a look is made of: coordinators, pools, errors and machines out of recorded trees and tasks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.iris import records
from bot.iris.poll import ferry_status
from bot.iris.progress import ShardProgress
from bot.iris.records import Attempt, Job, Task
from bot.iris.watch import assemble, machines, parts, without_stale, worker_failure
from bot.watching.look import Machine, Shards, Step
from tests.iris.clusters import now
from tests.iris.recorded import load, tasks, tree

ROOT = Job("/bot/f", "running", submitted_ms=1, started_ms=2)


def job(name: str, state: str = "running", submitted: int = 10, **fields: object) -> Job:
    return Job(f"/bot/f/{name}", state, submitted_ms=submitted, started_ms=submitted, **fields)  # type: ignore[arg-type]


def test_a_ferry_in_the_middle_of_normalize() -> None:
    jobs = [
        replace(one, state="running", finished_ms=None, task_state_counts={"running": 2})
        if "normalize" in one.id
        else replace(one, state="running", finished_ms=None)
        if one.id.count("/") == 2
        else one
        for one in tree("healthy")
        if "tokenize" not in one.id
    ]
    found = parts(jobs[0], jobs)
    ((coordinator, _),) = found.coordinators.items()
    assert "normalize" in coordinator
    shards = {coordinator: ShardProgress("stage0-Map", 3, 24, 2, 19, 2, 2, 0)}
    status = ferry_status(jobs[0], jobs, now(), expected_steps=("download", "normalize", "tokenize"))
    look = assemble(status, jobs, found, shards, ["a line"], {}, [], sees_logs=True)
    assert (look.coordinators, look.workers, look.workers_waiting, look.waits) == (1, 2, 0, False)
    assert look.shards == (Shards(coordinator.rpartition("/")[2], "stage0-Map", 3, 24, 2, 19, 2, 2, 0),)
    assert [(step.name, step.state) for step in look.steps] == [
        ("download", "done"),
        ("normalize", "running"),
        ("tokenize", "waiting"),
    ]
    assert look.steps[0] == Step("download", "done", 9.2)


def test_several_pipelines_of_a_step_are_normal() -> None:
    """fuzzy_dups runs one pipeline after another: p0, p1, p2, p3 of one context."""
    jobs = [replace(one, state="running") if one.id.endswith("-p3-a0") else one for one in tree("datakit")]
    jobs[0] = replace(jobs[0], state="running")
    found = parts(jobs[0], jobs)
    assert [one.rpartition("/")[2] for one in found.coordinators] == ["zephyr-fuzzy-dups-f94e0e03-p3-a0"]
    assert found.stale == ()


@pytest.mark.parametrize(
    ("coordinator", "pool"),
    [
        (
            "zephyr-normalize-c3f17b03-p0-a0",
            "zephyr-normalize-c3f17b03-p0-a0/zephyr-normalize-c3f17b03-p0-workers-a0",
        ),
        (
            "zephyr-normalize-79153c99-coordinator-723f8b4d",
            "zephyr-normalize-79153c99-coordinator-723f8b4d/zephyr-normalize-79153c99-coordinator-723f8b4d-workers",
        ),
        ("zephyr-normalize-c3f17b03-p0-a0-coord", "zephyr-normalize-c3f17b03-p0-a0-workers"),
    ],
)
def test_the_forms_of_names_below_the_root(coordinator: str, pool: str) -> None:
    found = parts(ROOT, [ROOT, job(coordinator), job(pool)])
    assert list(found.coordinators) == [f"/bot/f/{coordinator}"]
    assert [one.id for one in found.pools] == [f"/bot/f/{pool}"]


def test_the_form_with_a_job_for_the_step_above() -> None:
    step = "zephyr-normalize-c3f17b03"
    jobs = [
        ROOT,
        job(step),
        job(f"{step}/4f1d-p0-a0-coord", submitted=11),
        job(f"{step}/4f1d-p0-a0-workers", "killed", submitted=12),
        job(f"{step}/99ab-p0-a0-coord", submitted=20),
        job(f"{step}/99ab-p0-a0-workers", submitted=21),
    ]
    found = parts(ROOT, jobs)
    assert list(found.coordinators) == [f"/bot/f/{step}/99ab-p0-a0-coord"]
    assert [one.id for one in found.pools] == [f"/bot/f/{step}/99ab-p0-a0-workers"]
    assert found.stale == (f"/bot/f/{step}/4f1d-p0-a0-coord",)


def test_a_left_over_coordinator_of_an_earlier_attempt_is_ignored() -> None:
    old, new = "zephyr-normalize-0000aaaa-p0-a0", "zephyr-normalize-1111bbbb-p0-a0"
    jobs = [
        ROOT,
        job(old, submitted=10),
        job(f"{old}/zephyr-normalize-0000aaaa-p0-workers-a0", "killed", submitted=11, error="Terminated by user"),
        job(new, submitted=30),
        job(f"{new}/zephyr-normalize-1111bbbb-p0-workers-a0", submitted=31),
    ]
    found = parts(ROOT, jobs)
    assert list(found.coordinators) == [f"/bot/f/{new}"]
    assert found.stale == (f"/bot/f/{old}",)
    assert [one.id for one in without_stale(jobs, found.stale)] == ["/bot/f", f"/bot/f/{new}", jobs[-1].id]


def test_two_pipelines_of_one_step_with_workers_are_both_at_work() -> None:
    """A step over several sources runs a context for each, side by side, every one with its own p0."""
    names = ("zephyr-normalize-0000aaaa-p0-a0", "zephyr-normalize-1111bbbb-p0-a0")
    pools = [job(f"{name}/{name.replace('-a0', '-workers-a0')}", submitted=40) for name in names]
    jobs = [ROOT, *(job(name, submitted=10 + index) for index, name in enumerate(names)), *pools]
    found = parts(ROOT, jobs)
    assert list(found.coordinators) == [f"/bot/f/{name}" for name in names]
    assert found.stale == ()


def failing(*errors: str, state: str = "failed") -> dict[str, list[Task]]:
    tries = tuple(Attempt(state, 1, 2, error, "worker-1") for error in errors)
    return {"/bot/f/c/w": [Task("/bot/f/c/w/0", "running", None, "", 1, None, 0, tries)]}


def test_one_error_is_one_whatever_its_numbers() -> None:
    found = worker_failure(failing("ValueError: bad shard 3", "KeyError: x", "ValueError: bad shard 17"))
    assert found is not None
    assert (found.error, found.times, found.job_id) == ("ValueError: bad shard 17", 2, "/bot/f/c/w")


@pytest.mark.parametrize(
    "tries",
    [
        failing("Terminated by user", "Terminated by user"),
        failing("Worker preempted", "Worker preempted"),
        failing("", ""),
        failing("ValueError: x", state="killed"),
        {},
    ],
)
def test_what_is_no_failure_of_the_workers(tries: dict[str, list[Task]]) -> None:
    assert worker_failure(tries) is None


def test_recorded_workers_that_were_killed_did_not_fail() -> None:
    killed = {"/bot/w": [records.task(one) for one in load("ferry-r1", "killed_workers.json")["tasks"]]}
    assert worker_failure(killed) is None
    assert worker_failure(tasks("healthy")) is None


def test_machines_as_far_as_the_controller_knows_them() -> None:
    (local,) = [records.worker(one) for one in load("workers", "local.json")["workers"]]
    ran = {"/bot/w": [Task("/bot/w/0", "running", None, "", 1, None, 0, (Attempt("running", 1, None, "", local.id),))]}
    # A local cluster has no zones, and no controller tells a machine type: the scale group stands for it.
    assert machines(ran, [local]) == (Machine("cpu (16 CPUs, 1000 GiB)", "", ""),)
    somewhere = replace(local, scale_group="cpu-eu", zone="europe-west4-a", region="europe-west4")
    assert machines(ran, [somewhere, replace(somewhere, id="another", zone="us-central1-a")]) == (
        Machine("cpu-eu (16 CPUs, 1000 GiB)", "europe-west4-a", "europe-west4"),
    )
    assert machines(ran, []) == ()
