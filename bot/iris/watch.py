"""What a look at a ferry is made of, from the job tree, the tasks of its worker pools and its coordinators' logs: pure.

Only the latest attempts are looked at. A coordinator of an earlier attempt may run on when its workers are long gone
(seed 000): it is named, and otherwise ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from bot.iris.poll import FerryStatus
from bot.iris.progress import ShardProgress
from bot.iris.records import Job, Task, Worker
from bot.iris.steps import Pipeline, latest_attempts, pipeline
from bot.watching.look import LONGEST_LINE, MOST_LINES, Look, Machine, Shards, Step, WorkerFailure

_POOL = re.compile(r"-workers(-|$)")
_COORDINATOR = re.compile(r"-coord$")
_NUMBER = re.compile(r"-?p(\d+)-")
# What differs between two words of one error: addresses, shard numbers, byte counts.
_VARIABLE = re.compile(r"0x[0-9a-fA-F]+|\d+")
_FAILED = frozenset({"failed", "worker_failed"})
# Iris says so for many reasons of its own (seed 000): it is nobody's error and no human's doing.
_SAYS_NOTHING = "Terminated by user"
_LONGEST_REASON = 300
_LONGEST_ERROR = 1500
_GIB = 1024**3


class Parts(msgspec.Struct, frozen=True):
    """The ferry's working parts: `coordinators` that run, each with its pipeline's job, their `pools`, `stale` ones.

    `failed_pools` are pools, also of attempts that were given up, in which tries of workers failed.
    """

    coordinators: Mapping[str, str]
    pools: tuple[Job, ...]
    failed_pools: tuple[Job, ...]
    stale: tuple[str, ...]


def parts(root: Job, tree: Sequence[Job]) -> Parts:
    found = [item for job in tree if (item := pipeline(root.id, job)) is not None]
    current, superseded = latest_attempts(found)
    coordinators: dict[str, str] = {}
    stale = [item.job.id for item in superseded if item.job.state == "running"]
    for item in current:
        if item.job.state != "running":
            continue
        if _left_over(item, current, tree):
            stale.append(item.job.id)
            continue
        mine, old = _coordinators_of(item, tree)
        coordinators |= dict.fromkeys(mine, item.job.id)
        stale += old
    pools = [job for job in tree if is_pool(job) and any(_belongs(job, c) for c in coordinators)]
    failed = [job for job in tree if is_pool(job) and job.failure_count > 0]
    return Parts(coordinators, tuple(job for job in pools if not job.terminal), tuple(failed), tuple(sorted(stale)))


def without_stale(tree: Sequence[Job], stale: Collection[str]) -> list[Job]:
    """The tree without left-over coordinators and all below them."""
    return [job for job in tree if not any(job.id == one or job.id.startswith(f"{one}/") for one in stale)]


def _left_over(item: Pipeline, others: Iterable[Pipeline], tree: Sequence[Job]) -> bool:
    """Another attempt of this pipeline came later, and this one has no worker left. With workers it is one of several
    pipelines of its step that run beside each other."""
    later = [
        other
        for other in others
        if (other.prefix, other.number) == (item.prefix, item.number)
        and other.context != item.context
        and (other.job.submitted_ms or 0) > (item.job.submitted_ms or 0)
    ]
    pools = [job for job in tree if is_pool(job) and _belongs(job, item.job.id)]
    return bool(later) and bool(pools) and all(job.terminal for job in pools)


def _coordinators_of(item: Pipeline, tree: Sequence[Job]) -> tuple[list[str], list[str]]:
    """(the coordinators that count, left-over ones): the job itself, or the running `-coord` jobs below it."""
    below = [job for job in tree if job.id.startswith(f"{item.job.id}/") and _COORDINATOR.search(job.id)]
    running = sorted((job for job in below if job.state == "running"), key=lambda job: job.submitted_ms or 0)
    if not below:
        return [item.job.id], []
    newest = {_pipeline_number(job): job.id for job in running}
    return list(newest.values()), [job.id for job in running if job.id not in newest.values()]


def _pipeline_number(job: Job) -> str:
    match = _NUMBER.search(job.id.rpartition("/")[2])
    return match[1] if match else ""


def is_pool(job: Job) -> bool:
    """Whether its tasks are the workers of a pipeline."""
    return _POOL.search(job.id.rpartition("/")[2]) is not None


def _belongs(pool: Job, coordinator: str) -> bool:
    """A pool is below its coordinator, or beside it under the same name with another ending."""
    stem = coordinator.removesuffix("-coord")
    return pool.id.startswith(f"{coordinator}/") or (stem != coordinator and pool.id == f"{stem}-workers")


def assemble(
    status: FerryStatus,
    tree: Sequence[Job],
    found: Parts,
    shards: Mapping[str, ShardProgress],
    lines: Sequence[str],
    tasks: Mapping[str, Sequence[Task]],
    workers: Sequence[Worker],
    *,
    sees_logs: bool,
) -> Look:
    """One look. `shards` by coordinator, `lines` their last progress, `tasks` by pool, `workers` the cluster's."""
    counts = [job.task_state_counts or {} for job in found.pools]
    return Look(
        state=status.state,
        started_at=status.started_at,
        steps=tuple(Step(stage.name, stage.state, round(stage.seconds, 1)) for stage in status.stages),
        coordinators=len(found.coordinators),
        workers=sum(count.get("running", 0) for count in counts),
        workers_waiting=sum(count.get(state, 0) for count in counts for state in ("pending", "building", "assigned")),
        stale=tuple(_name(job_id) for job_id in found.stale),
        sees_logs=sees_logs,
        shards=tuple(_shards(job_id, one) for job_id, one in shards.items()),
        lines=tuple(line.strip()[:LONGEST_LINE] for line in lines[-MOST_LINES:]),
        reasons=_reasons(status, tree),
        failure=worker_failure(tasks),
        machines=machines(tasks, workers),
    )


