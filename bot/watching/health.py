"""What a look means beside the looks before it: health with its evidence, and the trouble that people are told of.

Rules and their order are seed 000's (babysitting) and seed 002's ("Failure modes"). Nothing here stops anything.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from bot.watching.look import Look, Shards
from bot.watching.troubles import carried, found
from bot.watching.vitals import Health, Limits, Vitals
from bot.watching.wording import clock, counted, span

# Waiting for capacity is no perf signal, but from here on it is worth a line (seed 002, "Failure modes").
NOTABLE_WAIT = timedelta(minutes=30)
# A controller that is silent for less is being restarted; nobody has to know.
NOTABLE_SILENCE = timedelta(minutes=15)
# One failing worker is bad luck and two may be; the third with the same words is a pattern.
REPEATED = 3
# Markers of a cluster that has nothing left, in `pending_reason` (facts: "Job states").
EXHAUSTED = ("quota_exceeded", "resource_exhausted", "slice couldn't schedule", "tier_blocked")
_FEW_PERCENT = 10
_FEWEST_SHARDS = 8


def examine(before: Vitals, look: Look, limits: Limits, now: datetime) -> Vitals:
    """The vitals after this look."""
    furthest, moved = _advance(before, look)
    # While it waits for capacity no shard can be done, so that the wait is no part of a stall.
    moved_at = now if moved or look.waits or before.moved_at is None else before.moved_at
    tail = tuple(sorted(_key(one) for one in look.shards if _tailing(one)))
    after = replace(before, moved_at=moved_at, furthest=furthest, tail=tail, looked_at=now, unseen_since=None)
    health, evidence = _judge(before, after, look, limits, now)
    since = before.since if health is before.health and before.since is not None else now
    wrong = found(health, evidence, look, limits, now)
    return replace(after, health=health, since=since, evidence=evidence, troubles=carried(before, wrong, now))


def unseen(before: Vitals, now: datetime, why: str = "") -> Vitals:
    """The controller did not answer: nothing is known, so nothing is over and nothing is wrong. Patience.

    `why` is the rest of a sentence for where there is a reason that somebody can mend.
    """
    silent_since = before.unseen_since or now
    if now - silent_since < NOTABLE_SILENCE:
        return replace(before, unseen_since=silent_since)
    said = f"Iris' controller has not answered since {clock(silent_since)}; the ferry runs on without it."
    if why:
        said = f"The ferry cannot be looked at since {clock(silent_since)}: {why}. An operator has to mend that."
    evidence = (said,)
    since = before.since if before.health is Health.unreachable and before.since else silent_since
    return replace(before, health=Health.unreachable, since=since, evidence=evidence, unseen_since=silent_since)


def ended(before: Vitals, now: datetime) -> Vitals:
    """With the ferry all trouble is over."""
    return replace(before, looked_at=now, unseen_since=None, troubles=carried(before, {}, now))


def wants_threads(before: Vitals, look: Look, stall: float, now: datetime) -> bool:
    """Whether a thread dump would tell something: nothing has moved for half the stall limit, and something runs."""
    _, moved = _advance(before, look)
    quiet = before.moved_at is not None and now - before.moved_at >= _suspicious(stall)
    return look.coordinators > 0 and not look.waits and not moved and quiet


def _suspicious(stall: float) -> timedelta:
    """How long nothing may move before the coordinator's threads are looked at."""
    return timedelta(seconds=stall / 2)


def _advance(before: Vitals, look: Look) -> tuple[dict[str, int], bool]:
    """How far everything is now, and whether anything is further than it ever was.

    Shards of dead workers go back into the queue, so a count may fall; that is no progress when it rises again.
    """
    seen = {f"{step.name}:{step.state}": 1 for step in look.steps if step.state != "waiting"}
    seen |= {_key(one): one.done for one in look.shards}
    if look.coordinators:
        seen["coordinators"] = max(look.coordinators, before.furthest.get("coordinators", 0))
    if look.workers:
        seen["workers"] = 1
    moved = any(before.furthest.get(key, -1) < count for key, count in seen.items())
    # A stage that is over is not asked about again; where no shards can be seen, none is known to be over.
    kept = {key: count for key, count in before.furthest.items() if key in seen or "/" not in key or not look.shards}
    return kept | {key: max(count, before.furthest.get(key, 0)) for key, count in seen.items()}, moved


