"""What is done away with once a run has ended: its trees, what its preflight remembered, jobs that nobody waits for."""

from __future__ import annotations

import asyncio
import logging
import shutil

from bot.effects.context import Context, Rooms, place_of
from bot.effects.preflight_elsewhere import stop_commands
from bot.effects.prepare import remove_trees
from bot.engine.port import Effect, Outcome
from bot.gating.events import Event
from bot.gating.leaving import left_of

_log = logging.getLogger(__name__)


async def cleanup(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    run_id = str(effect.payload["run_id"])
    await remove_trees(rooms, run_id)
    await asyncio.to_thread(shutil.rmtree, rooms.preflight_results / run_id, ignore_errors=True)
    pr = await context.read()
    if (left := left_of(effect.payload, pr)) is not None:
        await stop_commands(rooms, place_of(pr), left)
    overview = await context.overview()
    # A live run always has something open; a run that is not may stay a little longer for its pull request's sake.
    live = {one.key for one in overview.effects if one.kind != effect.kind}
    live |= {one.key for one in overview.timers} | {one.key for one in overview.slots}

    def goes_on(run: str) -> bool:
        return "/".join(run.split("-")[:2]) in live

    if swept := await asyncio.to_thread(rooms.rundirs.sweep, context.clock.now(), goes_on):
        _log.info("old runs' files were removed", extra={"runs": swept})
    return Outcome()
