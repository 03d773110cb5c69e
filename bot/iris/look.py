"""One look at a ferry: the calls behind it, of which only the job tree must be answered.

Logs, tasks, machines and threads are evidence: where they cannot be had, the look says less, and the watch goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from bot.faults import Fault
from bot.iris import progress, threads, watch
from bot.iris.controller import Absent, Controller
from bot.iris.poll import FerryStatus, ferry_status
from bot.iris.progress import ShardProgress
from bot.iris.records import Job, Task, Worker
from bot.iris.watch import Parts
from bot.watching.look import Look, Threads

_log = logging.getLogger(__name__)
T = TypeVar("T")

WantsThreads = Callable[[Look], bool]

_PROGRESS_LINES = 20
# A ferry runs few pipelines at a time; the last ones tell.
_MOST_POOLS = 4
_MOST_COORDINATORS = 4
# The effect that looks has minutes; what evidence is not there by then is done without.
_EVIDENCE_WITHIN = timedelta(seconds=75)
# A dump takes some seconds of a live process; of a dead machine it never comes, and a stalled ferry may sit on one.
_THREADS_WITHIN = timedelta(seconds=30)


class Seen(msgspec.Struct, frozen=True):
    """`status` is the root job's word, `look` all that tells how it is doing."""

    status: FerryStatus
    look: Look


async def look_at(
    controller: Controller, job_id: str, expected: Sequence[str], now: datetime, wants_threads: WantsThreads
) -> Seen | Absent:
    """Absent when the controller answers but no longer knows the job. Raises a Fault when it does not answer."""
    tree = await controller.jobs(job_id)
    root = next((job for job in tree if job.id == job_id), None)
    if root is None:
        return Absent(job_id)
    found = watch.parts(root, tree)
    live = watch.without_stale(tree, found.stale)
    evidence = _Evidence(controller, found)
    if not root.terminal:
        try:
            async with asyncio.timeout(_EVIDENCE_WITHIN.total_seconds()):
                await evidence.gather()
        except TimeoutError:
            evidence.sees_logs = evidence.sees_logs and bool(evidence.shards)
            _log.info("the evidence for a look came too late", extra={"job_id": job_id})
    by_pipeline = {found.coordinators[one]: shards for one, shards in evidence.shards.items()}
    status = ferry_status(root, live, now, expected_steps=expected, shards=by_pipeline)
    look = watch.assemble(
        status,
        live,
        found,
        evidence.shards,
        evidence.lines,
        evidence.tasks,
        evidence.workers,
        sees_logs=evidence.sees_logs,
    )
    if not root.terminal and wants_threads(look):
        look = replace(look, threads=await _threads(controller, found))
    return Seen(status, look)


class _Evidence:
    """What is known besides the tree, filled in as it comes."""

    def __init__(self, controller: Controller, found: Parts) -> None:
        self._controller = controller
        self._found = found
        self.shards: dict[str, ShardProgress] = {}
        self.lines: list[str] = []
        self.tasks: dict[str, Sequence[Task]] = {}
        self.workers: Sequence[Worker] = ()
        self.sees_logs = True

    async def gather(self) -> None:
        for job_id in list(self._found.coordinators)[-_MOST_COORDINATORS:]:
            lines = await _softly(self._controller.logs(job_id, progress.SUBSTRING, _PROGRESS_LINES), job_id)
            if lines is None:
                self.sees_logs = False
                continue
            told = [line for line in lines if progress.parse(line)]
            self.lines += told
            if (latest := progress.latest(told)) is not None:
                self.shards[job_id] = latest
        for pool in _pools(self._found):
            tasks = await _softly(self._controller.tasks(pool.id), pool.id)
            if tasks is not None:
                self.tasks[pool.id] = tasks
        if _any_ran(self.tasks):
            self.workers = await _softly(self._controller.workers(), "workers") or ()


def _pools(found: Parts) -> list[Job]:
    """Pools at work, and those in which something failed; the latest of each."""
    wanted = {job.id: job for job in (*found.failed_pools[-_MOST_POOLS:], *found.pools[-_MOST_POOLS:])}
    return list(wanted.values())


def _any_ran(tasks: Mapping[str, Sequence[Task]]) -> bool:
    return any(attempt.worker_id for of_pool in tasks.values() for task in of_pool for attempt in task.attempts)


async def _threads(controller: Controller, found: Parts) -> Threads | None:
    """The dump of the coordinator that came last; of several, a zombie's. What does not come in time is missing."""
    asked = list(found.coordinators)[-_MOST_COORDINATORS:]
    told: Threads | None = None
    for parsed in await asyncio.gather(*(_dump_of(controller, job_id) for job_id in asked)):
        if parsed is not None and (told is None or not told.zombie):
            told = parsed
    return told


async def _dump_of(controller: Controller, job_id: str) -> Threads | None:
    try:
        async with asyncio.timeout(_THREADS_WITHIN.total_seconds()):
            dump = await _softly(controller.thread_dump(f"{job_id}/0"), job_id)
    except TimeoutError:
        _log.info("a thread dump came too late", extra={"job_id": job_id})
        return None
    return threads.parse(dump, job_id) if dump else None


async def _softly(asking: Awaitable[T], what: str) -> T | None:
    try:
        return await asking
    except Fault as error:
        _log.info("a part of a look is missing", extra={"job_id": what, "error": str(error)})
        return None
