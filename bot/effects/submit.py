"""Submitting the treatment ferry: once, under its derived name, and never without having looked for it first."""

from __future__ import annotations

import logging
from datetime import timedelta

from bot.checkout.refusals import Refusal
from bot.effects.context import ClusterUnset, Context, Rooms, config_of, current_gate, gate_config, place_of
from bot.effects.prepare import PRISTINE, tree_name
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event, FerryStopped, Refused, Submitted, Unsubmitted
from bot.gating.model import GateRun, Place, Run
from bot.gating.states import RunState
from bot.iris.controller import Found, Unknown
from bot.iris.names import job_name
from bot.iris.submit import Refused as RefusedByIris
from bot.sandbox.bubblewrap import NotInstalled

# With the waits between them some two hours, in which a controller is restarted or an operator woken.
MOST_LAUNCHES = 30
# Somebody said stop, and the controller does not answer: after this the run is let go, and what may be left is said.
_SILENT_FOR = timedelta(days=1)
_log = logging.getLogger(__name__)


def name_of(place: Place, run: Run, gate: GateRun) -> str:
    """The job's name: the same after any crash, another for every attempt."""
    number = gate.attempt.number if gate.attempt else 1
    return job_name(place.repository_id, place.number, run.head_sha, run.ordinal, gate.number, number)


def silent_for_long(effect: Effect, context: Context) -> bool:
    return context.clock.now() - effect.created_at >= _SILENT_FOR


def given_up(run: Run, job: str, why: str) -> Refused:
    """The one end that may leave a ferry behind: nobody can be asked about it, so a person has to look."""
    return Refused(run.id, f"{why}; the ferry `{job}` may still run there, and only a person can stop it now")


async def submit(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Look for the job by its name; adopt it in whatever state, and submit only where it is certainly absent."""
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    pr, run, gate = found
    name, attempt = name_of(place_of(pr), run, gate), gate.attempts[-1]
    try:
        iris = rooms.iris_of(run)
    except ClusterUnset as unset:
        _log.error("a ferry's cluster is not set up any more", extra={"job_id": name, "cluster": run.cluster})
        perhaps = attempt.launches or not effect.first
        return Outcome(given_up(run, name, unset.public) if perhaps else Refused(run.id, unset.public))
    known = await iris.look_up(name)
    if isinstance(known, Found):
        return Outcome(Submitted(run.id, gate.number, attempt.number, known.job_id))
    if isinstance(known, Unknown):
        if run.stop_requested_by and silent_for_long(effect, context):
            return Outcome(given_up(run, iris.job_id(name), "Iris has not answered for a day"))
        raise Fault("Iris does not say whether the ferry is there already", known.reason, retryable=True)
    again = await current_gate(effect, context)
    if again is None or context.revoked.is_set() or again[1].state is not RunState.submitting:
        return Outcome()
    if again[1].stop_requested_by or not again[0].is_open:
        # Certainly absent, and no longer wanted: there is nothing to stop, and nothing is started.
        return Outcome(FerryStopped(run.id, gate.number, attempt.number))
    if attempt.launches >= MOST_LAUNCHES:
        # The look-up just now proved that not even the last of them took, so giving up leaves no ferry behind.
        return Outcome(Refused(run.id, f"the ferry could not be submitted: {attempt.launch_error}"))
    try:
        return Outcome(await _launch(rooms, place_of(pr), run, gate, name))
    except Fault as fault:
        if not fault.retryable:
            return Outcome(Refused(run.id, f"the ferry could not be submitted: {fault.public}"))
        _log.warning("a launch came to nothing", extra={"job_id": name, "error": str(fault)})
        return Outcome(Unsubmitted(run.id, gate.number, attempt.number, fault.public))


async def _launch(rooms: Rooms, place: Place, run: Run, gate: GateRun, name: str) -> Event:
    """Submit from the pristine tree, which is made again where a crash of the machine may have damaged it."""
    tree = await rooms.trees.materialise(rooms.mirror(place), run.head_sha, tree_name(run.id, PRISTINE))
    if isinstance(tree, Refusal):
        return Refused(run.id, tree.reason)
    try:
        answer = await rooms.iris_of(run).submit(gate_config(config_of(run), gate.number), name, tree)
    except NotInstalled as error:
        return Refused(run.id, f"the ferry cannot be submitted in a cage: {error}")
    if isinstance(answer, RefusedByIris):
        return Refused(run.id, f"Iris refused the ferry: {answer.reason}")
    return Submitted(run.id, gate.number, gate.attempts[-1].number, answer.job_id)
