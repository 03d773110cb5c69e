"""Everything that can happen to a pull request, as the state machine hears it: a closed union.

Events from effects name the run (and gate, attempt) they belong to; `step` ignores those of a run that is no longer
current, so late and doubled outcomes do no harm.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from bot.assessment.model import Assessment
from bot.conversation.commands import Command, Exclude, Include, Reanalyse, Said
from bot.gating.model import Attempt, Baseline, Check, FailedCommand, GatePlan, HeardIn, Place
from bot.parity.model import Parity
from bot.verdict.model import Judgement
from bot.verdict.past import PastRun
from bot.watching.cause import Cause
from bot.watching.look import Look
from bot.watching.queue import Queue

Button = Literal["go", "skip", "continue", "retry"]


class Mentioned(msgspec.Struct, frozen=True, tag=True):
    """A person's new comment. `bare`: it holds only an answer, which counts while the bot waits for one.

    `comment_id` numbers what `heard_in` names. `said_at` is GitHub's time of it; `about_sha` the commit that a review
    is about; both are empty where not known.
    """

    place: Place
    comment_id: int
    actor: str
    said: Said
    bare: bool = False
    heard_in: HeardIn = "comment"
    said_at: datetime | None = None
    about_sha: str = ""


class Edited(msgspec.Struct, frozen=True, tag=True):
    """A comment says something to the bot only since it was edited; edits never command."""

    place: Place
    comment_id: int
    bare: bool = False
    heard_in: HeardIn = "comment"


class Unheard(msgspec.Struct, frozen=True, tag=True):
    """A comment for the bot that it failed to handle, again and again, through a bug of its own."""

    place: Place
    comment_id: int
    heard_in: HeardIn = "comment"


class HeadMoved(msgspec.Struct, frozen=True, tag=True):
    """The pull request got a new head (`synchronize`, or found by looking). `before`: the head it had, where known."""

    place: Place
    head_sha: str
    before: str = ""


class Closed(msgspec.Struct, frozen=True, tag=True):
    place: Place
    merged: bool


class Reinstalled(msgspec.Struct, frozen=True, tag=True):
    """The App was installed anew: the pull request is reached through another installation."""

    place: Place


class BaseChanged(msgspec.Struct, frozen=True, tag=True):
    """The pull request is to be merged into another branch."""

    place: Place
    base_ref: str


class OwnCommentTouched(msgspec.Struct, frozen=True, tag=True):
    """Somebody deleted (`gone`) or edited a comment that a machine wrote, perhaps this one."""

    place: Place
    comment_id: int
    gone: bool


class CommentLost(msgspec.Struct, frozen=True, tag=True):
    """The canonical comment was deleted (`gone`), or somebody changed what it says."""

    place: Place
    gone: bool


class Reopened(msgspec.Struct, frozen=True, tag=True):
    place: Place


class Authorised(msgspec.Struct, frozen=True, tag=True):
    """The permission look-up allows this command; `head_sha` and `base_ref` are the pull request's at that moment.

    `unmoved`: nothing was pushed to where the head comes from since the comment was made, so this head is what it was
    said about. `granted` holds every family of commands that this actor may give: an answer may turn out to be of
    another family than its words say, such as a `go` on a proposed skip.
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


class Asked(msgspec.Struct, frozen=True, tag=True):
    """The question stands as a comment of its own, since `at` by GitHub's clock."""

    run_id: str
    comment_id: int
    at: datetime | None = None


class Noticed(msgspec.Struct, frozen=True, tag=True):
    """People were called by a comment; `node_id` is GitHub's global id of it."""

    run_id: str
    node_id: str


class Published(msgspec.Struct, frozen=True, tag=True):
    """The canonical comment holds what was rendered; `digest` is of that text."""

    comment_id: int
    digest: str


class Checked(msgspec.Struct, frozen=True, tag=True):
    """The check run shows what was rendered."""

    check: Check


class Pressed(msgspec.Struct, frozen=True, tag=True):
    """A person pressed a button of a check run of ours, or GitHub's own Re-run (`retry`)."""

    installation_id: int
    full_name: str
    run_id: str
    head_sha: str
    check_id: int
    actor: str
    button: Button


class SuiteRerequested(msgspec.Struct, frozen=True, tag=True):
    """A person pressed GitHub's Re-run all checks. Of which pull requests the delivery may not say (of forks it never
    does), so `place` names none: its number is 0."""

    place: Place
    head_sha: str
    actor: str


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
    """Iris did not answer, several times. That says nothing about the ferry."""

    run_id: str
    gate: int
    attempt: int


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
    Mentioned
    | Edited
    | Unheard
    | HeadMoved
    | Closed
    | Reinstalled
    | BaseChanged
    | OwnCommentTouched
    | CommentLost
    | Reopened
    | Authorised
    | Denied
    | Assessed
    | CannotAssess
    | Asked
    | Noticed
    | Published
    | Checked
    | Pressed
    | SuiteRerequested
    | Prepared
    | Refused
    | PreflightPassed
    | PreflightFailed
    | PreflightGoesOn
    | BaselineFound
    | BaselineMissing
    | SlotGranted
    | Submitted
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