def _reasons(status: FerryStatus, tree: Sequence[Job]) -> tuple[str, ...]:
    if status.terminal:
        return ()
    given = [job.pending_reason for job in tree if job.pending_reason and not job.terminal]
    return tuple(dict.fromkeys(reason[:_LONGEST_REASON] for reason in given))


def _shards(job_id: str, one: ShardProgress) -> Shards:
    return Shards(
        _name(job_id),
        one.stage,
        one.done,
        one.total,
        one.in_flight,
        one.queued,
        one.workers_alive,
        one.workers,
        one.workers_dead,
    )


def worker_failure(tasks: Mapping[str, Sequence[Task]]) -> WorkerFailure | None:
    """The error that most tries of workers failed with, numbers aside. Preemption is churn, no failure of theirs."""
    counts: dict[str, int] = {}
    latest: dict[str, tuple[str, str]] = {}
    for job_id, of_pool in tasks.items():
        for attempt in (attempt for task in of_pool for attempt in task.attempts):
            error = attempt.error.strip()
            if attempt.state not in _FAILED or not error or error == _SAYS_NOTHING or "preempt" in error.lower():
                continue
            kind = _VARIABLE.sub("N", error.splitlines()[-1])
            counts[kind] = counts.get(kind, 0) + 1
            latest[kind] = error, job_id
    if not counts:
        return None
    most = max(counts, key=lambda kind: counts[kind])
    error, job_id = latest[most]
    return WorkerFailure(error[-_LONGEST_ERROR:], counts[most], job_id)


def machines(tasks: Mapping[str, Sequence[Task]], workers: Sequence[Worker]) -> tuple[Machine, ...]:
    """The kinds of machine that these tasks ran on, as far as the controller knows them."""
    ids = {attempt.worker_id for of_pool in tasks.values() for task in of_pool for attempt in task.attempts}
    found = {_machine(worker) for worker in workers if worker.id in ids}
    return tuple(sorted(found - {Machine()}))


def _machine(worker: Worker) -> Machine:
    sizes = []
    if worker.cpus:
        sizes.append(f"{worker.cpus} CPUs")
    if worker.memory_bytes:
        sizes.append(f"{round(worker.memory_bytes / _GIB)} GiB")
    size = f"({', '.join(sizes)})" if sizes else ""
    return Machine(" ".join(filter(None, (worker.scale_group, worker.device, size))), worker.zone, worker.region)


def _name(job_id: str) -> str:
    return job_id.rpartition("/")[2]
