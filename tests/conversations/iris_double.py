"""An Iris controller that a test directs: real HTTP in the recorded shapes, and it counts submissions.

The real cluster is used where the point is Iris (tests/iris, tests/end_to_end); here the point is the conversation.
"""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

THREADS = Path(__file__).parent.parent / "iris" / "fixtures" / "threads"
# Child job names as the datakit ferry's steps have them.
CHILD = {"download": "zephyr-download-hf", "normalize": "zephyr-normalize", "tokenize": "zephyr-tokenize-train"}

CLI = """#!{python}
import json, sys, urllib.request
arguments = sys.argv[1:]
url = arguments[arguments.index("--controller-url") + 1]
body = json.dumps(arguments).encode()
request = urllib.request.Request(url + "/submit", body, {{"Content-Type": "application/json"}})
try:
    print(json.load(urllib.request.urlopen(request))["job_id"])
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
"""


@dataclass
class Work:
    """The stage that runs now, and how its shards and workers do."""

    stage: str
    began: int
    done: int = 0
    total: int = 64
    in_flight: int = 2
    queued: int = 62
    workers: int = 2
    waiting: str = ""
    """Why the workers wait for capacity; empty: they run."""
    errors: tuple[str, ...] = ()
    """What the tries of the first worker ended with so far."""
    zombie: bool = False


@dataclass
class Job:
    """One submitted ferry and what the test made of it. Times in milliseconds since the epoch."""

    id: str
    arguments: list[str]
    environment: dict[str, str]
    state: str = "JOB_STATE_PENDING"
    error: str = ""
    submitted: int = 1_780_000_000_000
    started: int = 0
    finished: int = 0
    stages: dict[str, float] = field(default_factory=dict)
    preemptions: int = 0
    workers_died: str = ""
    """The error of the last stage's workers, killed with exit code 137; empty: they lived."""
    pending: str = ""
    stopping: bool = False
    """Told to stop, and not gone yet."""
    work: Work | None = None
    printed: tuple[str, ...] = ()
    """The lines of a job that is a single command."""


