"""The look over HTTP: what is asked for, and that no missing evidence ends the watch."""

from __future__ import annotations

import asyncio
import base64
from datetime import timedelta
from typing import Any

import pytest

from bot.faults import Fault
from bot.iris.controller import Absent, Controller, NotFound
from bot.iris.look import Seen, look_at
from bot.iris.records import Json
from bot.watching.look import Look, Machine, Threads
from tests.iris.clusters import now
from tests.iris.recorded import FIXTURES, load

JOB = "/gate/healthy"
STEPS = ("download", "normalize")


class Cluster:
    """Answers from recordings, in the middle of the healthy ferry's first stage; `broken` methods fault, `hanging`
    ones never answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken: set[str] = set()
        self.hanging: set[str] = set()
        self.jobs = [job for job in load("healthy", "jobs.json")["jobs"] if "normalize" not in job["jobId"]]
        self.jobs = [job for job in self.jobs if "tokenize" not in job["jobId"]]
        for job in self.jobs:
            job["state"] = "JOB_STATE_RUNNING"
            job["taskStateCounts"] = {"running": 1}
            del job["finishedAt"]

    async def call(self, method: str, body: Json) -> Json:
        self.asked.append(method)
        if method in self.hanging:
            await asyncio.Event().wait()
        if method in self.broken:
            raise Fault("Iris could not answer", method, retryable=True)
        if method == "ListJobs":
            return {"jobs": self.jobs, "totalCount": len(self.jobs), "hasMore": False}
        if method == "ListTasks":
            tasks: dict[str, Any] = load("healthy", "tasks.json")[body["jobId"]]
            return tasks
        if method == "ListWorkers":
            workers: dict[str, Any] = load("workers", "local.json")
            workers["workers"][0]["workerId"] = load("healthy", "tasks.json")[JOB]["tasks"][0]["attempts"][0][
                "workerId"
            ]
            return workers
        if method == "ProfileTask":
            dump = (FIXTURES / "threads" / "coordinator.txt").read_bytes()
            return {"profileData": base64.b64encode(dump).decode(), "error": ""}
        raise NotFound(method)

    async def logs(self, job_id: str, substring: str, most_lines: int) -> list[str]:
        if "logs" in self.broken:
            raise Fault("Iris' logs could not be read", job_id, retryable=True)
        noise = ["pull_task: 3 complete, nothing to do", "registered worker 2"]
        return [*(entry["data"] for entry in load("ferry-r1", "logs.json")["entries"]), *noise]

    async def task_log(self, task_id: str, most_lines: int) -> list[str]:
        raise NotFound(task_id)


async def looked(cluster: Cluster, *, threads: bool = False) -> Seen:
    seen = await look_at(Controller(cluster), JOB, STEPS, now(), lambda look: threads)
    assert isinstance(seen, Seen)
    return seen


async def test_a_look_with_all_its_evidence() -> None:
    seen = await looked(Cluster(), threads=True)
    look = seen.look
    assert [(step.name, step.state) for step in look.steps] == [("download", "running"), ("normalize", "waiting")]
    assert [(one.done, one.total) for one in look.shards] == [(6, 24)]
    assert (look.coordinators, look.workers) == (1, 1)
    assert look.machines == (Machine("cpu (16 CPUs, 1000 GiB)"),)
    assert isinstance(look.threads, Threads)
    assert look.threads.waits_for_stage
    # A flood of other lines leaves no trace in the excerpt.
    assert 0 < len(look.lines) <= 8
    assert all("in-flight" in line for line in look.lines)


async def test_threads_are_asked_for_only_when_they_are_wanted() -> None:
    cluster = Cluster()
    assert (await looked(cluster)).look.threads is None
    assert "ProfileTask" not in cluster.asked


@pytest.mark.parametrize("broken", ["ListTasks", "ListWorkers", "ProfileTask"])
async def test_missing_evidence_says_less(broken: str) -> None:
    cluster = Cluster()
    cluster.broken.add(broken)
    look = (await looked(cluster, threads=True)).look
    assert [(one.done, one.total) for one in look.shards] == [(6, 24)]
    assert (look.machines == ()) is (broken != "ProfileTask")
    assert (look.threads is None) is (broken == "ProfileTask")


@pytest.mark.parametrize("hanging", ["ListTasks", "ProfileTask"])
async def test_evidence_that_never_comes_is_done_without(monkeypatch: pytest.MonkeyPatch, hanging: str) -> None:
    cluster = Cluster()
    cluster.hanging.add(hanging)
    bound = "_EVIDENCE_WITHIN" if hanging == "ListTasks" else "_THREADS_WITHIN"
    monkeypatch.setattr(f"bot.iris.look.{bound}", timedelta(0))
    # The machine of a stalled ferry's coordinator may be dead: its dump never comes, and the stall must be told.
    seen = (await looked(cluster, threads=True)).look
    assert (seen.coordinators, seen.sees_logs) == (1, True)
    assert (seen.threads is None) is (hanging == "ProfileTask")


async def test_a_look_without_logs_knows_that_it_is_blind() -> None:
    cluster = Cluster()
    cluster.broken.add("logs")
    look = (await looked(cluster)).look
    assert (look.sees_logs, look.shards, look.lines) == (False, (), ())


async def test_without_a_tree_there_is_no_look() -> None:
    cluster = Cluster()
    cluster.broken.add("ListJobs")
    with pytest.raises(Fault, match="could not answer"):
        await looked(cluster)
    assert await look_at(Controller(Cluster()), "/gate/nobody", STEPS, now(), bool) == Absent("/gate/nobody")


async def test_an_ended_ferry_is_asked_nothing_more() -> None:
    cluster = Cluster()
    cluster.jobs = load("healthy", "jobs.json")["jobs"]
    look: Look = (await looked(cluster, threads=True)).look
    assert (look.state, look.threads, look.shards) == ("succeeded", None, ())
    assert cluster.asked == ["ListJobs"]
