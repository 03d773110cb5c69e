"""A ferry on its way: what a look changes, when the next one is due, and what is news. Nothing is ever stopped."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec.structs import replace

from bot.config.schema import RepositoryConfig
from bot.gating.draft import Draft
from bot.gating.events import QueueSeen, Unseen, Watched
from bot.gating.model import Attempt, GateRun, Place, PullRequest, Run
from bot.gating.seen import Told
from bot.verdict.report import PerfReport, parse_report
from bot.watching import health, outlook
from bot.watching.look import Machine
from bot.watching.outlook import Outlook, Usual
from bot.watching.queue import Ahead
from bot.watching.vitals import Health, Limits, Vitals

_MOST_MACHINES = 6
_GOES_ON = (Health.starting, Health.progressing, Health.straggling, Health.workers_failing)


def seen(draft: Draft, event: Watched) -> None:
    """Take in one look at the ferry; say it where it is news."""
    run, now = draft.run, draft.now
    gate, attempt, look = run.gates[-1], run.gates[-1].attempts[-1], event.look
    # What the machine itself pinned or remembers stays; the look at the cluster fills in the rest.
    after = replace(
        attempt,
        started_at=event.seen.started_at,
        ended_at=event.seen.ended_at,
        ferry_state=event.seen.ferry_state,
        error=event.seen.error,
        pending_reason=event.seen.pending_reason,
        progress=event.seen.progress,
    )
    if event.ended:
        after = replace(after, vitals=health.ended(attempt.vitals, now), outlook=None, stale=())
    elif look is not None:
        expected = outlook.outlook(look.steps, usual_of(gate), look.started_at, now)
        vitals = health.examine(attempt.vitals, look, limits_of(run, gate, expected, now), now)
        # While it stands still or waits, an end that moves with the clock would be no forecast.
        expected = expected if vitals.health in _GOES_ON else None
        after = replace(after, vitals=vitals, outlook=expected, stale=look.stale)
    if look is not None:
        after = replace(after, machines=_all_machines((*attempt.machines, *look.machines)))
    _tell(draft, after)


def unseen(draft: Draft, event: Unseen) -> None:
    """Iris is silent: look again soon, and after a while say so."""
    attempt = draft.run.gates[-1].attempts[-1]
    _tell(draft, replace(attempt, vitals=health.unseen(attempt.vitals, draft.now, event.why)))
    draft.check_after(draft.run.plan_of(event.gate).first_check_seconds)


def stopped(draft: Draft) -> None:
    """The ferry was stopped and is gone: with it all its trouble is over."""
    attempt = draft.run.gates[-1].attempts[-1]
    if attempt.job_id:
        vitals = health.ended(attempt.vitals, draft.now)
        draft.change_attempt(vitals=vitals, outlook=None, ferry_state="killed", ended_at=draft.now)


def queue_seen(draft: Draft, event: QueueSeen) -> None:
    """Our place in the tier's queue, which is looked at again as a ferry would be."""
    _tell(draft, replace(draft.run.gates[-1].attempts[-1], queue=event.queue))
    draft.check_after(draft.run.plan_of(event.gate).check_every_seconds)


def _tell(draft: Draft, after: Attempt) -> None:
    """Store it; write the comment only where something is new that a reader cares about."""
    told = Told(_news(after, draft.now), after.outlook, after.queue)
    before = after.told
    differs = (
        told.news != before.news
        or (told.outlook is None) != (before.outlook is None)
        or (told.outlook is not None and told.outlook.differs(before.outlook))
        or (told.queue is not None and told.queue.differs(before.queue))
    )
    draft.change_gate(attempts=(*draft.run.gates[-1].attempts[:-1], replace(after, told=told if differs else before)))
    if differs:
        draft.reason = draft.reason or f"ferry {after.vitals.health}"
        draft.publish()


def _news(attempt: Attempt, now: datetime) -> str:
    """All that is worth an edit by itself, as one line."""
    vitals = attempt.vitals
    parts = [
        attempt.ferry_state,
        attempt.error,
        attempt.pending_reason,
        vitals.health,
        "long" if waits_long(vitals, now) else "",
        *(f"{stage.name}={stage.state}" for stage in attempt.progress),
        *(f"{trouble.kind} {trouble.what} {trouble.since} {trouble.until}" for trouble in vitals.troubles),
        *map(str, attempt.machines),
        *attempt.stale,
    ]
    return "|".join(parts)


def waits_long(vitals: Vitals, now: datetime) -> bool:
    """Waiting for capacity is no perf signal, but half an hour of it is worth a line."""
    return vitals.health is Health.queued and vitals.since is not None and now - vitals.since >= health.NOTABLE_WAIT


def limits_of(run: Run, gate: GateRun, expected: Outlook | None, now: datetime) -> Limits:
    """By what this gate's ferry is judged on its way. A calibrated verdict is not known before all of it is there."""
    plan, config = run.plan_of(gate.number), RepositoryConfig.model_validate_json(run.config)
    known = usual_of(gate)
    return Limits(
        stall=plan.stall_seconds,
        wall=plan.wall_seconds,
        baseline=known.stages if known else {},
        fail_percent=float(config.thresholds.stage.fail_percent) if config.verdict.policy == "table" else None,
        excluded=run.excluded_names(gate.number),
        remaining=max(0.0, (expected.end - now).total_seconds()) if expected else None,
    )


def usual_of(gate: GateRun) -> Usual | None:
    """What the baseline took and the tier's earlier runs varied; a stage that was cached there has no time."""
    report = parse_report(gate.baseline.report) if gate.baseline else None
    if not isinstance(report, PerfReport):
        return None
    stages = {
        name: float(seconds)
        for name, seconds in report.stage_wall_seconds.items()
        if seconds and name not in report.cached_steps
    }
    total = float(report.wall_seconds_total) if report.wall_seconds_total else None
    return outlook.usual(stages, total, [past.total for past in gate.history])


def ahead(pr: PullRequest, holder: str, gate: int, place: Place) -> Ahead:
    """What somebody at `place` may know of the attempt that holds or waits for the tier before them."""
    theirs, run = pr.place, pr.run
    number = theirs.number if theirs is not None and theirs.repository_id == place.repository_id else 0
    at = run.gate_of(gate) if run is not None and holder.startswith(f"{run.id}/") else None
    if at is None or at.attempt is None:
        return Ahead(number)
    known, attempt = usual_of(at), at.attempt
    takes = known.total if known else 0.0
    end = attempt.outlook.end if attempt.outlook else None
    if end is None and attempt.submitted_at is not None and takes:
        end = attempt.submitted_at + timedelta(seconds=takes)
    return Ahead(number, attempt.submitted_at, end, takes)


def _all_machines(found: Iterable[Machine]) -> tuple[Machine, ...]:
    return tuple(sorted(set(found)))[:_MOST_MACHINES]
