"""The verdict: the pinned baseline against the collected treatment, by the rules of `bot.verdict`."""

from __future__ import annotations

from bot.effects.context import Context, Rooms, config_of, current_gate
from bot.engine.port import Effect, Outcome
from bot.gating.events import Compared, Event
from bot.verdict.judge import judge
from bot.verdict.report import parse_json


async def compare(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    _, run, gate = found
    if gate.baseline is None or gate.attempt is None:
        raise AssertionError("a comparison was asked for before both reports were there")
    config = config_of(run)
    judgement = judge(
        parse_json(gate.baseline.report),
        parse_json(gate.attempt.report),
        config.thresholds,
        history=gate.history,
        policy=config.verdict.policy,
    )
    return Outcome(Compared(run.id, gate.number, gate.attempt.number, judgement))
