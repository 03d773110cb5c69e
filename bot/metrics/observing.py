"""Effects as they are performed, counted by kind and outcome; their log lines get the ids of their request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec.structs import replace

from bot.engine.policy import EffectPolicy
from bot.engine.port import Delivery, Effect, EffectContext, Outcome, Revoked, Told
from bot.gating.events import Compared, Event
from bot.gating.model import PullRequest
from bot.logs import ids
from bot.metrics.tally import Reaction, Tally

Policy = EffectPolicy[PullRequest, Event]
# What says that a comment was seen; later reactions say what came of it.
_BECAME = {True: "accepted", False: "seen before"}
_FIRST_REACTION = ("react", "eyes")


def observed(policies: Sequence[Policy], tally: Tally, now: Callable[[], datetime]) -> list[Policy]:
    """The same policies; what they do is counted."""
    return [_observed(policy, tally, now) for policy in policies]


def _observed(policy: Policy, tally: Tally, now: Callable[[], datetime]) -> Policy:
    async def perform(effect: Effect, context: EffectContext[PullRequest]) -> Outcome[Event]:
        how = "retried"
        try:
            with ids(
                key=effect.key, effect=effect.id, attempt=effect.attempt, run=str(effect.payload.get("run_id", ""))
            ):
                outcome = await policy.perform(effect, context)
            how = "done"
        except asyncio.CancelledError:
            how = "interrupted"
            raise
        finally:
            tally.effects[policy.kind, how] += 1
        if (policy.kind, effect.payload.get("content")) == _FIRST_REACTION:
            tally.reactions.append(Reaction(effect.key, effect.created_at, now()))
        if isinstance(outcome.event, Compared):
            tally.verdicts[str(outcome.event.gate), outcome.event.judgement.verdict] += 1
        return outcome

    def failed(effect: Effect, error: BaseException) -> Event:
        tally.effects[policy.kind, "revoked" if isinstance(error, Revoked) else "given up"] += 1
        return policy.failed(effect, error)

    return replace(policy, perform=perform, failed=failed)


def counting(take: Callable[[Delivery, Told], None], tally: Tally) -> Callable[[Delivery, Told], None]:
    """The same way in for deliveries; what becomes of them is counted."""

    def counted(delivery: Delivery, told: Told) -> None:
        def count(known: bool | Exception) -> None:
            tally.deliveries["not stored" if isinstance(known, Exception) else _BECAME[known]] += 1
            told(known)

        take(delivery, count)

    return counted
