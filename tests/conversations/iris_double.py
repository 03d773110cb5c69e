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
from datetime import datetime
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.conversations.iris_rows import Job, Work, progress_line, task, tree

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

THREADS = Path(__file__).parent.parent / "iris" / "fixtures" / "threads"

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
        self.asked_to_stop: asyncio.Queue[str] = asyncio.Queue()
        self.before: dict[str, Callable[[], Awaitable[None]]] = {}
        """What happens, once, before the next call of this name (such as "submit") is answered."""
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
        if (happens := self.before.pop(request.path.rpartition("/")[2], None)) is not None:
            await happens()
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
        job_id = (await request.json())["jobId"]
        self.asked_to_stop.put_nowait(job_id)
        job = self.jobs.get(job_id)
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
