"""What the tiers cost now, for the question: recent scheduled runs that are at hand, and who stands in line."""

from __future__ import annotations

import asyncio

from bot.baseline.model import Archive
from bot.baseline.spent import usually_spent
from bot.comment.costs import TierCost
from bot.effects.context import Context, Rooms, config_of, gate_config, place_of
from bot.effects.locate import MIRROR_SECONDS
from bot.gating.babysitting import ahead
from bot.gating.draft import tier_slot
from bot.gating.model import PullRequest, Run
from bot.watching.queue import queue


async def tier_costs(rooms: Rooms, context: Context, pr: PullRequest, run: Run) -> dict[int, TierCost]:
    """By gate. Asks nobody outside of this machine and its database."""
    archive = Archive(rooms.settings.state_dir / "perf-reports", rooms.settings.perf_reports, MIRROR_SECONDS)
    place, config, slots = place_of(pr), config_of(run), (await context.overview()).slots
    found = {}
    for plan in run.plan:
        workflow = gate_config(config, plan.number).workflow
        spent = await asyncio.to_thread(usually_spent, archive, place.full_name, workflow, plan.number)
        first = [
            ahead(await context.read_other(slot.key), slot.holder, plan.number, place)
            for slot in slots
            if slot.slot == tier_slot(plan.number) and not slot.holder.startswith(f"{run.id}/")
        ]
        seconds, runs = (spent.seconds, spent.runs) if spent else (plan.wall_seconds, 0)
        found[plan.number] = TierCost(plan.number, seconds, runs, queue(first, context.clock.now()))
    return found
