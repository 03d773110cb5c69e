"""What each answer to the question costs: which gates it runs, for how long, and behind whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from bot.comment.markdown import table
from bot.comment.numbers import about
from bot.comment.sentences import gate_title
from bot.gating.model import GatePlan
from bot.watching.queue import Queue

_NOBODY = Queue()


class TierCost(msgspec.Struct, frozen=True):
    """A tier at this moment. `seconds` is the median of its last `runs` scheduled runs; `runs` 0: its wall-time."""

    gate: int
    seconds: float
    runs: int
    queue: Queue = _NOBODY


def costs_of(plan: Sequence[GatePlan], known: Mapping[int, TierCost], now: datetime | None) -> str:
    """A row a choice, and what is known of the tiers below."""
    tiers = [known.get(gate.number, TierCost(gate.number, gate.wall_seconds, 0)) for gate in plan]
    rows, whole = [["`max_gate=skip`", "nothing", "0 h"]], 0.0
    for index, (gate, tier) in enumerate(zip(plan, tiers, strict=True)):
        whole += tier.seconds
        runs = ", then ".join(gate_title(one) for one in plan[: index + 1])
        rows.append([f"`max_gate={gate.number}`", runs, _hours(whole)])
    said = [table(["Answer", "runs, after lint, types and tests", "for about"], rows, budget=4_000, more="gates")]
    said.append(_whence(tiers))
    said += [_waiting(tier, now) for tier in tiers if tier.queue.ahead]
    return "\n\n".join(part for part in said if part)


def _whence(tiers: Sequence[TierCost]) -> str:
    measured = [tier for tier in tiers if tier.runs]
    if not measured:
        return (
            "The hours are the time set for each gate (`wall_time`): how long its scheduled runs took is not known "
            "yet. A failed gate ends it early."
        )
    parts = ", ".join(f"{tier.runs} of tier {tier.gate}" for tier in measured)
    rest = "" if len(measured) == len(tiers) else "; for the other gates, the time set for them (`wall_time`)"
    return f"The hours are the median of the last scheduled runs ({parts}){rest}. A failed gate ends it early."


def _waiting(tier: TierCost, now: datetime | None) -> str:
    ahead = len(tier.queue.ahead)
    ferries = "1 ferry is" if ahead == 1 else f"{ahead} ferries are"
    starts = tier.queue.starts_at
    turn = f"; its turn would come in about {about(starts - now)}" if starts and now and starts > now else ""
    numbers = ", ".join(f"#{one.number}" for one in tier.queue.ahead[:5] if one.number)
    whose = f" ({numbers})" if numbers else ""
    return f"⏳ Tier {tier.gate}: {ferries} ahead{whose}{turn}."


def _hours(seconds: float) -> str:
    if seconds < 90:
        return "a minute"
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else about(timedelta(seconds=seconds))
