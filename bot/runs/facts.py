"""What is known of runs, gathered from the stored state and all that is open in the engine: plain values, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from bot.conversation.replies import state_read_aloud
from bot.engine.views import DeliveryView, EffectView, LogView, Overview, SlotView, StalledView, TimerView
from bot.gating.model import EarlierRun, PullRequest, Run
from bot.gating.states import RunState
from bot.redaction import redact

LATELY = timedelta(days=7)
MOST_ENDED = 10
"""Ended runs on the screen, unless all are asked for: the newest say what is going on."""

_ASIDE = frozenset({"react", "reply", "publish", "cleanup"})
"""Effects that say or tidy something; no run waits for them."""


class Line(msgspec.Struct, frozen=True):
    """A run in one line. `waits_for` is empty where it waits for nothing; `until` is when that is looked at again."""

    run: str
    pull_request: str
    state: str
    since: datetime
    asked_by: str
    head_sha: str
    gate: int | None
    waits_for: str
    until: datetime | None
    ended: bool


class Table(msgspec.Struct, frozen=True):
    """`left_out`: runs that ended before those shown. `served`: whether a process works on this state; None: not known.
    The rest is what is the engine's and no run's."""

    runs: tuple[Line, ...]
    left_out: int
    unhandled: tuple[DeliveryView, ...]
    dead: int
    served: bool | None = None


class Ferry(msgspec.Struct, frozen=True):
    gate: int
    attempt: int
    job_id: str
    job_name: str
    state: str
    submitted_at: datetime | None
    pending_reason: str
    error: str


class Seat(msgspec.Struct, frozen=True):
    """This run at a tier's slot: `place` 0 holds it, 1 is next; `holder` has it now."""

    slot: str
    place: int
    holder: str


class Page(msgspec.Struct, frozen=True):
    """All about the current run of one pull request, and a line for each before it."""

    line: Line
    story: str
    reason: str
    base_ref: str
    max_gate: str | None
    approved_by: str
    head_moved_to: str
    comment_id: int
    ferry: Ferry | None
    seats: tuple[Seat, ...]
    effects: tuple[EffectView, ...]
    timers: tuple[TimerView, ...]
    stalled: tuple[StalledView, ...]
    log: tuple[LogView, ...]
    earlier: tuple[EarlierRun, ...]
    served: bool | None = None


def without_process(overview: Overview) -> Overview:
    """What a process was doing when it died is done by nobody: the next to start does it again."""
    left = (replace(one, status="interrupted") if one.status == "claimed" else one for one in overview.effects)
    return replace(overview, effects=tuple(left))


def table(pulls: Mapping[str, PullRequest], overview: Overview, now: datetime, *, everything: bool = False) -> Table:
    """Live runs first, the longest in its state first; then those that ended, the last first."""
    lines = [line(key, pr, overview, now) for key, pr in pulls.items() if pr.run is not None]
    live = sorted((one for one in lines if not one.ended), key=lambda one: one.since)
    ended = sorted((one for one in lines if one.ended), key=lambda one: one.since, reverse=True)
    lately = ended if everything else [one for one in ended if one.since > now - LATELY][:MOST_ENDED]
    return Table((*live, *lately), len(ended) - len(lately), overview.deliveries, overview.dead)


def page(key: str, pr: PullRequest, overview: Overview, log: Sequence[LogView], now: datetime) -> Page:
    run = pr.run
    return Page(
        line=line(key, pr, overview, now),
        story=_story(run),
        reason=redact(run.reason or _failed_command(run)) if run else "",
        base_ref=run.base_ref if run else "",
        max_gate=run.max_gate if run else None,
        approved_by=run.approved_by if run else "",
        head_moved_to=run.head_moved_to if run else "",
        comment_id=pr.comment_id,
        ferry=_ferry(run),
        seats=_seats(key, overview.slots),
        effects=tuple(one for one in overview.effects if one.key == key),
        timers=tuple(one for one in overview.timers if one.key == key),
        stalled=tuple(one for one in overview.stalled if one.key == key),
        log=tuple(log),
        earlier=pr.earlier,
    )


