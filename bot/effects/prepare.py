"""The pinned head on disk: two trees, the preflight in one of them, and their removal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from bot.checkout.refusals import Refusal
from bot.effects.context import Context, Rooms, config_of, current, place_of, unless_revoked
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event, PreflightFailed, PreflightPassed, Prepared, Refused
from bot.gating.model import FailedCommand
from bot.sandbox import preflight as sandboxed

_log = logging.getLogger(__name__)

# The preflight's code may do anything to its own copy; the bundle comes from the one it never touched (DESIGN "Trust").
WORK, PRISTINE = "work", "pristine"
# What the preflight of this run downloaded and built: no other run may meet it.
CACHE = "cache"
# The default branch, for the repository's own collector.
TRUSTED = "trusted"
FOLDERS = (WORK, PRISTINE, TRUSTED, CACHE)


def tree_name(run_id: str, which: str) -> str:
    return f"{run_id}-{which}"


async def prepare(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current(effect, context)
    if found is None:
        return Outcome()
    pr, run = found
    place = place_of(pr)
    mirror = rooms.mirror(place)
    if not await mirror.ensure(run.head_sha, rooms.git_token(place)):
        raise Fault("the commit that was shown is gone from the repository", f"no {run.head_sha}")
    for which in (WORK, PRISTINE):
        made = await rooms.trees.materialise(mirror, run.head_sha, tree_name(run.id, which))
        if isinstance(made, Refusal):
            return Outcome(Refused(run.id, made.reason))
    if context.revoked.is_set():
        # The run ended meanwhile, and its clean-up may have come before the last tree was there.
        await remove_trees(rooms, run.id)
    return Outcome(Prepared(run.id))


async def preflight(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Run the configured commands in the cage; after a crash, from the first that had not finished."""
    found = await current(effect, context)
    if found is None:
        return Outcome()
    pr, run = found
    # Found where `prepare` made it; made again where a crash of the machine may have damaged it.
    tree = await rooms.trees.materialise(rooms.mirror(place_of(pr)), run.head_sha, tree_name(run.id, WORK))
    if isinstance(tree, Refusal):
        return Outcome(Refused(run.id, tree.reason))
    # Remembered per run: a new run of the same commit tries a failed command again.
    results = rooms.preflight_results / run.id
    commands = config_of(run).preflight.commands
    cache = rooms.trees.path(tree_name(run.id, CACHE))
    cache.mkdir(exist_ok=True)
    running = sandboxed.run(rooms.cage, commands, tree=tree, sha=run.head_sha, results=results, cache=cache)
    outcome = await unless_revoked(running, context)
    if outcome is None:
        await remove_trees(rooms, run.id)
        return Outcome()
    return Outcome(_told(run.id, outcome))


def _told(run_id: str, outcome: sandboxed.Verdict) -> Event:
    """A red test halts the run; a cage that is not sound, or a command that never ends, says nothing about the code."""
    if isinstance(outcome, sandboxed.Passed):
        return PreflightPassed(run_id)
    if isinstance(outcome, sandboxed.Failed):
        return PreflightFailed(run_id, FailedCommand(outcome.command, outcome.exit_code, outcome.tail))
    if isinstance(outcome, sandboxed.TimedOut):
        return Refused(run_id, f"`{outcome.command}` did not end within {outcome.seconds:g} s in the sandbox")
    return Refused(run_id, f"the preflight could not be run in the sandbox: {outcome.reason}")


async def cleanup(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    await remove_trees(rooms, str(effect.payload["run_id"]))
    if swept := await asyncio.to_thread(rooms.rundirs.sweep, context.clock.now()):
        _log.info("old runs' files were removed", extra={"runs": swept})
    return Outcome()


async def sweep_trees(rooms: Rooms, live: Iterable[str]) -> list[str]:
    """Remove the trees of every run that is not in `live` (run ids): what a crash left behind. Their names."""
    return await rooms.trees.sweep({tree_name(run_id, which) for run_id in live for which in FOLDERS})


async def remove_trees(rooms: Rooms, run_id: str) -> None:
    # In turn: the clean-up of a run and the revoked preflight of the same run come at one time.
    async with rooms.removing:
        for which in FOLDERS:
            await rooms.trees.remove(tree_name(run_id, which))
