"""What one look at a ferry saw: values only, from whichever controller answered.

Texts are Iris' and the ferry's own words: hostile, cut to a length, never Markdown.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

LONGEST_LINE = 300
MOST_LINES = 8


class Step(msgspec.Struct, frozen=True):
    """One step of the ferry; `state` is waiting, running, done or failed, `seconds` what its pipelines took so far."""

    name: str
    state: str
    seconds: float


class Shards(msgspec.Struct, frozen=True):
    """How far a running pipeline's current stage is. `pipeline` is its coordinator's name below the root job."""

    pipeline: str
    stage: str
    done: int
    total: int
    in_flight: int
    queued: int
    workers_alive: int
    workers: int
    workers_dead: int


class WorkerFailure(msgspec.Struct, frozen=True):
    """The error that most tries of workers ended with: how often, and in which job last."""

    error: str
    times: int
    job_id: str


class Threads(msgspec.Struct, frozen=True):
    """A thread dump of a coordinator. `pool` counts the threads that serve calls, `idle` those that wait for one.

    `waits_for_stage` and `loops` are the two signs of a coordinator at work: a call in `_wait_for_stage`, and the
    thread of `_coordinator_loop`.
    """

    job_id: str
    total: int
    pool: int
    idle: int
    waits_for_stage: bool
    loops: bool

    @property
    def zombie(self) -> bool:
        """The pipeline has returned, the process has not: every thread of the pool is idle in `_worker` (seed 000)."""
        return not self.waits_for_stage and self.pool > 0 and self.idle == self.pool


class Machine(msgspec.Struct, frozen=True, order=True):
    """A kind of machine that workers ran on; an empty field is unknown."""

    kind: str = ""
    zone: str = ""
    region: str = ""


class Look(msgspec.Struct, frozen=True):
    """`state` is the root job's, lower case.

    `coordinators` counts pipelines of the latest attempts that run; `workers` and `workers_waiting` the tasks of their
    pools; `stale` names coordinators of earlier attempts that still run. `shards` is empty, and `sees_logs` False,
    where the logs could not be read. `lines` are the last progress lines, `reasons` why live jobs of the tree wait.
    """

    state: str
    started_at: datetime | None = None
    steps: tuple[Step, ...] = ()
    coordinators: int = 0
    workers: int = 0
    workers_waiting: int = 0
    stale: tuple[str, ...] = ()
    sees_logs: bool = True
    shards: tuple[Shards, ...] = ()
    lines: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    failure: WorkerFailure | None = None
    threads: Threads | None = None
    machines: tuple[Machine, ...] = ()

    @property
    def waits(self) -> bool:
        """For capacity: the ferry itself, or all the workers of what runs."""
        return self.state in ("pending", "building") or (self.workers_waiting > 0 and self.workers == 0)
