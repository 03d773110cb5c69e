"""The pinned head on disk: two trees, and their removal."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable

from bot.checkout.refusals import Refusal
from bot.effects.context import Context, Rooms, current, place_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event, Prepared, Refused

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


async def sweep_trees(rooms: Rooms, live: Iterable[str]) -> list[str]:
    """Remove the trees of every run that is not in `live` (run ids): what a crash left behind. Their names."""
    runs = set(live)
    # What a preflight remembers goes with its run.
    if rooms.preflight_results.is_dir():
        for folder in rooms.preflight_results.iterdir():
            if folder.name not in runs:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return await rooms.trees.sweep({tree_name(run_id, which) for run_id in runs for which in FOLDERS})


async def remove_trees(rooms: Rooms, run_id: str) -> None:
    # In turn: the clean-up of a run and the revoked preflight of the same run come at one time.
    async with rooms.removing:
        for which in FOLDERS:
            await rooms.trees.remove(tree_name(run_id, which))