class IrisDouble:
    """`async with IrisDouble(folder) as iris:`; `iris.jobs` are the submissions, `iris.finish(...)` ends the last."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._now = now
        self.machines: list[dict[str, Any]] = []
        self.log: list[str] = []
        self.jobs: dict[str, Job] = {}
        self.submissions = 0
        self.refuse = ""
        self.lose_answers = 0
        self.silent = False
        self.errors: list[int] = []
        self.hangs = 0
        self.hanging = asyncio.Event()
        self.stops_lost = 0
        self.stops_slowly = 0
        self.terminated: list[str] = []
        self.command = folder / "iris" / "bin" / "iris"
        self.command.parent.mkdir(parents=True)
        self.command.write_text(
            CLI.format(python="/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable)
        )
        self.command.chmod(self.command.stat().st_mode | stat.S_IEXEC | stat.S_IXGRP | stat.S_IXOTH)
        application = web.Application(middlewares=[self._silence])
        service = "/iris.cluster.ControllerService"
        application.add_routes(
            [
                web.post("/submit", self._submit),
                web.post(f"{service}/GetJobState", self._get_job_state),
                web.post(f"{service}/ListJobs", self._list_jobs),
                web.post(f"{service}/ListTasks", self._list_tasks),
                web.post(f"{service}/TerminateJob", self._terminate),
                web.post(f"{service}/ListWorkers", self._list_workers),
                web.post(f"{service}/ProfileTask", self._profile_task),
                web.post("/{tail:.*FetchLogs}", self._fetch_logs),
            ]
        )
        self._server = TestServer(application)

    async def __aenter__(self) -> IrisDouble:
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    @property
    def url(self) -> str:
        return str(self._server.make_url("")).rstrip("/")

    @property
    def last(self) -> Job:
        return list(self.jobs.values())[-1]

    # ---- what a test makes happen

    def start(self, **stages: float) -> None:
        """The last job runs; the named stages are done, in seconds."""
        job = self.last
        job.state, job.started, job.stages, job.work = "JOB_STATE_RUNNING", job.submitted + 1000, stages, None

    def at_work(self, stage: str, before: Mapping[str, float] | None = None, **how: Any) -> None:
        """The last job runs this stage, since now where it did not before; `before` are the stages it is done with.

        `how` are fields of `Work`: shards, workers and what is wrong with them.
        """
        job, now = self.last, round(self._now().timestamp() * 1000)
        began = job.work.began if job.work is not None and job.work.stage == stage else now
        if before is not None:
            job.stages = dict(before)
        job.state, job.started, job.work = "JOB_STATE_RUNNING", job.started or now - 1000, Work(stage, began, **how)

    def waits(self, reason: str) -> None:
        """The last job finds no room."""
        self.last.state, self.last.pending = "JOB_STATE_PENDING", reason

    def finish(
        self,
        stages: Mapping[str, float],
        *,
        state: str = "SUCCEEDED",
        error: str = "",
        preemptions: int = 0,
        workers_died: str = "",
    ) -> None:
        """The last job ends after its stages, which took so many seconds; the ferry leaves its status file."""
        self.start(**stages)
        job = self.last
        job.preemptions, job.workers_died = preemptions, workers_died
        job.state, job.error = f"JOB_STATE_{state}", error
        job.finished = job.started + round(1000 * sum(stages.values())) + 2000
        if state == "SUCCEEDED":
            path = Path(job.environment["FERRY_STATUS_PATH"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"status": "succeeded", "marin_prefix": "gs://marin"}))

    def command_is(self, state: str, *printed: str, error: str = "") -> None:
        """The last job, a single command, is in this state, such as RUNNING or FAILED, and printed these lines."""
        job = self.last
        job.state, job.printed, job.error = f"JOB_STATE_{state}", printed, error
        job.started = job.started or round(self._now().timestamp() * 1000)
        if state != "RUNNING":
            job.finished = round(self._now().timestamp() * 1000)

    def vanish(self) -> None:
        """The controller forgets the last job, as after a restart without its database."""
        del self.jobs[self.last.id]

    def plant(self, job_id: str, status_path: str) -> None:
        """A job that nobody saw being submitted: a process that died before it could tell."""
        self.jobs[job_id] = Job(job_id, [], {"FERRY_STATUS_PATH": status_path})

    # ---- what the bot asks

    async def _submit(self, request: web.Request) -> web.Response:
        arguments = await request.json()
        self.submissions += 1
        if self.refuse:
            raise web.HTTPBadRequest(text=self.refuse)
        name = arguments[arguments.index("--job-name") + 1]
        user = arguments[arguments.index("--user") + 1]
        places = [i for i, argument in enumerate(arguments) if argument == "-e"]
        environment = {arguments[i + 1]: arguments[i + 2] for i in places}
        job = Job(f"/{user}/{name}", arguments, environment, submitted=round(self._now().timestamp() * 1000))
        self.jobs[job.id] = job
        if self.lose_answers:
            self.lose_answers -= 1
            raise web.HTTPBadGateway(text="upstream connect error")
        return web.json_response({"job_id": job.id})

    @web.middleware
    async def _silence(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A controller that restarts (its proxy answers for it), answers the next calls with `errors`, or hangs."""
        if self.silent:
            raise web.HTTPServiceUnavailable(text="no healthy upstream")
        if self.errors:
            return web.Response(status=self.errors.pop(0), text="upstream connect error")
        if self.hangs:
            self.hangs -= 1
            self.hanging.set()
            # Nobody hears an answer that comes after all.
            await asyncio.Event().wait()
        return await handler(request)

    async def _get_job_state(self, request: web.Request) -> web.Response:
        ids = (await request.json())["jobIds"]
        for job in (self.jobs[i] for i in ids if i in self.jobs and self.jobs[i].stopping):
            self.stops_slowly -= 1
            if self.stops_slowly < 0:
                job.state, job.error, job.stopping = "JOB_STATE_KILLED", "Terminated by user", False
        return web.json_response({"states": {i: self.jobs[i].state for i in ids if i in self.jobs}})

    async def _list_jobs(self, request: web.Request) -> web.Response:
        prefix = (await request.json())["query"].get("jobIdPrefix", "")
        rows = [row for job in self.jobs.values() if job.id.startswith(prefix) for row in tree(job)]
        return web.json_response({"jobs": rows, "totalCount": len(rows), "hasMore": False})

    async def _list_tasks(self, request: web.Request) -> web.Response:
        wanted = (await request.json())["jobId"]
        rows = [row for job in self.jobs.values() for row in tree(job) if row["jobId"] == wanted]
        return web.json_response({"tasks": [task(row) for row in rows]})

    async def _terminate(self, request: web.Request) -> web.Response:
        if self.stops_lost:
            self.stops_lost -= 1
            raise web.HTTPServiceUnavailable(text="no healthy upstream")
        job = self.jobs.get((await request.json())["jobId"])
        if job is None:
            return web.json_response({"code": "not_found", "message": "Job not found"}, status=404)
        self.terminated.append(job.id)
        if not job.finished and self.stops_slowly:
            job.stopping = True
        elif not job.finished:
            job.state, job.error = "JOB_STATE_KILLED", "Terminated by user"
        return web.json_response({})

    async def _list_workers(self, request: web.Request) -> web.Response:
        return web.json_response({"workers": self.machines, "totalCount": len(self.machines), "hasMore": False})

    async def _fetch_logs(self, request: web.Request) -> web.Response:
        source = (await request.json())["source"]
        if source.endswith(":"):
            return web.json_response({"entries": [{"data": line} for line in self.log]})
        entries = [
            {"data": progress_line(job.work)}
            for job in self.jobs.values()
            if job.work is not None and source.startswith(f"{job.id}/")
        ]
        entries += [{"data": line} for job in self.jobs.values() if source == f"{job.id}/" for line in job.printed]
        return web.json_response({"entries": entries})

    async def _profile_task(self, request: web.Request) -> web.Response:
        target = (await request.json())["target"]
        (work,) = [job.work for job in self.jobs.values() if job.work is not None and target.startswith(f"{job.id}/")]
        dump = (THREADS / ("zombie.txt" if work.zombie else "coordinator.txt")).read_bytes()
        return web.json_response({"profileData": b64encode(dump).decode(), "error": ""})


