"""The preflight without a sandbox: each command as a job of its own on the cluster, or the head's own green checks.

Neither keeps a performer busy: one look, and where it is not over yet, another one later.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import msgspec

from bot.checkout.refusals import Refusal
from bot.config.schema import Preflight, PreflightCommand
from bot.effects.context import Rooms, config_of, repo_of
from bot.effects.prepare import PRISTINE, tree_name
from bot.faults import Fault
from bot.gating.model import Place, Run
from bot.gating.tested import CommandsLeft
from bot.github.commit_checks import CommitCheck
from bot.iris.commands import CommandState
from bot.iris.controller import Absent, Unknown
from bot.iris.names import job_name
from bot.iris.submit import Refused
from bot.sandbox.bubblewrap import NotInstalled
from bot.sandbox.preflight import CageFault, Failed, Passed, TimedOut

# No gate has this number: the jobs of a preflight can never be taken for a ferry.
_NO_GATE = 0


class Waits(msgspec.Struct, frozen=True):
    """It is not over; worth another look in `seconds`."""

    seconds: float


Verdict = Passed | Failed | TimedOut | CageFault | Refusal | Waits
Wanted = Callable[[], Awaitable[bool]]


async def on_iris(rooms: Rooms, place: Place, run: Run, now: datetime, wanted: Wanted) -> Verdict:
    """One command after the other: what has ended well is passed over, what runs is looked at, what is absent is
    submitted while the run is `wanted`. Raises Fault where Iris cannot be asked."""
    preflight = config_of(run).preflight
    for index, command in enumerate(preflight.commands):
        name = command_job(place, run.head_sha, run.ordinal, index)
        known = await rooms.iris.look_up(name)
        if isinstance(known, Unknown):
            raise Fault("Iris does not say whether the preflight is there already", known.reason, retryable=True)
        if isinstance(known, Absent):
            return await _submit_while_wanted(rooms, place, run, name, command, wanted)
        state = await rooms.iris.command_state(known.job_id)
        if isinstance(state, Absent):
            raise Fault("Iris did not show the preflight just now", known.job_id, retryable=True)
        if state.over and state.exit_code == 0:
            continue
        return await _judge(rooms, known.job_id, command, state, preflight, now)
    return Passed(())


def command_job(place: Place, head_sha: str, ordinal: int, index: int) -> str:
    """The job's name: the same after any crash."""
    return job_name(place.repository_id, place.number, head_sha, ordinal, _NO_GATE, index + 1)


async def stop_commands(rooms: Rooms, place: Place, left: CommandsLeft) -> None:
    """End what may still run of a preflight that nobody waits for."""
    for index in range(left.commands):
        await rooms.iris.stop(rooms.iris.job_id(command_job(place, left.head_sha, left.ordinal, index)))


async def _submit_while_wanted(
    rooms: Rooms, place: Place, run: Run, name: str, command: PreflightCommand, wanted: Wanted
) -> Verdict:
    preflight = config_of(run).preflight
    if not await wanted():
        return Waits(preflight.check_every.total_seconds())
    try:
        return await _submit(rooms, place, run, name, command, preflight)
    finally:
        # The run's clean-up may have come before the job, of which this attempt alone knows; also where it failed.
        if not await wanted():
            await rooms.iris.stop(rooms.iris.job_id(name))


async def _submit(
    rooms: Rooms, place: Place, run: Run, name: str, command: PreflightCommand, preflight: Preflight
) -> Verdict:
    tree = await rooms.trees.materialise(rooms.mirror(place), run.head_sha, tree_name(run.id, PRISTINE))
    if isinstance(tree, Refusal):
        return tree
    shape = preflight.job.model_copy(update={"memory": f"{command.memory_mb}MB"})
    try:
        answer = await rooms.iris.submit_command(name, command.run, shape, command.timeout, tree)
    except NotInstalled as error:
        return CageFault(f"nothing can be submitted without a cage: {error}")
    if isinstance(answer, Refused):
        return CageFault(f"Iris refused `{shlex.join(command.run)}`: {answer.reason}")
    return Waits(preflight.check_every.total_seconds())


async def _judge(
    rooms: Rooms, job_id: str, command: PreflightCommand, state: CommandState, preflight: Preflight, now: datetime
) -> Verdict:
    words = shlex.join(command.run)
    if state.over and state.exit_code is not None:
        return Failed(words, state.exit_code, state.tail)
    if state.over:
        return CageFault(f"`{words}` was ended as the Iris job `{job_id}`: {state.error}")
    if (
        state.started_at is None
        and state.submitted_at is not None
        and now - state.submitted_at > preflight.starts_within
    ):
        await rooms.iris.stop(job_id)
        why = f": {state.error}" if state.error else ""
        return CageFault(f"no machine began `{words}` within {_hours(preflight.starts_within)}{why}")
    if state.started_at is not None and now - state.started_at > command.timeout:
        await rooms.iris.stop(job_id)
        return TimedOut(words, command.timeout.total_seconds(), state.tail)
    return Waits(preflight.check_every.total_seconds())


async def by_checks(rooms: Rooms, place: Place, run: Run, now: datetime) -> Verdict:
    """The named checks of the head, all of them green. One that is red halts; one that does not come is waited for."""
    preflight = config_of(run).preflight
    found = await rooms.github.commit_checks.of(repo_of(place), run.head_sha)
    named = {name: [check for check in found if check.name == name] for name in preflight.checks}
    for name, checks in named.items():
        if red := [check for check in checks if check.colour == "red"]:
            return Failed(f"check: {name}", None, _said(red))
    waiting = [name for name, checks in named.items() if not any(check.colour == "green" for check in checks)]
    if not waiting:
        return Passed(())
    if now - run.since <= preflight.checks_within:
        return Waits(preflight.check_every.total_seconds())
    names = ", ".join(f"`{name}`" for name in waiting)
    return CageFault(f"not green within {_hours(preflight.checks_within)}: {names}")


def _said(red: list[CommitCheck]) -> str:
    return "\n".join(" ".join(part for part in (check.title, check.url) if part) for check in red)


def _hours(time: timedelta) -> str:
    return f"{time.total_seconds() / 3600:g} h"
