"""How a ferry is doing: the root job decides, the children show where it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from msgspec.structs import replace

from bot.iris.poll import FerryStatus, StageProgress, ferry_status
from bot.iris.progress import ShardProgress
from bot.iris.records import Job
from tests.iris.recorded import DEMO_STEPS, tree

SHARDS = ShardProgress("stage0-Map → Scatter", 1, 2, 1, 0, 1, 1, 0)


def at(when_ms: int) -> tuple[Job, list[Job], datetime]:
    """The healthy ferry as it stood at that millisecond."""
    jobs = []
    for job in tree("healthy"):
        if (job.submitted_ms or 0) > when_ms:
            continue
        running = job.finished_ms is None or job.finished_ms > when_ms
        jobs.append(replace(job, state="running", finished_ms=None) if running else job)
    return jobs[0], jobs, datetime.fromtimestamp(when_ms / 1000, UTC)


def test_before_the_first_stage_all_expected_ones_wait() -> None:
    root, jobs, now = at(1795235566000)
    status = ferry_status(root, jobs, now, expected_steps=DEMO_STEPS)
    assert (status.state, status.terminal, status.succeeded) == ("running", False, False)
    assert [(stage.name, stage.state) for stage in status.stages] == [
        ("download", "waiting"),
        ("normalize", "waiting"),
        ("tokenize", "waiting"),
    ]


def test_in_the_middle_of_normalize() -> None:
    root, jobs, now = at(1795235580023)
    (normalize,) = (
        job for job in jobs if job.id.startswith("/gate/healthy/zephyr-normalize") and job.id.count("/") == 3
    )
    status = ferry_status(root, jobs, now, expected_steps=DEMO_STEPS, shards={normalize.id: SHARDS})
    assert status.stages == (
        StageProgress("download", "done", 9.22, 1),
        StageProgress("normalize", "running", 2.0, 1, SHARDS),
        StageProgress("tokenize", "waiting", 0.0),
    )
    assert status.jobs == {"running": 3, "succeeded": 2}
    assert status.finished_at is None


def test_the_end() -> None:
    jobs = tree("healthy")
    status = ferry_status(jobs[0], jobs, datetime.now(UTC), expected_steps=(*DEMO_STEPS, "minhash"))
    assert (status.state, status.terminal, status.succeeded) == ("succeeded", True, True)
    assert [(stage.name, stage.state, stage.seconds) for stage in status.stages] == [
        ("download", "done", 9.22),
        ("normalize", "done", 7.816),
        ("tokenize", "done", 7.831),
    ]
    assert status.submitted_at is not None
    assert status.finished_at is not None
    assert status.finished_at - status.submitted_at == timedelta(milliseconds=32_822)


def test_a_failed_stage_fails_nothing_by_itself() -> None:
    jobs = tree("failed")
    still = replace(jobs[0], state="running", finished_ms=None, error="")
    status = ferry_status(still, [still, *jobs[1:]], datetime.fromtimestamp(1795235617, UTC))
    assert not status.terminal
    assert [(stage.name, stage.state) for stage in status.stages] == [("download", "done"), ("normalize", "failed")]


def test_an_error_is_the_roots_and_is_not_repeated_as_a_pending_reason() -> None:
    jobs = tree("failed")
    status = ferry_status(jobs[0], jobs, datetime.now(UTC))
    assert status.error == "Exit code: 1. stderr: TypeError: scatter key must be an integer, got str"
    assert (status.pending_reason, status.terminal, status.succeeded) == ("", True, False)


def test_a_later_zephyrs_good_coordinator_is_done_although_killed() -> None:
    jobs = tree("later")
    assert ferry_status(jobs[0], jobs, datetime.now(UTC)).stages == (StageProgress("normalize", "done", 89.33, 1),)


def test_a_queue_is_told_in_iris_words() -> None:
    waiting = Job("/gate/x", "pending", pending_reason="Waiting for scale-up", submitted_ms=1795235565383)
    status = ferry_status(waiting, [waiting], datetime.now(UTC))
    assert (status.state, status.pending_reason, status.started_at) == ("pending", "Waiting for scale-up", None)


@pytest.mark.parametrize("state", ["succeeded", "failed", "killed", "worker_failed", "unschedulable"])
def test_terminal_states(state: str) -> None:
    job = Job("/gate/x", state)
    assert ferry_status(job, [job], datetime.now(UTC)).terminal


@pytest.mark.parametrize("state", ["pending", "building", "running", "", "something_new"])
def test_other_states_go_on(state: str) -> None:
    job = Job("/gate/x", state)
    assert not ferry_status(job, [job], datetime.now(UTC)).terminal


def test_a_status_survives_storage() -> None:
    root, jobs, now = at(1795235580023)
    status = ferry_status(root, jobs, now, expected_steps=DEMO_STEPS)
    assert msgspec.json.decode(msgspec.json.encode(status), type=FerryStatus) == status
