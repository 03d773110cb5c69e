"""The adapter over HTTP, on a recorded ferry."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.faults import Fault
from bot.iris.adapter import Iris
from bot.iris.collector_script import SCRIPT
from bot.iris.controller import Absent
from bot.iris.progress import ShardProgress
from bot.iris.settings import IrisSettings
from tests.iris.clusters import demo_gate, no_threads, open_cage
from tests.iris.recorded import load
from tests.iris.test_collector_script import GOOD

JOB = "/gate/healthy"
NOW = datetime(2026, 11, 21, 4, 33, 0, tzinfo=UTC)


class Recording:
    """A controller that plays a recorded ferry back."""

    def __init__(self) -> None:
        self.jobs: list[dict[str, Any]] = load("healthy", "jobs.json")["jobs"]
        self.logs: list[dict[str, Any]] | None = []
        self.tasks_fail = False
        self.tasks_gone = False

    async def list_jobs(self, request: web.Request) -> web.Response:
        prefix = (await request.json())["query"]["jobIdPrefix"]
        found = [job for job in self.jobs if job["jobId"].startswith(prefix)]
        return web.json_response({"jobs": found, "totalCount": len(found), "hasMore": False})

    async def list_tasks(self, request: web.Request) -> web.Response:
        if self.tasks_gone:
            return web.json_response({"code": "not_found", "message": "no such job"}, status=404)
        if self.tasks_fail:
            return web.json_response({"code": "unavailable"}, status=503)
        return web.json_response(load("healthy", "tasks.json")[(await request.json())["jobId"]])

    async def fetch_logs(self, request: web.Request) -> web.Response:
        return web.Response(status=503) if self.logs is None else web.json_response({"entries": self.logs})


@pytest.fixture
def recording() -> Recording:
    return Recording()


@pytest.fixture
async def iris(recording: Recording, tmp_path: Path) -> AsyncIterator[Iris]:
    application = web.Application()
    service = "/iris.cluster.ControllerService"
    application.router.add_post(f"{service}/ListJobs", recording.list_jobs)
    application.router.add_post(f"{service}/ListTasks", recording.list_tasks)
    application.router.add_post("/{path:.*FetchLogs}", recording.fetch_logs)
    server = TestServer(application)
    await server.start_server()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    settings = IrisSettings(
        tmp_path / "bin" / "iris",
        str(tmp_path / "status"),
        tmp_path / "home",
        controller_url=str(server.make_url("/")),
        user="gate",
    )
    path = tmp_path / "status" / "healthy" / "ferry_run_status.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(load("healthy", "status.json")))
    async with Iris.open(settings, lambda: NOW, open_cage) as iris:
        yield iris
    await server.close()


def running(recording: Recording) -> None:
    """Put the recording back into the middle of its first stage."""
    recording.jobs = [
        job for job in recording.jobs if "normalize" not in job["jobId"] and "tokenize" not in job["jobId"]
    ]
    for job in recording.jobs:
        job["state"] = "JOB_STATE_RUNNING"
        del job["finishedAt"]


async def report(iris: Iris, trusted: Path | None = None) -> dict[str, Any]:
    text = await iris.collect(JOB, demo_gate(), "healthy", "c" * 40, trusted)
    assert isinstance(text, str)
    made: dict[str, Any] = json.loads(text)
    return made


async def test_a_running_stage_shows_its_shards(iris: Iris, recording: Recording) -> None:
    running(recording)
    recording.logs = load("ferry-r1", "logs.json")["entries"]
    seen = await iris.look(JOB, ("download", "normalize"), no_threads)
    assert not isinstance(seen, Absent)
    download, normalize = seen.status.stages
    assert (download.state, download.seconds) == ("running", 13.388)
    assert download.shards == ShardProgress("stage0-Map → Scatter", 6, 24, 2, 16, 2, 2, 0)
    assert (normalize.name, normalize.state) == ("normalize", "waiting")


async def test_a_ferry_is_watched_as_well_without_its_logs(iris: Iris, recording: Recording) -> None:
    running(recording)
    recording.logs = None
    seen = await iris.look(JOB, (), no_threads)
    assert not isinstance(seen, Absent)
    assert [(stage.state, stage.shards) for stage in seen.status.stages] == [("running", None)]


async def test_a_job_the_controller_forgot_is_absent(iris: Iris) -> None:
    assert await iris.look("/gate/nobody", (), no_threads) == Absent("/gate/nobody")
    assert await iris.collect("/gate/nobody", demo_gate(), "nobody", "c" * 40) == Absent("/gate/nobody")


async def test_a_job_that_went_between_two_answers_is_asked_about_again(iris: Iris, recording: Recording) -> None:
    recording.tasks_gone = True
    for asking in (iris.collect(JOB, demo_gate(), "healthy", "c" * 40), iris.cause(JOB), iris.command_state(JOB)):
        with pytest.raises(Fault, match="no longer knows") as raised:
            await asking
        assert raised.value.retryable


async def test_the_report_is_collected_natively(iris: Iris) -> None:
    made = await report(iris)
    assert made["stage_wall_seconds"] == {"download": 9.22, "normalize": 7.816, "tokenize": 7.831}
    assert (made["wall_seconds_total"], made["status"], made["warnings"]) == (32.794, "succeeded", [])
    assert made["collected_at_utc"] == "2026-11-21T04:33:00+00:00"


async def test_tasks_that_cannot_be_read_are_one_fault(iris: Iris, recording: Recording) -> None:
    recording.tasks_fail = True
    with pytest.raises(Fault, match="could not answer") as caught:
        await report(iris)
    assert caught.value.retryable


async def test_the_repositorys_own_collector_is_preferred(iris: Iris, recording: Recording, tmp_path: Path) -> None:
    main = tmp_path / "main"
    (main / SCRIPT).parent.mkdir(parents=True)
    (main / SCRIPT).write_text(GOOD)
    made = await report(iris, main)
    assert made["stage_wall_seconds"] == {"normalize": 12.889}
    assert (made["status"], made["ferry_module"]) == ("succeeded", "experiments.ferries.datakit_ferry")
    assert made["commit_sha"] == "c" * 40
    # It reads the status from the file alone; the root job still decides.
    recording.jobs[-1]["state"] = "JOB_STATE_KILLED"
    made = await report(iris, main)
    assert made["status"] == "killed"
    assert made["warnings"] == ["the status file says succeeded, but the job ended killed"]


async def test_a_collector_that_fails_is_said(iris: Iris, tmp_path: Path) -> None:
    main = tmp_path / "main"
    (main / SCRIPT).parent.mkdir(parents=True)
    (main / SCRIPT).write_text("import sys; sys.exit('no module named iris')")
    made = await report(iris, main)
    assert made["wall_seconds_total"] == 32.794
    assert made["warnings"] == [
        "collect_perf_metrics.py ended with exit code 1: no module named iris; collected natively"
    ]
