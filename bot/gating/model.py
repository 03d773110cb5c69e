"""The aggregate: a pull request with its current run. Frozen values; the stored form is their JSON.

Times are aware UTC datetimes, durations seconds, SHAs full 40-digit hex, reports the JSON text as collected.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from bot.assessment.model import Assessment
from bot.gating.marks import Check, Notice, Press
from bot.gating.seen import StageProgress, Told
from bot.gating.states import RunState
from bot.gating.tested import FailedCommand
from bot.gating.words import Consent, Correction, Exclusion, FormerVerdict, Handover, Held, MaxGate
from bot.parity.model import Parity
from bot.verdict.model import Judgement
from bot.verdict.past import PastRun
from bot.watching.cause import Cause
from bot.watching.look import Machine
from bot.watching.outlook import Outlook
from bot.watching.queue import Queue
from bot.watching.vitals import Vitals


class Place(msgspec.Struct, frozen=True):
    """Which pull request, and through which installation it is reached."""

    installation_id: int
    repository_id: int
    full_name: str
    number: int
    author: str

    @property
    def key(self) -> str:
        return f"{self.repository_id}/{self.number}"


class GatePlan(msgspec.Struct, frozen=True):
    """What the state machine needs of a gate's configuration; the whole of it stands in `Run.config`."""

    number: int
    name: str
    wall_seconds: float
    first_check_seconds: float
    check_every_seconds: float
    period_seconds: float
    stall_seconds: float = 1800.0


class Baseline(msgspec.Struct, frozen=True):
    """The scheduled run a gate is compared with, downloaded and pinned before any submit.

    `commits_apart` counts the commits between its SHA and the head's merge base (of which `zephyr_commits_apart` touch
    the gated package), `seconds_apart` is the time between those two; None where git does not know the SHA.
    `source` is where the report was read: the run's artifact, or (for `source_reason`, sentences) the mirror bucket.
    `machines` are the kinds of machine its workers ran on, as far as the controller still knew when it was located.
    """

    run_id: int
    run_url: str
    sha: str
    created_at: datetime
    artifact_id: int
    report: str
    commits_apart: int | None = None
    zephyr_commits_apart: int | None = None
    seconds_apart: float | None = None
    source: Literal["artifact", "mirror"] = "artifact"
    source_reason: str = ""
    machines: tuple[Machine, ...] = ()


class Attempt(msgspec.Struct, frozen=True):
    """One submission of a gate's treatment ferry. `job_name` derives from the pinned ids; `job_id` is Iris' answer.

    `vitals` are how it does and what is remembered between two looks, `outlook` when it may end, `machines` the kinds
    of machine its workers ran on, `queue` who comes first at its tier, `stale` left-over coordinators of its pipelines.
    `told` is what of all this the comment was last written for. `again_because` says why it was submitted after the
    attempt before it (the rest of a sentence about that one), `cause` why it ended badly, where it did. `launches`
    counts what was tried before Iris had the job, `launch_error` says what became of the last.
    """

    number: int
    job_name: str = ""
    job_id: str = ""
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ferry_state: str = ""
    error: str = ""
    pending_reason: str = ""
    progress: tuple[StageProgress, ...] = ()
    report: str = ""
    judgement: Judgement | None = None
    vitals: Vitals = Vitals()
    outlook: Outlook | None = None
    machines: tuple[Machine, ...] = ()
    queue: Queue | None = None
    stale: tuple[str, ...] = ()
    told: Told = Told()
    again_because: str = ""
    cause: Cause | None = None
    launches: int = 0
    launch_error: str = ""


