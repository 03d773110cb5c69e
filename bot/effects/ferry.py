"""The treatment ferry on its way: watched, collected, and stopped when somebody says so."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from bot.checkout.refusals import Refusal
from bot.effects.context import ClusterUnset, Context, Rooms, config_of, current_gate, gate_config, place_of, within
from bot.effects.prepare import TRUSTED, tree_name
from bot.effects.submit import given_up, name_of, silent_for_long
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Collected, Event, FerryStopped, Refused, Unseen, Watched
from bot.gating.model import Attempt, GateRun, Place, Run
from bot.gating.seen import StageProgress
from bot.iris.collector_script import SCRIPT
from bot.iris.controller import Absent, Found, Unknown
from bot.iris.poll import FerryStatus
from bot.iris.records import TERMINAL_STATES
from bot.verdict.report import PerfReport, parse_report
from bot.verdict.rules import bucket
from bot.watching import health
from bot.watching.cause import Cause
from bot.watching.look import Look

# Some seconds apart; then the gate's own interval goes on, and the comment can say that nobody answers.
_LOOKS_IN_A_ROW = 4
# Less than the effect's own deadline: a look that hangs is an answer that did not come, and must be told as one.
LOOK_WITHIN = timedelta(seconds=150)
# So long an operator has to mend the settings before a ferry that nobody can look at any more is given up.
_UNSET_FOR = timedelta(days=1)
_log = logging.getLogger(__name__)


async def watch(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """One look at the ferry. The root job decides whether it has ended."""
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    pr, run, gate = found
    attempt = gate.attempts[-1]
    steps, stall = gate_config(config_of(run), gate.number).expected_steps, run.plan_of(gate.number).stall_seconds

    def wants_threads(look: Look) -> bool:
        return health.wants_threads(attempt.vitals, look, stall, context.clock.now())

    try:
        looking = rooms.iris_of(run).look(attempt.job_id, steps, wants_threads)
        found_now = await within(looking, LOOK_WITHIN, context)
        if isinstance(found_now, Absent) and effect.attempt < _LOOKS_IN_A_ROW:
            raise Fault("Iris does not show the ferry", attempt.job_id, retryable=True)
        if isinstance(found_now, Absent):
            return Outcome(await _lost(rooms, place_of(pr), run, gate))
    except ClusterUnset as unset:
        return Outcome(_out_of_sight(run, gate, unset, context))
    except (Fault, TimeoutError) as error:
        if effect.attempt < _LOOKS_IN_A_ROW:
            raise
        _log.warning("Iris cannot be asked about a ferry", extra={"job_id": attempt.job_id, "error": str(error)})
        return Outcome(Unseen(run.id, gate.number, attempt.number))
    status = found_now.status
    seen = _seen(attempt, status)
    return Outcome(Watched(run.id, gate.number, attempt.number, seen, status.terminal, found_now.look))


def _out_of_sight(run: Run, gate: GateRun, unset: ClusterUnset, context: Context) -> Event:
    """A mistake in the settings is mended within a day; after that the slot goes to whoever waits for it."""
    attempt, now = gate.attempts[-1], context.clock.now()
    _log.error("a ferry's cluster is not set up any more", extra={"job_id": attempt.job_id, "cluster": run.cluster})
    since = attempt.vitals.unseen_since
    if since is not None and now - since >= _UNSET_FOR:
        return given_up(run, attempt.job_id, unset.public)
    return Unseen(run.id, gate.number, attempt.number, unset.public)


async def _lost(rooms: Rooms, place: Place, run: Run, gate: GateRun) -> Event:
    """Listings without the job prove nothing, since a controller that begins again may not know all at once; the
    look-up asks twice before it says absent."""
    known = await rooms.iris_of(run).look_up(name_of(place, run, gate))
    if not isinstance(known, Absent):
        raise Fault("Iris did not show the ferry just now", f"{gate.attempts[-1].job_id}: {known}", retryable=True)
    return Refused(run.id, f"Iris no longer knows the ferry `{gate.attempts[-1].job_id}`")


def _seen(attempt: Attempt, status: FerryStatus) -> Attempt:
    stages = tuple(
        StageProgress(
            name=stage.name,
            state=stage.state,
            seconds=round(stage.seconds, 1),
            shards_done=stage.shards.done if stage.shards else 0,
            shards_total=stage.shards.total if stage.shards else 0,
        )
        for stage in status.stages
    )
    return Attempt(
        number=attempt.number,
        job_id=attempt.job_id,
        started_at=status.started_at,
        ended_at=status.finished_at,
        ferry_state=status.state,
        error=status.error,
        pending_reason=status.pending_reason,
        progress=stages,
    )


async def collect(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """The perf report of the ended ferry, by the repository's own collector where its default branch has one."""
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    pr, run, gate = found
    attempt, place = gate.attempts[-1], place_of(pr)
    trusted = await _trusted_checkout(rooms, place, run)
    report = await rooms.iris_of(run).collect(
        attempt.job_id,
        gate_config(config_of(run), gate.number),
        name_of(place, run, gate),
        run.head_sha,
        trusted,
    )
    if isinstance(report, Absent):
        return Outcome(await _lost(rooms, place, run, gate))
    rooms.rundirs.put(run.id, f"gate-{gate.number}/attempt-{attempt.number}/report.json", report)
    return Outcome(Collected(run.id, gate.number, attempt.number, report, await _cause(rooms, run, attempt, report)))


async def _cause(rooms: Rooms, run: Run, attempt: Attempt, report: str) -> Cause | None:
    """Why it ended badly; also of a ferry that got through although workers ran out of memory, which fails its gate."""
    read = parse_report(report)
    ooms = bucket(read, "oom") if isinstance(read, PerfReport) else 0
    if attempt.ferry_state == "succeeded" and not ooms:
        return None
    return await rooms.iris_of(run).cause(attempt.job_id)


async def _trusted_checkout(rooms: Rooms, place: Place, run: Run) -> Path | None:
    """The default branch as it was when the run was assessed, where it has the collector; never the head."""
    mirror = rooms.mirror(place)
    if await mirror.read(run.config_sha, SCRIPT.as_posix()) is None:
        return None
    tree = await rooms.trees.materialise(mirror, run.config_sha, tree_name(run.id, TRUSTED))
    if isinstance(tree, Refusal):
        raise Fault("the default branch cannot be checked out", tree.reason)
    return tree


async def stop_ferry(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Stop that one job and all below it, and wait until it is gone: two ferries of a gate never run at once."""
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    _, run, gate = found
    job_id = gate.attempts[-1].job_id
    try:
        iris = rooms.iris_of(run)
        await iris.stop(job_id)
        known = await iris.state(job_id)
    except ClusterUnset as unset:
        return Outcome(given_up(run, job_id, unset.public))
    except Fault as fault:
        if silent_for_long(effect, context):
            return Outcome(given_up(run, job_id, fault.public))
        raise
    if isinstance(known, Unknown) and silent_for_long(effect, context):
        return Outcome(given_up(run, job_id, "Iris has not answered for a day"))
    if isinstance(known, Unknown) or (isinstance(known, Found) and known.state not in TERMINAL_STATES):
        raise Fault("the ferry is still being stopped", f"{job_id}: {known}", retryable=True)
    return Outcome(FerryStopped(run.id, gate.number, gate.attempts[-1].number))
