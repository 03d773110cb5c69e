"""Iris as the gate uses it: one object that submits, looks up, watches, collects and stops ferries."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from bot.config.schema import Gate, IrisFlags
from bot.faults import Fault
from bot.iris import causes, collector_script, commands, names, status_file, submit, watch
from bot.iris.collect import Ferry, leaves, report, status_of
from bot.iris.collector_script import NoReport
from bot.iris.command_line import CommandLineTransport
from bot.iris.commands import CommandState
from bot.iris.controller import Absent, Controller, Found, Transport, Unknown
from bot.iris.http import HttpTransport
from bot.iris.look import Seen, WantsThreads, look_at
from bot.iris.process import Cage
from bot.iris.records import Job, Task, Worker
from bot.iris.settings import IrisSettings
from bot.iris.submit import Refused, Submitted
from bot.watching.cause import Cause
from bot.watching.look import Machine

_log = logging.getLogger(__name__)

_CALLS_AT_ONCE = 4
_CAUSE_LINES = 300
# Of one pipeline after another; they run on the same machines.
_MOST_POOLS = 6


class Iris:
    """One cluster. Expected outcomes are values; what goes wrong on the way is a Fault."""

    def __init__(self, settings: IrisSettings, controller: Controller, now: Callable[[], datetime], cage: Cage) -> None:
        self._settings = settings
        self._controller = controller
        self._now = now
        self._cage = cage

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: IrisSettings, now: Callable[[], datetime], cage: Cage) -> AsyncIterator[Iris]:
        """Connect over HTTP where an address is configured, else through the iris program."""
        async with aiohttp.ClientSession() as session:
            transport: Transport = CommandLineTransport(settings)
            if settings.controller_url is not None:
                transport = HttpTransport(
                    session,
                    settings.controller_url,
                    timeout=settings.call_timeout,
                    log_server_url=settings.log_server_url,
                )
            yield cls(settings, Controller(transport), now, cage)

    def job_id(self, name: str) -> str:
        """The id that a job submitted under this name has."""
        return names.job_id(self._settings.user, name)

    def status_path(self, name: str) -> str:
        return names.status_path(self._settings.status_prefix, name)

    async def look_up(self, name: str) -> Found | Absent | Unknown:
        """Whether a job of this name exists, in whatever state. Only Absent may be followed by a submission."""
        return await self._controller.look_up(self.job_id(name))

    async def submit(self, gate: Gate, name: str, tree: Path) -> Submitted | Refused:
        """Run the gate's ferry from the pristine tree. Raises a retryable Fault in doubt: look up again."""
        return await submit.submit(self._settings, self._cage, gate, name, tree)

    async def workers(self) -> list[Worker]:
        """The cluster's machines that are registered now."""
        return await self._controller.workers()

    async def submit_command(
        self, name: str, words: Sequence[str], shape: IrisFlags, within: timedelta, tree: Path
    ) -> Submitted | Refused:
        """Run one command in the pristine tree as a job of its own. A retryable Fault in doubt: look up again."""
        return await commands.submit(self._settings, self._cage, name, words, shape, within, tree)

    async def command_state(self, job_id: str) -> CommandState | Absent:
        """How such a job is doing."""
        return await commands.state(self._controller, job_id)

    async def look(self, job_id: str, expected_steps: Sequence[str], wants_threads: WantsThreads) -> Seen | Absent:
        """How the ferry is doing, with the evidence. `wants_threads` says whether a look deserves a thread dump."""
        return await look_at(self._controller, job_id, expected_steps, self._now(), wants_threads)

    async def collect(
        self, job_id: str, gate: Gate, name: str, commit_sha: str, trusted: Path | None = None
    ) -> str | Absent:
        """The perf report's JSON text of an ended ferry, or Absent.

        With the repository's own collector where the trusted checkout has one, else from the tree, the tasks and the
        status file. A collector that gives no report is said in the report's warnings.
        """
        tree = await self._controller.jobs(job_id)
        root = _root(tree, job_id)
        if root is None:
            return Absent(job_id)
        status_path = self.status_path(name)
        status = await status_file.read(status_path)
        theirs = None
        if trusted is not None:
            theirs = await collector_script.collect(self._settings, self._cage, trusted, job_id, status_path)
        if isinstance(theirs, dict):
            return _dump(_completed(theirs, root, status, gate, commit_sha))
        tasks = await self._tasks(leaves(root, tree))
        ferry = Ferry(root, tree, tasks, status, gate.expected_steps, gate.ferry_module, commit_sha)
        ours = report(ferry, self._now())
        if isinstance(theirs, NoReport):
            ours["warnings"].append(f"{collector_script.SCRIPT.name} {theirs.reason}; collected natively")
        return _dump(ours)

    async def jobs(self, job_id: str) -> list[Job]:
        """A job and all below it, by the time of submission."""
        return await self._controller.jobs(job_id)

    async def log(self, job_id: str, substring: str, most_lines: int) -> Sequence[str]:
        """The last lines of a job and all below it that contain this, in order of time."""
        return await self._controller.logs(job_id, substring, most_lines)

    async def cause(self, job_id: str) -> Cause | None:
        """Why a ferry ended badly, or lost workers on its way: the first failure with its task's own log lines.

        None where the controller does not know the job any more.
        """
        tree = await self._controller.jobs(job_id)
        root = _root(tree, job_id)
        if root is None:
            return None
        failure = causes.first_failure(root, await self._tasks(causes.worth_asking(root, tree)))
        lines: Sequence[str] = ()
        if failure is not None:
            try:
                lines = await self._controller.task_log(failure.task_id, _CAUSE_LINES)
            except Fault as error:
                # What Iris says of the task is the cause; its log only shows it.
                _log.info("no log of a failed task", extra={"job_id": failure.task_id, "error": str(error)})
        return causes.cause(root, failure, lines)

    async def machines(self, job_id: str) -> tuple[Machine, ...]:
        """The kinds of machine that a job's workers ran on, as far as the controller still knows; never raises."""
        try:
            tree = await self._controller.jobs(job_id)
            pools = [job.id for job in tree if watch.is_pool(job)][-_MOST_POOLS:]
            return watch.machines(await self._tasks(pools), await self._controller.workers()) if pools else ()
        except Fault as error:
            _log.info("machines are unknown", extra={"job_id": job_id, "error": str(error)})
            return ()

    async def state(self, job_id: str) -> Found | Absent | Unknown:
        """What has become of a job."""
        return await self._controller.look_up(job_id)

    async def stop(self, job_id: str) -> bool:
        """Stop the ferry with all its jobs; False when there is none. Stopping an ended one changes nothing."""
        return await self._controller.terminate(job_id)

    async def _tasks(self, job_ids: Sequence[str]) -> dict[str, list[Task]]:
        slots = asyncio.Semaphore(_CALLS_AT_ONCE)

        async def one(job_id: str) -> list[Task]:
            async with slots:
                return await self._controller.tasks(job_id)

        try:
            async with asyncio.TaskGroup() as group:
                calls = {job_id: group.create_task(one(job_id)) for job_id in job_ids}
        except ExceptionGroup as failed:
            # The others are cancelled by then; whoever performs this effect knows faults, not groups.
            raise failed.exceptions[0] from None
        return {job_id: call.result() for job_id, call in calls.items()}


def _root(tree: Sequence[Job], job_id: str) -> Job | None:
    return next((job for job in tree if job.id == job_id), None)


def _completed(
    theirs: dict[str, Any], root: Job, status: status_file.StatusFile, gate: Gate, commit_sha: str
) -> dict[str, Any]:
    """Their report, with the end the root job had and what the script cannot know outside a workflow."""
    warnings = [str(warning) for warning in theirs.get("warnings") or ()]
    return theirs | {
        "status": status_of(root, status, warnings),
        "ferry_module": theirs.get("ferry_module") or gate.ferry_module,
        "commit_sha": theirs.get("commit_sha") or commit_sha,
        "warnings": warnings,
    }


def _dump(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2)
