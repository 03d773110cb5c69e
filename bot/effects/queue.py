"""The queue before a tier: who holds its one slot, who waits before us, and when our turn may come.

The engine's slots know the order, other pull requests' states when their ferries may end. Both are read here and told
to the state machine as an event: so the comment stays what one pull request's state alone gives.
"""

from __future__ import annotations

from bot.effects.context import Context, Rooms, current_gate, place_of
from bot.engine.port import Effect, Outcome
from bot.gating.babysitting import ahead
from bot.gating.draft import holder, tier_slot
from bot.gating.events import Event, QueueSeen
from bot.gating.states import RunState
from bot.watching.queue import queue


async def look_at_queue(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current_gate(effect, context)
    if found is None or found[1].state is not RunState.queued:
        return Outcome()
    pr, run, gate = found
    attempt = gate.attempts[-1]
    first = []
    for slot in (await context.overview()).slots:
        if slot.slot != tier_slot(gate.number):
            continue
        if slot.holder == holder(run, gate, attempt):
            break
        first.append(ahead(await context.read_other(slot.key), slot.holder, gate.number, place_of(pr)))
    return Outcome(QueueSeen(run.id, gate.number, attempt.number, queue(first, context.clock.now())))
