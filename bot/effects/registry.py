"""The registry: one row per kind of effect, with its lane, its patience and what is said when it is given up."""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeGuard

import msgspec

from bot.effects.assess import assess
from bot.effects.authorise import authorise
from bot.effects.check import check, find_pulls
from bot.effects.cleanup import cleanup
from bot.effects.compare import compare, rejudge
from bot.effects.context import Context, Rooms, heard_in
from bot.effects.ferry import collect, stop_ferry, watch
from bot.effects.locate import locate_baseline
from bot.effects.notify import hide, notify, settle
from bot.effects.preflight import preflight
from bot.effects.prepare import prepare
from bot.effects.publish import publish
from bot.effects.queue import look_at_queue
from bot.effects.speak import ask, react, reply, say_help
from bot.effects.submit import submit
from bot.engine.policy import Backoff, EffectPolicy, Lane
from bot.engine.port import Effect, Lethal, Outcome, Revoked
from bot.faults import Fault
from bot.gating.events import EffectFailed, Event
from bot.gating.model import PullRequest
from bot.journal import Journal, listening

# Of disk, quota or descriptors: what other work frees, or people do.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
_NO_NAME = re.compile(r"[^A-Za-z0-9.]+")
_log = logging.getLogger(__name__)

Act = Callable[[Rooms, Effect, Context], Awaitable[Outcome[Event]]]
Policy = EffectPolicy[PullRequest, Event]

# DESIGN decision 5. Writes take turns per installation: GitHub wants a second between them and no concurrency.
LANES = (
    # Apart, so that nobody waits for the sign of having been heard while other things are written.
    Lane("reactions", 1),
    Lane("github-write", 1),
    Lane("git", 2),
    Lane("preflight", 1),
    Lane("others", 8),
)

_SOON = Backoff(first=timedelta(seconds=1), most=timedelta(minutes=2))
_PATIENT = Backoff(first=timedelta(seconds=2), most=timedelta(minutes=5))
# Longer than GitHub is out of order. What was said is known to everybody by then, so it can still be said; what is to
# be done for somebody is not begun when they have long gone home.
_A_DAY, _HOURS = timedelta(days=1), timedelta(hours=6)


class Row(msgspec.Struct, frozen=True):
    """One kind. `attempts` 0: tried until it is done, whatever went wrong: a ferry may be out, or a verdict unsaid.

    `patience`: what people said is obeyed and answered although GitHub was in trouble for so long.
    """

    kind: str
    lane: str
    act: Act
    deadline: timedelta
    attempts: int
    backoff: Backoff = _PATIENT
    patience: timedelta = timedelta(0)


ROWS = (
    Row("react", "reactions", react, timedelta(seconds=30), 10, _SOON, patience=_HOURS),
    Row("reply", "github-write", reply, timedelta(minutes=2), 20, patience=_A_DAY),
    Row("help", "github-write", say_help, timedelta(minutes=2), 20, patience=_A_DAY),
    Row("ask", "github-write", ask, timedelta(minutes=2), 20, patience=_A_DAY),
    Row("publish", "github-write", publish, timedelta(minutes=2), 0),
    Row("notify", "github-write", notify, timedelta(minutes=2), 40, patience=_A_DAY),
    Row("hide", "github-write", hide, timedelta(minutes=2), 20),
    Row("settle", "github-write", settle, timedelta(minutes=2), 20),
    Row("check", "github-write", check, timedelta(minutes=2), 0),
    Row("find_pulls", "others", find_pulls, timedelta(minutes=1), 10, patience=_HOURS),
    Row("authorise", "others", authorise, timedelta(minutes=1), 10, _SOON, patience=_HOURS),
    Row("assess", "git", assess, timedelta(minutes=20), 10, patience=_HOURS),
    Row("prepare", "git", prepare, timedelta(minutes=20), 10, patience=_HOURS),
    Row("cleanup", "git", cleanup, timedelta(minutes=10), 10),
    # The commands have limits of their own; the deadline only catches a cage that hangs, and leaves no patience then.
    Row("preflight", "preflight", preflight, timedelta(hours=6), 3, patience=_HOURS),
    Row("locate", "others", locate_baseline, timedelta(minutes=5), 12, patience=_HOURS),
    Row("submit", "others", submit, timedelta(minutes=10), 0),
    Row("queue", "others", look_at_queue, timedelta(minutes=1), 0),
    Row("watch", "others", watch, timedelta(minutes=3), 0),
    # Longer than the repository's own collector may take, after which the report is read natively. For a day: the
    # ferry's hours are spent, and only its controller is away.
    Row("collect", "others", collect, timedelta(minutes=20), 300),
    Row("compare", "others", compare, timedelta(minutes=1), 1),
    Row("rejudge", "others", rejudge, timedelta(minutes=1), 1),
    Row("stop_ferry", "others", stop_ferry, timedelta(minutes=3), 0),
)


