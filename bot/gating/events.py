"""Everything that can happen to a pull request, as the state machine hears it: a closed union.

Events from effects name the run (and gate, attempt) they belong to; `step` ignores those of a run that is no longer
current, so late and doubled outcomes do no harm.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.assessment.model import Assessment
from bot.conversation.commands import Command, Exclude, Include, Reanalyse
from bot.gating.happenings import Happening
from bot.gating.model import Attempt, Baseline, GatePlan
from bot.gating.tested import FailedCommand
from bot.gating.words import HeardIn
from bot.gating.written import Written
from bot.parity.model import Parity
from bot.verdict.model import Judgement
from bot.verdict.past import PastRun
from bot.watching.cause import Cause
from bot.watching.look import Look
from bot.watching.queue import Queue


class Authorised(msgspec.Struct, frozen=True, tag=True):
    """The permission look-up allows this command; `head_sha` and `base_ref` are the pull request's at that moment.

    `unmoved`: nothing was pushed to where the head comes from since the comment was made, so this head is what it was
    said about. `granted` holds every family of commands that this actor may give: an answer may turn out to be of
    another family than its words say, such as a `go` on a proposed skip. `author` is the login of the pull request's
    author now, `author_id` and `actor_id` are the accounts' ids, which stay when logins change; 0 where not known.
    `as_of`: GitHub's time of the pull request that was looked up; what is told meanwhile may be later than that.
    """

    comment_id: int
    actor: str
    role: str
    command: Command
    head_sha: str
    is_open: bool
    base_ref: str = ""
    granted: tuple[str, ...] = ("go", "override", "skip", "stop")
    heard_in: HeardIn = "comment"
    said_at: datetime | None = None
    unmoved: bool = False
    actor_id: int = 0
    author: str = ""
    author_id: int = 0
    merged: bool = False
    as_of: datetime | None = None


class Denied(msgspec.Struct, frozen=True, tag=True):
    """It does not; `needed` is the least role that may, `role` the one that was looked up."""

    comment_id: int
    actor: str
    needed: str
    role: str = ""
    heard_in: HeardIn = "comment"


class Assessed(msgspec.Struct, frozen=True, tag=True):
    run_id: str
    head_sha: str
    merge_base: str
    base_ref: str
    default_branch: str
    is_fork: bool
    config_sha: str
    config: str
    plan: tuple[GatePlan, ...]
    assessment: Assessment
    checks: bool = True
    clusters: tuple[str, ...] = ()


class CannotAssess(msgspec.Struct, frozen=True, tag=True):
    """No assessment is possible: a broken configuration, no common history. `reason` is a public sentence."""

    run_id: str
    head_sha: str
    reason: str


class Prepared(msgspec.Struct, frozen=True, tag=True):
    run_id: str


class Refused(msgspec.Struct, frozen=True, tag=True):
    """A step of the run found something it must not go on with (an escaping symlink, a bad flag, a missing cage).

    `command` is the preflight's, where one was cut short: its output may tell why.
    """

    run_id: str
    reason: str
    command: FailedCommand | None = None


class PreflightPassed(msgspec.Struct, frozen=True, tag=True):
    run_id: str


class PreflightFailed(msgspec.Struct, frozen=True, tag=True):
    run_id: str
    command: FailedCommand


class PreflightGoesOn(msgspec.Struct, frozen=True, tag=True):
    """The commands (or checks) have not ended yet, somewhere else; to be looked at again in `seconds`."""

    run_id: str
    seconds: float


class BaselineFound(msgspec.Struct, frozen=True, tag=True):
    """`parity`: how the gate's launch compares with the baseline's; `differing_stops`: a difference is not let pass."""

    run_id: str
    gate: int
    baseline: Baseline
    history: tuple[PastRun, ...] = ()
    parity: Parity | None = None
    differing_stops: bool = True


class BaselineMissing(msgspec.Struct, frozen=True, tag=True):
    run_id: str
    gate: int
    reason: str


class SlotGranted(msgspec.Struct, frozen=True, tag=True):
    run_id: str
    gate: int
    attempt: int


class Submitted(msgspec.Struct, frozen=True, tag=True):
    """The ferry's job exists on the cluster: just made, or found and adopted."""

    run_id: str
    gate: int
    attempt: int
    job_id: str


class Unsubmitted(msgspec.Struct, frozen=True, tag=True):
    """A launch came to nothing, or nobody knows to what: the job is looked for before another. `reason` is public."""

    run_id: str
    gate: int
    attempt: int
    reason: str


class Watched(msgspec.Struct, frozen=True, tag=True):
    """One look at the ferry; `seen` carries what the cluster shows now. `ended` once the root job is terminal.

    `look` holds the evidence of how it does; None where nobody asked for it.
    """

    run_id: str
    gate: int
    attempt: int
    seen: Attempt
    ended: bool
    look: Look | None = None


class Unseen(msgspec.Struct, frozen=True, tag=True):
    """Iris did not answer, several times. That says nothing about the ferry. `why`: a sentence, where it is known."""

    run_id: str
    gate: int
    attempt: int
    why: str = ""


class QueueSeen(msgspec.Struct, frozen=True, tag=True):
    """Who comes first at the tier that this attempt waits for."""

    run_id: str
    gate: int
    attempt: int
    queue: Queue


class Collected(msgspec.Struct, frozen=True, tag=True):
    """`cause`: why the ferry ended badly, where it did."""

    run_id: str
    gate: int
    attempt: int
    report: str
    cause: Cause | None = None


class Compared(msgspec.Struct, frozen=True, tag=True):
    """The two reports are judged, without the stages named in `excluded` (sorted)."""

    run_id: str
    gate: int
    attempt: int
    judgement: Judgement
    excluded: tuple[str, ...] = ()


class Rejudged(msgspec.Struct, frozen=True, tag=True):
    """Stored reports are judged again, because `actor` gave `command` in comment `comment_id`.

    `verdicts` is empty where the run is not there any more.
    """

    run_id: str
    comment_id: int
    actor: str
    command: Exclude | Include | Reanalyse
    verdicts: tuple[Compared, ...] = ()
    heard_in: HeardIn = "comment"


class FerryStopped(msgspec.Struct, frozen=True, tag=True):
    run_id: str
    gate: int
    attempt: int


class EffectFailed(msgspec.Struct, frozen=True, tag=True):
    """An effect was given up. `sentence` is public, the detail is in the log. `comment_id` 0: it answers none."""

    kind: str
    run_id: str
    sentence: str
    comment_id: int = 0
    heard_in: HeardIn = "comment"


class CheckDue(msgspec.Struct, frozen=True, tag=True):
    """Time to look at the ferry."""

    run_id: str
    gate: int
    attempt: int


class Expired(msgspec.Struct, frozen=True, tag=True):
    """Nobody answered within the time the waiting state allows."""

    run_id: str
    since: datetime


Event = (
    Happening
    | Written
    | Authorised
    | Denied
    | Assessed
    | CannotAssess
    | Prepared
    | Refused
    | PreflightPassed
    | PreflightFailed
    | PreflightGoesOn
    | BaselineFound
    | BaselineMissing
    | SlotGranted
    | Submitted
    | Unsubmitted
    | Watched
    | Unseen
    | QueueSeen
    | Collected
    | Compared
    | Rejudged
    | FerryStopped
    | EffectFailed
    | CheckDue
    | Expired
)