def line(key: str, pr: PullRequest, overview: Overview, now: datetime) -> Line:
    run, place = pr.run, pr.place
    waits_for, until = _wait(key, run, overview)
    return Line(
        run=run.id if run else "",
        pull_request=f"{place.full_name}#{place.number}" if place else key,
        state=str(run.state) if run else "no run",
        since=run.since if run else now,
        asked_by=run.asked_by if run else "",
        head_sha=(run.head_sha if run else "") or pr.head_sha,
        gate=run.gate.number if run and run.gate else None,
        waits_for=waits_for,
        until=until,
        ended=run is None or run.state.ended,
    )


def _story(run: Run | None) -> str:
    """The state in words: what is being done, or how it ended, and through whom."""
    if run is None:
        return "nothing was begun here"
    words = [state_read_aloud(run.state).replace(" to the question above", ""), f"asked for by {run.asked_by}"]
    if run.approved_by:
        words.append(f"go by {run.approved_by}")
    if run.override:
        words.append(run.override)
    if run.stop_requested_by:
        words.append(f"stop by {run.stop_requested_by}")
    return "; ".join(words)


def _failed_command(run: Run) -> str:
    """Why a halted run is: the command of the preflight that did not succeed."""
    failed = run.failed_command
    if failed is None or run.state is not RunState.halted:
        return ""
    how = "failed" if failed.exit_code is None else f"ended with exit code {failed.exit_code}"
    return f"{failed.command} {how}"


def _wait(key: str, run: Run | None, overview: Overview) -> tuple[str, datetime | None]:
    """What the run waits for, the most telling first, and when it is tried, looked at or given up."""
    for effect in overview.effects:
        if effect.key == key and effect.status == "dead":
            return f"an operator: {effect.kind} is dead: {redact(effect.last_error or '')}", None
    for event in overview.stalled:
        if event.key == key:
            until = None if event.dead else event.due
            return f"an operator: an event cannot be taken in: {redact(event.error)}", until
    if run is None or run.state.ended:
        return "", None
    if run.state is RunState.queued:
        for seat in _seats(key, overview.slots):
            return f"{seat.slot}, held by {seat.holder}, place {seat.place} in its queue", None
    work = [one for one in overview.effects if one.key == key and one.kind not in _ASIDE]
    for effect in sorted(work, key=lambda one: one.status != "claimed"):
        return _work(effect)
    return _patience(key, run, overview)


def _work(effect: EffectView) -> tuple[str, datetime | None]:
    again = f", attempt {effect.attempts}" if effect.attempts > 1 else ""
    if effect.status == "claimed":
        return f"{effect.kind}, being done{again}", None
    trouble = f" again after: {redact(effect.last_error)}" if effect.last_error else ""
    cut = ", interrupted" if effect.status == "interrupted" else ""
    return f"{effect.kind}{cut}{trouble}", effect.due


def _patience(key: str, run: Run, overview: Overview) -> tuple[str, datetime | None]:
    for timer in overview.timers:
        if timer.key == key:
            what = {
                RunState.awaiting_reviewer: "a reviewer's answer",
                RunState.awaiting_escalation: "continue, or the end of the wait",
                RunState.ferrying: "the next look at the ferry",
            }
            return what.get(run.state, timer.name.partition(":")[0]), timer.due
    # A live run always has something open.
    return "nothing that would ever wake it: a bug", None


def _seats(key: str, slots: Sequence[SlotView]) -> tuple[Seat, ...]:
    found = []
    for seat in (one for one in slots if one.key == key):
        queue = [one for one in slots if one.slot == seat.slot and not one.granted]
        holder = next((one.holder for one in slots if one.slot == seat.slot and one.granted), "")
        found.append(Seat(seat.slot, 0 if seat.granted else queue.index(seat) + 1, holder))
    return tuple(found)


def _ferry(run: Run | None) -> Ferry | None:
    if run is None or run.gate is None or run.attempt is None:
        return None
    attempt = run.attempt
    return Ferry(
        gate=run.gate.number,
        attempt=attempt.number,
        job_id=attempt.job_id,
        job_name=attempt.job_name,
        state=attempt.ferry_state,
        submitted_at=attempt.submitted_at,
        pending_reason=redact(attempt.pending_reason),
        error=redact(attempt.error),
    )
