"""What is wrong with a ferry so that a reviewer has to know, and how long it has been so."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from bot.watching.look import Look
from bot.watching.vitals import Health, Limits, Trouble, TroubleKind, Vitals
from bot.watching.wording import exact, span

_MOST_TROUBLES = 12
_BY_HEALTH = {
    Health.stalled: TroubleKind.stalled,
    Health.zombie: TroubleKind.zombie,
    Health.workers_failing: TroubleKind.workers_failing,
    Health.resource_exhausted: TroubleKind.resource_exhausted,
}
Found = dict[tuple[TroubleKind, str], Trouble]


def found(health: Health, evidence: tuple[str, ...], look: Look, limits: Limits, now: datetime) -> Found:
    """All that is wrong now."""
    seen: list[Trouble] = []
    if health in _BY_HEALTH:
        failing = health is Health.workers_failing and look.failure is not None
        log = tuple(look.failure.error.splitlines()) if failing and look.failure else look.lines
        seen.append(Trouble(_BY_HEALTH[health], now, evidence, log))
    if look.started_at is not None and now - look.started_at > timedelta(seconds=2 * limits.wall):
        usual = span(timedelta(seconds=limits.wall))
        ran = f"The ferry has run for more than twice its tier's wall-time of {usual}; it is watched on."
        seen.append(Trouble(TroubleKind.overdue, now, (ran,)))
    seen += [slow for step in look.steps if (slow := _slow(step.name, step.seconds, step.state, limits, now))]
    return {(trouble.kind, trouble.what): trouble for trouble in seen}


# A stage's clock starts with its job, whose start may be late by this much and more on a bad day.
_LATE_SECONDS, _LATE_PERCENT = 60.0, 5


def _slow(name: str, seconds: float, state: str, limits: Limits, now: datetime) -> Trouble | None:
    """A stage whose time is beyond what the table calls a hard fail, whatever comes."""
    usual = limits.baseline.get(name, 0)
    if limits.fail_percent is None or usual <= 0 or name in limits.excluded:
        return None
    limit = usual * (1 + limits.fail_percent / 100)
    if seconds <= limit + max(_LATE_SECONDS, usual * _LATE_PERCENT / 100):
        return None
    took = "took" if state == "done" else "has taken"
    said = (
        f"`{name}` {took} {exact(seconds)}; its baseline took {exact(usual)}, and beyond {exact(limit)} "
        f"(+{limits.fail_percent:g} %) a stage fails its gate, unless churn of the cluster makes the run inconclusive."
    )
    left = f" would save about {span(timedelta(seconds=limits.remaining))}" if limits.remaining else " ends it"
    stop = f"`@perf-gate stop`{left}; nothing is stopped unasked."
    return Trouble(TroubleKind.slow_stage, now, (said, stop), (), name)


def carried(before: Vitals, now_wrong: Found, now: datetime) -> tuple[Trouble, ...]:
    """Old trouble goes on with today's evidence or is over; new trouble begins. What is over stays told."""
    kept: list[Trouble] = []
    open_now = dict(now_wrong)
    for trouble in before.troubles:
        if trouble.until is not None:
            kept.append(trouble)
            continue
        again = open_now.pop((trouble.kind, trouble.what), None)
        kept.append(replace(trouble, until=now) if again is None else replace(again, since=trouble.since))
    return (*kept, *open_now.values())[-_MOST_TROUBLES:]