class GateRun(msgspec.Struct, frozen=True):
    """One gate of a run. `history` are the tier's earlier scheduled runs, oldest first: what the noise is told by.

    `former` are the verdicts over the same reports that a later judging replaced, oldest first. `parity` is how its
    launch compares with the baseline's, `continued_by` who let the run climb on over its verdict.
    """

    number: int
    baseline: Baseline | None = None
    attempts: tuple[Attempt, ...] = ()
    history: tuple[PastRun, ...] = ()
    former: tuple[FormerVerdict, ...] = ()
    parity: Parity | None = None
    continued_by: str = ""

    @property
    def attempt(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def judgement(self) -> Judgement | None:
        return self.attempt.judgement if self.attempt else None

    @property
    def can_be_judged_again(self) -> bool:
        return self.judgement is not None and self.baseline is not None


class Resumption(msgspec.Struct, frozen=True):
    """What a run takes over from an ended one of the same head: its answer, and the gates that were climbed.

    `gate` is where it begins, 0 for the first; `advice` is what the assessment came to when the answer was given.
    """

    run_id: str
    head_sha: str
    gate: int
    gates: tuple[GateRun, ...] = ()
    max_gate: MaxGate | None = None
    approved_by: str = ""
    override: str = ""
    exclusions: tuple[Exclusion, ...] = ()
    advice: str = ""


class Run(msgspec.Struct, frozen=True):
    """One climb of the ladder for one head SHA.

    `plan` is the chosen ladder, built from `config`: the repository's configuration as JSON, read from the default
    branch at `config_sha`. `proposed` is the max_gate that the question names, `requested` the one named in the first
    mention (for `requested_reason`; `by_author`: by the pull request's, None: the logins must tell), `max_gate` what
    was let stand; `override` says who changed it and why. `checks`: its repository wants a check run. `called_for`:
    what people were called for, each once. `reason` is the public sentence of an end that needs one. `cluster` is
    another than the usual one, by its name among `clusters`; `retry_asked` is the half of a `retry` that was said,
    `retry_requested_by` who said the whole of it about a ferry, and `retry_cluster` where. `handover` is what runs
    of its commit left to this one, `held` are answers to the question that is on its way.
    """

    id: str
    ordinal: int
    state: RunState
    since: datetime
    asked_by: str
    head_sha: str = ""
    merge_base: str = ""
    base_ref: str = ""
    default_branch: str = ""
    is_fork: bool = False
    config_sha: str = ""
    config: str = ""
    plan: tuple[GatePlan, ...] = ()
    assessment: Assessment | None = None
    proposed: MaxGate = "1"
    requested: MaxGate | None = None
    requested_reason: str = ""
    by_author: bool | None = None
    consent: Consent | None = None
    max_gate: MaxGate | None = None
    override: str = ""
    approved_by: str = ""
    question_id: int = 0
    asked_at: datetime | None = None
    gates: tuple[GateRun, ...] = ()
    corrections: tuple[Correction, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    failed_command: FailedCommand | None = None
    stop_asked_by: str = ""
    stop_requested_by: str = ""
    head_moved_to: str = ""
    reason: str = ""
    checks: bool = True
    called_for: tuple[str, ...] = ()
    base_moved_to: str = ""
    resumes: Resumption | None = None
    clusters: tuple[str, ...] = ()
    cluster: str = ""
    retry_asked: str = ""
    retry_requested_by: str = ""
    retry_cluster: str | None = None
    handover: Handover | None = None
    held: tuple[Held, ...] = ()

    @property
    def gate(self) -> GateRun | None:
        """The gate that runs or ran last."""
        return self.gates[-1] if self.gates else None

    @property
    def attempt(self) -> Attempt | None:
        return self.gate.attempt if self.gate else None

    def excluded_at(self, gate: int) -> tuple[Exclusion, ...]:
        """What does not count at this gate; each stage once."""
        return tuple(one for one in self.exclusions if one.counts_at(gate))

    def excluded_names(self, gate: int) -> tuple[str, ...]:
        return tuple(sorted({one.stage for one in self.excluded_at(gate)}))

    @property
    def judged_gate(self) -> GateRun | None:
        """The highest gate that came to a verdict over two stored reports."""
        return next((gate for gate in reversed(self.gates) if gate.can_be_judged_again), None)

    def gate_of(self, number: int) -> GateRun | None:
        return next((gate for gate in self.gates if gate.number == number), None)

    def plan_of(self, number: int) -> GatePlan:
        return next(plan for plan in self.plan if plan.number == number)


class EarlierRun(msgspec.Struct, frozen=True):
    """What is kept in view of a run that a newer one replaced."""

    id: str
    state: RunState
    head_sha: str
    ended_at: datetime


class PullRequest(msgspec.Struct, frozen=True):
    """The aggregate and unit of serialisation. `place` is None until the first delivery names it.

    `heard` are the ids of the comments that were last heard, so that none is obeyed twice, however often it is told;
    `heard_elsewhere` those of reviews and of comments on the diff, as "review:ID" and "thread:ID". `edits_answered`
    name the same way whose author was told that edits are not run.
    `head_before` is the head that `head_sha` replaced, as its delivery said. `comment_id` and `comment_digest` are the
    canonical comment and what was last written there, `check` is the check run; `notices` are the comments that
    called people, `presses` the buttons that were last pressed; `sequence` numbers effects so that their ids are unique
    for all time. `open_as_of`: GitHub's time of the last that it told of `is_open`. `handovers` are what runs
    left to others of their commits, of the last commits.
    """

    place: Place | None = None
    is_open: bool = True
    head_sha: str = ""
    head_before: str = ""
    run: Run | None = None
    earlier: tuple[EarlierRun, ...] = ()
    comment_id: int = 0
    comment_digest: str = ""
    heard: tuple[int, ...] = ()
    heard_elsewhere: tuple[str, ...] = ()
    edits_answered: tuple[str, ...] = ()
    revision: int = 0
    sequence: int = 0
    check: Check | None = None
    presses: tuple[Press, ...] = ()
    notices: tuple[Notice, ...] = ()
    open_as_of: datetime | None = None
    handovers: tuple[Handover, ...] = ()