def policies(rooms: Rooms) -> list[Policy]:
    return [_policy(row, rooms) for row in ROWS]


def _policy(row: Row, rooms: Rooms) -> Policy:
    async def perform(effect: Effect, context: Context) -> Outcome[Event]:
        with listening(_journal(rooms, effect, context)):
            return await row.act(rooms, effect, context)

    return EffectPolicy(
        kind=row.kind,
        lane=row.lane,
        perform=perform,
        failed=_failed,
        retryable=_always if row.attempts == 0 else _retryable,
        deadline=row.deadline,
        attempts=row.attempts,
        backoff=row.backoff,
        patience=row.patience,
    )


def _journal(rooms: Rooms, effect: Effect, context: Context) -> Journal:
    """Children are noted with the attempt; what they said is a file of the run, where the effect is a run's."""
    run_id = str(effect.payload.get("run_id", ""))
    number = effect.id.partition("#")[2].partition(":")[0]

    def keep(command: str, output: bytes) -> str:
        if not run_id:
            return ""
        name = _NO_NAME.sub("-", command)[:40].strip("-.")
        place = f"{number.zfill(5)}-{effect.kind}-{effect.attempt}-{len(context.notes):02d}-{name}.log"
        return rooms.rundirs.put_log(run_id, f"logs/{place}", output)

    return Journal(context.clock.now, context.notes.append, keep)


def _always(error: BaseException) -> bool:
    """Nothing about a live ferry is proven by an error, so no error may end the watch over it and free its slot."""
    return True


def _retryable(error: BaseException) -> bool:
    if isinstance(error, Fault):
        return error.retryable
    return isinstance(error, TimeoutError) or _without_room(error)


def _without_room(error: BaseException) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and error.errno in _NO_ROOM


def _failed(effect: Effect, error: BaseException) -> Event:
    run_id, comment_id = str(effect.payload.get("run_id", "")), int(effect.payload.get("comment_id", 0))
    return EffectFailed(effect.kind, run_id, _sentence(effect, error), comment_id, heard_in(effect))


def _sentence(effect: Effect, error: BaseException) -> str:
    """Only a fault's public sentence may be shown; what anything else says goes to the log."""
    if isinstance(error, Fault):
        return error.public
    if isinstance(error, Revoked):
        return "it is no longer wanted"
    if isinstance(error, Lethal):
        return f"perf-gate itself ended each time it came to `{effect.kind}`; the operator's log has the details"
    if _without_room(error):
        # Without the path, which is the deployment's own affair.
        return (
            f"perf-gate's own machine has no room left for `{effect.kind}` ({os.strerror(error.errno or 0)}); "
            "its operator can make some"
        )
    if isinstance(error, TimeoutError):
        return f"`{effect.kind}` did not end in time, again and again"
    return f"`{effect.kind}` failed in a way that was not foreseen; the operator's log has the details"