def _key(shards: Shards) -> str:
    return f"{shards.pipeline}/{shards.stage}"


def _tailing(shards: Shards) -> bool:
    few = max(1, shards.total * _FEW_PERCENT // 100)
    return shards.total >= _FEWEST_SHARDS and shards.queued == 0 and 0 < shards.in_flight <= few and shards.done > 0


def _judge(before: Vitals, after: Vitals, look: Look, limits: Limits, now: datetime) -> tuple[Health, tuple[str, ...]]:
    """Health and its evidence: what is most certain first."""
    still = now - (after.moved_at or now)
    # Before its pipeline begins and after it returned, every coordinator looks so for seconds.
    if look.threads is not None and look.threads.zombie and still >= _suspicious(limits.stall):
        return Health.zombie, _zombie(look)
    if exhausted := [reason for reason in look.reasons if any(mark in reason.lower() for mark in EXHAUSTED)]:
        return Health.resource_exhausted, (f"Iris says why it waits: `{exhausted[0]}`.",)
    if look.failure is not None and look.failure.times >= REPEATED:
        tries = counted(look.failure.times, "try of a worker", "tries of workers")
        return Health.workers_failing, (f"{tries} in `{look.failure.job_id}` ended with the same error.",)
    if look.waits:
        return Health.queued, _queued(look)
    # Without its logs a stage's shards cannot be seen, and what cannot be seen is not called stuck.
    blind = not look.sees_logs and look.coordinators > 0
    if still >= timedelta(seconds=limits.stall) and not blind:
        return Health.stalled, _stalled(look, after.moved_at or now, limits)
    if look.coordinators == 0 and not any(step.state in ("done", "failed") for step in look.steps):
        return Health.starting, (f"The ferry runs; {_parts(look)}.",)
    if both := [one for one in look.shards if _key(one) in after.tail and _key(one) in before.tail]:
        return Health.straggling, tuple(map(_straggling, both))
    return Health.progressing, ()


def _zombie(look: Look) -> tuple[str, ...]:
    threads = look.threads
    if threads is None:
        return ()
    loop = "still turns" if threads.loops else "is gone"
    return (
        f"A thread dump of `{threads.job_id}`: {threads.total} threads, all {threads.idle} that serve calls are idle "
        f"in `_worker`, none is in `_wait_for_stage`; the coordinator's loop {loop}.",
        "Its pipeline has returned or died, but the coordinator's process goes on, and nobody waits for a stage.",
    )


def _queued(look: Look) -> tuple[str, ...]:
    if look.state in ("pending", "building"):
        return tuple(f"Iris says why it waits: `{reason}`" for reason in look.reasons[:1])
    told = f"; Iris says why: `{look.reasons[0]}`" if look.reasons else ""
    return (f"{counted(look.workers_waiting, 'worker waits', 'workers wait')} for capacity, none runs{told}",)


def _stalled(look: Look, moved_at: datetime, limits: Limits) -> tuple[str, ...]:
    since = f"since {clock(moved_at)} (the limit is {span(timedelta(seconds=limits.stall))})"
    if look.coordinators == 0:
        said = f"No stage has begun or ended {since}; {_parts(look)}."
    elif look.shards:
        where = "; ".join(f"{_at(one)}" for one in look.shards[:3])
        said = f"No shard has been done {since}: {where}."
    else:
        said = f"No progress line has been found in the coordinator's log {since}; {_parts(look)}."
    dump = look.threads
    if dump is None:
        return (said,)
    waits = "waits for its stage" if dump.waits_for_stage else "does not wait for a stage"
    return said, f"A thread dump of `{dump.job_id}`: {dump.total} threads; it {waits}."


def _straggling(shards: Shards) -> str:
    return f"Stragglers: {_at(shards)}."


def _at(shards: Shards) -> str:
    workers = f"{shards.workers_alive}/{shards.workers} workers alive"
    return (
        f"`{shards.stage}` at {shards.done}/{shards.total} shards, {shards.in_flight} in flight, "
        f"{shards.queued} queued, {workers}"
    )


def _parts(look: Look) -> str:
    coordinators = counted(look.coordinators, "coordinator runs", "coordinators run")
    return f"{coordinators} with {counted(look.workers, 'worker', 'workers')}"
