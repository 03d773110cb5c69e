"""The pinned head on disk: two trees, the preflight in one of them, and their removal."""

from __future__ import annotations

from bot.checkout.refusals import Refusal
from bot.effects.context import Context, Rooms, config_of, current, place_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event, PreflightFailed, PreflightPassed, Prepared, Refused
from bot.gating.model import FailedCommand
from bot.sandbox import preflight as sandboxed

# The preflight's code may do anything to its own copy; the bundle comes from the one it never touched (DESIGN "Trust").
WORK, PRISTINE = "work", "pristine"
# The default branch, for the repository's own collector.
TRUSTED = "trusted"


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
    return Outcome(Prepared(run.id))


async def preflight(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Run the configured commands in the cage; a finished command is not run again for the same commit."""


async def cleanup(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    run_id = str(effect.payload["run_id"])
    for which in (WORK, PRISTINE, TRUSTED):
        await rooms.trees.remove(tree_name(run_id, which))
    return Outcome()
