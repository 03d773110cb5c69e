"""The Iris controller's calls that the gate needs, over whichever transport reaches it."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from bot.faults import Fault
from bot.iris import records
from bot.iris.records import Job, Json, Task, Worker

_Record = TypeVar("_Record")

# The controller's own limits: 500 jobs a page, and no page that begins after 5000.
_PAGE = 500
_LAST_OFFSET = 5000
# Seconds that py-spy samples a process for; one dump is all that is wanted.
_DUMP_SECONDS = 1


class Transport(Protocol):
    """One way to the controller: HTTP, or the iris program where only a cluster config is known."""

    async def call(self, method: str, body: Json) -> Json:
        """Call a ControllerService method. Raises NotFound for its not_found, Fault for anything else."""

    async def logs(self, job_id: str, substring: str, most_lines: int) -> Sequence[str]:
        """The last lines of a job and its descendants that contain `substring`, in order of time."""

    async def task_log(self, task_id: str, most_lines: int) -> Sequence[str]:
        """The last lines of one task, in order of time; of its whole job where the way there knows no tasks."""


class NotFound(Exception):
    """The controller says clearly that there is no such job."""


class Found(msgspec.Struct, frozen=True):
    """The job exists, whatever its state: whoever submitted it, it is ours to adopt."""

    job_id: str
    state: str


class Absent(msgspec.Struct, frozen=True):
    """The controller answered, twice, and knows no such job."""

    job_id: str


class Unknown(msgspec.Struct, frozen=True):
    """Nobody can say now; submitting on such an answer could run the ferry twice."""

    job_id: str
    reason: str


class Controller:
    """Typed calls. What goes wrong is a Fault: an answer of another shape than Iris' too, and a job that went between
    two answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def look_up(self, job_id: str) -> Found | Absent | Unknown:
        """Whether the job exists. Never raises: what cannot be found out is Unknown."""
        try:
            states = (await self._transport.call("GetJobState", {"jobIds": [job_id]})).get("states") or {}
            if isinstance(states, dict) and job_id in states:
                return Found(job_id, records.state_name(states[job_id]))
            # An empty object is also what a bystander on the same address might answer, so a listing must agree: it
            # counts what it found, even when that is nothing.
            listed = [job for job in await self.jobs(job_id) if job.id == job_id]
        except (Fault, NotFound) as error:
            return Unknown(job_id, str(error))
        return Found(job_id, listed[0].state) if listed else Absent(job_id)

    async def jobs(self, root_id: str) -> list[Job]:
        """The root job and all below it, by the time of submission."""
        found: dict[str, Job] = {}
        offset = 0
        while offset <= _LAST_OFFSET:
            query = {"jobIdPrefix": root_id, "limit": _PAGE, "offset": offset}
            answer = records.snake_keys(await self._ask("ListJobs", {"query": query}))
            if "total_count" not in answer:
                raise _misshapen("ListJobs", "no totalCount")
            page = _read("ListJobs", answer.get("jobs"), records.job)
            # A prefix also matches a longer name beside it: /bot/demo1 finds /bot/demo10.
            found |= {job.id: job for job in page if job.id == root_id or job.id.startswith(f"{root_id}/")}
            offset += len(page)
            if not answer.get("has_more") or not page:
                break
        return sorted(found.values(), key=lambda job: (job.submitted_ms or 0, job.id))

    async def tasks(self, job_id: str) -> list[Task]:
        answer = records.snake_keys(await self._ask("ListTasks", {"jobId": job_id}))
        return _read("ListTasks", answer.get("tasks"), records.task)

    async def logs(self, job_id: str, substring: str, most_lines: int) -> Sequence[str]:
        return await self._transport.logs(job_id, substring, most_lines)

    async def task_log(self, task_id: str, most_lines: int) -> Sequence[str]:
        return await self._transport.task_log(task_id, most_lines)

    async def workers(self) -> list[Worker]:
        """The cluster's machines that are registered now."""
        found: list[Worker] = []
        while len(found) <= _LAST_OFFSET:
            query = {"limit": _PAGE, "offset": len(found)}
            answer = records.snake_keys(await self._ask("ListWorkers", {"query": query}))
            page = _read("ListWorkers", answer.get("workers"), records.worker)
            found += page
            if not answer.get("has_more") or not page:
                break
        return found

    async def thread_dump(self, task_id: str) -> str:
        """What every thread of a task's processes does. Raises a Fault where the worker cannot say (no py-spy)."""
        body = {"target": task_id, "durationSeconds": _DUMP_SECONDS, "profileType": {"threads": {}}}
        answer = records.snake_keys(await self._ask("ProfileTask", body))
        if answer.get("error"):
            raise Fault("Iris could not dump threads", str(answer["error"])[:300], retryable=True)
        try:
            return b64decode(str(answer.get("profile_data") or "")).decode("utf-8", "replace")
        except NotBase64 as error:
            raise _misshapen("ProfileTask", str(error)) from error

    async def terminate(self, job_id: str) -> bool:
        """Stop a job with all below it. False when there is no such job; stopping an ended one is no error."""
        try:
            await self._transport.call("TerminateJob", {"jobId": job_id})
        except NotFound:
            return False
        return True

    async def _ask(self, method: str, body: Json) -> Json:
        """For what was listed just now, or belongs to what was: that it is not there proves nothing, and passes."""
        try:
            return await self._transport.call(method, body)
        except NotFound as error:
            raise Fault("Iris no longer knows what it listed just now", f"{method}: {error}", retryable=True) from error


def _read(method: str, items: object, read: Callable[[Json], _Record]) -> list[_Record]:
    if items is None:
        return []
    if not isinstance(items, list):
        raise _misshapen(method, "no list")
    try:
        return [read(item) for item in items]
    except (TypeError, ValueError, AttributeError) as error:
        raise _misshapen(method, str(error)) from error


def _misshapen(method: str, detail: str) -> Fault:
    return Fault("Iris gave an answer that cannot be read", f"{method}: {detail}", retryable=True)