def progress_line(work: Work) -> str:
    """As a coordinator of June 2026 writes it."""
    return (
        "I20260620 08:00:00 zephyr.execution [20260620-080000-98a873a3] [stage0-Map → Scatter] "
        f"{work.done}/{work.total} complete, {work.in_flight} in-flight, {work.queued} queued, "
        f"{work.workers}/{work.workers} workers alive, 0 dead; items=4.00K (749.1/s), bytes_processed=1.4 MiB"
    )


def tree(job: Job) -> list[dict[str, Any]]:
    """ListJobs' rows for a job: the launcher, and a coordinator with its workers for each stage."""
    root = row(job.id, job.state, job.started, job.finished, job.error, job.submitted)
    root["preemptionCount"] = job.preemptions
    root["pendingReason"] = job.pending if job.state == "JOB_STATE_PENDING" else ""
    rows, at = [root], job.started
    for stage, seconds in job.stages.items():
        end = at + round(1000 * seconds)
        coordinator = f"{job.id}/{CHILD[stage]}-0123abcd-p0-a0"
        workers = f"{coordinator}/{CHILD[stage]}-0123abcd-p0-workers-a0"
        rows += [row(i, "JOB_STATE_SUCCEEDED", at, end, "", at) for i in (coordinator, workers)]
        at = end
    if job.work is not None and not job.finished:
        rows += at_work(job.id, job.work)
    if job.workers_died:
        # The coordinator of a pipeline that lost its workers fails with them.
        for dead in rows[-2:]:
            dead |= {"state": "JOB_STATE_FAILED", "error": job.workers_died, "taskStateCounts": {"failed": 1}}
        rows[-1]["exitCode"] = 137
    return rows


def at_work(job_id: str, work: Work) -> list[dict[str, Any]]:
    """The running stage's coordinator and its pool."""
    coordinator = f"{job_id}/{CHILD[work.stage]}-0123abcd-p0-a0"
    pool = f"{coordinator}/{CHILD[work.stage]}-0123abcd-p0-workers-a0"
    state = "SUCCEEDED" if work.zombie else "PENDING" if work.waiting else "RUNNING"
    workers = row(pool, f"JOB_STATE_{state}", work.began, work.began + 1 if work.zombie else 0, "", work.began)
    workers["taskStateCounts"] = {state.lower(): work.workers}
    workers |= {"pendingReason": work.waiting, "failureCount": len(work.errors), "errors": work.errors}
    return [row(coordinator, "JOB_STATE_RUNNING", work.began, 0, "", work.began), workers]


def row(job_id: str, state: str, started: int, finished: int, error: str, submitted: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "jobId": job_id,
        "name": job_id,
        "state": state,
        "exitCode": 0,
        "error": error,
        "failureCount": 1 if state == "JOB_STATE_FAILED" else 0,
        "preemptionCount": 0,
        "submittedAt": {"epochMs": str(submitted)},
        "taskStateCounts": {state.removeprefix("JOB_STATE_").lower(): 1},
        "taskCount": 1,
        "completedCount": 1 if finished else 0,
        "pendingReason": "",
        "hasChildren": "/zephyr-" not in job_id.rpartition("/")[0],
    }
    if started:
        result["startedAt"] = {"epochMs": str(started)}
    if finished:
        result["finishedAt"] = {"epochMs": str(finished)}
    return result


def task(of: dict[str, Any]) -> dict[str, Any]:
    shared: dict[str, Any] = {
        "workerId": "worker-1",
        "state": of["state"].replace("JOB_", "TASK_"),
        "exitCode": of["exitCode"] or (1 if of["state"] == "JOB_STATE_FAILED" else 0),
        "error": of["error"],
        **{key: of[key] for key in ("startedAt", "finishedAt") if key in of},
    }
    failed = [
        {"attemptId": number, "workerId": "worker-1", "state": "TASK_STATE_FAILED", "exitCode": 1, "error": error}
        for number, error in enumerate(of.get("errors", ()))
    ]
    attempt = {"attemptId": 0, "isWorkerFailure": False, "attemptUid": "0", **shared}
    return {
        "taskId": f"{of['jobId']}/0",
        "workerAddress": "",
        "currentAttemptId": 0,
        "attempts": [*failed, attempt],
        **shared,
    }


def machine(scale_group: str, *, zone: str, cpus: int = 8, gib: int = 32) -> dict[str, Any]:
    """A row of ListWorkers: the machine that every task of this double runs on."""
    attributes = {"scale-group": {"stringValue": scale_group}, "device-variant": {"stringValue": "cpu"}}
    about = {"cpuCount": cpus, "memoryBytes": str(gib * 1024**3), "gceZone": zone, "attributes": attributes}
    return {"workerId": "worker-1", "healthy": True, "metadata": about}
