"""The life of a run, told from the log: each state with who and why, by playing the pure `step` over the events again.

The log says what came in; the states in between are computed, as they were computed then. Where the code has changed
since, what is played may differ from what was stored; `Story.faithful` says whether both end alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from bot.comment.tables import HEADLINES
from bot.conversation.replies import state_read_aloud
from bot.engine.views import MoveView
from bot.gating.events import (
    Assessed,
    Authorised,
    BaselineFound,
    BaselineMissing,
    CannotAssess,
    Collected,
    Compared,
    Denied,
    EffectFailed,
    Event,
    Expired,
    FerryStopped,
    PreflightFailed,
    PreflightPassed,
    Prepared,
    Refused,
    Rejudged,
    SlotGranted,
    Submitted,
    Watched,
)
from bot.gating.happenings import Closed, CommentLost, HeadMoved, Mentioned, Reopened, Unheard
from bot.gating.model import PullRequest, Run
from bot.runs.reading import MACHINE

MOST_MOVES = 5_000
"""A ferry of four days that is looked at every ten minutes leaves six hundred."""
_BOT = "perf-gate"


class Step(msgspec.Struct, frozen=True):
    """Something that happened to a run. `state` holds from `at` until `until` (None: still, or it is no new state).

    `entered`: the state began here. `who` is a login, or perf-gate itself. `cause` names the delivery, effect or timer.
    """

    at: datetime
    state: str
    entered: bool
    who: str
    what: str
    cause: str
    until: datetime | None = None


class Story(msgspec.Struct, frozen=True):
    """`run` is the run as it was played: what is left of one that a newer run replaced."""

    steps: tuple[Step, ...]
    run: Run | None
    faithful: bool


def tell(run_id: str, stored: PullRequest, moves: Sequence[MoveView]) -> Story:
    """The steps of one run of this pull request, oldest first, from the command that began it on."""
    steps: list[Step] = []
    asked: list[Step] = []
    pr, found = PullRequest(), None
    for move in moves[:MOST_MOVES]:
        event = _event(move)
        if event is None:
            continue
        before = pr
        pr = MACHINE.step(pr, event, move.at).state
        step = _step(move, event, before, pr)
        if pr.run is not None and pr.run.id == run_id:
            if found is None:
                # Who asked came before there was a run.
                steps += asked
            found = pr.run
            if step is not None:
                steps.append(step)
        if step is not None and isinstance(event, (Mentioned, HeadMoved)):
            asked = [step]
    ended_alike = (
        stored.run is None or stored.run.id != run_id or (found is not None and found.state == stored.run.state)
    )
    return Story(tuple(_with_ends(steps)), found, ended_alike and len(moves) <= MOST_MOVES)


def _event(move: MoveView) -> Event | None:
    """None for an event that this release does not know any more: the rest is still worth telling."""
    try:
        return MACHINE.load_event(move.event)
    except msgspec.MsgspecError:
        return None


def _with_ends(steps: Sequence[Step]) -> list[Step]:
    """Each state lasts until the next begins; the last one is still on."""
    told: list[Step] = []
    next_at: datetime | None = None
    for step in reversed(steps):
        told.append(
            Step(step.at, step.state, step.entered, step.who, step.what, step.cause, next_at if step.entered else None)
        )
        if step.entered:
            next_at = step.at
    return told[::-1]


def _step(move: MoveView, event: Event, before: PullRequest, after: PullRequest) -> Step | None:
    was, now = before.run, after.run
    state = str(now.state) if now is not None else ""
    entered = now is not None and (was is None or was.id != now.id or was.state is not now.state)
    what = _what(event, before, after) or (move.reason if entered else "")
    if not what and not entered:
        return None
    return Step(move.at, state, entered, _who(event), what or state_read_aloud(state), move.cause)


def _who(event: Event) -> str:
    if isinstance(event, (Mentioned, Authorised, Denied, Rejudged)):
        return event.actor
    return "a push" if isinstance(event, HeadMoved) else _BOT


def _what(event: Event, before: PullRequest, after: PullRequest) -> str:
    """A sentence about what happened; empty for what nobody has to know."""
    if isinstance(event, (Mentioned, Authorised, Denied, Unheard, HeadMoved, Closed, Reopened, CommentLost, Rejudged)):
        return _said(event, after)
    if isinstance(event, (Submitted, Watched, SlotGranted, FerryStopped, Compared)):
        return _ferry(event, before, after)
    match event:
        case Assessed():
            return f"the diff proposes max_gate={after.run.proposed}" if after.run else "the diff is read"
        case CannotAssess() | Refused() | BaselineMissing():
            return event.reason
        case Collected():
            return "its perf report is collected"
        case Prepared():
            return "the commit is checked out"
        case PreflightPassed():
            return "lint, types and tests have passed"
        case PreflightFailed():
            return f"{event.command.command} ended with exit code {event.command.exit_code}"
        case BaselineFound():
            return f"the baseline is scheduled run {event.baseline.run_id}"
        case EffectFailed():
            return f"{event.kind} was given up: {event.sentence}"
        case Expired():
            return "nobody answered in time"
    return ""


def _said(event: Event, after: PullRequest) -> str:
    match event:
        case Mentioned():
            return f"wrote a comment: {_word(event.said)}"
        case Authorised():
            return f"may say {_word(event.command)} (as {event.role})"
        case Denied():
            return f"may not: that needs {event.needed}"
        case Unheard():
            return "a comment could not be handled, through a mistake of perf-gate's own"
        case HeadMoved():
            return f"the head is now {event.head_sha[:10]}"
        case Closed():
            return "the pull request was merged" if event.merged else "the pull request was closed"
        case Reopened():
            return "the pull request was opened again"
        case CommentLost():
            return "the comment was deleted" if event.gone else "the comment was changed by somebody else"
        case Rejudged():
            return f"had the stored reports judged again: {_word(event.command)}"
    return ""


def _ferry(event: Event, before: PullRequest, after: PullRequest) -> str:
    match event:
        case SlotGranted():
            return "the tier's slot is free for this ferry"
        case Submitted():
            return f"the ferry is Iris job {event.job_id}"
        case FerryStopped():
            return "the ferry is stopped"
        case Compared():
            return f"gate {event.gate}: {HEADLINES[event.judgement.verdict]}"
        case Watched() if event.ended:
            return f"the ferry ended: {event.seen.ferry_state}"
        case Watched():
            return _health(before.run, after.run)
    return ""


def _health(before: Run | None, after: Run | None) -> str:
    """How the ferry does, where that is another than at the look before."""
    was = before.attempt.vitals.health if before and before.attempt else None
    if after is None or after.attempt is None or after.attempt.vitals.health is was:
        return ""
    vitals = after.attempt.vitals
    return " ".join((f"the ferry is {vitals.health.replace('_', ' ')}.", *vitals.evidence[:1])).rstrip(".")


def _word(command: object) -> str:
    """A command as one says it: `Go` with a ceiling becomes "go max_gate=3"."""
    words = type(command).__name__.lower()
    ceiling = getattr(command, "max_gate", None)
    stage = getattr(command, "stage", None)
    return words + (f" max_gate={ceiling}" if ceiling else "") + (f" stage={stage}" if stage else "")
