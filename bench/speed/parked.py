"""A thousand runs that wait for a reviewer, made by the machine itself from events as real runs have them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random

from bot.conversation.commands import Assess
from bot.effects.registry import LANES, ROWS
from bot.engine.clock import SystemClock
from bot.engine.policy import EffectPolicy
from bot.engine.port import Effect, EffectContext, Outcome
from bot.engine.sqlite import SqliteEngine
from bot.gating.events import Assessed, Authorised, Event
from bot.gating.happenings import Mentioned
from bot.gating.machine import GateMachine
from bot.gating.model import Place, PullRequest
from bot.gating.states import RunState
from bot.gating.written import Asked, Published
from tests.gating.story import BASE, CONFIG, HEAD, MAIN, assessment, plan


async def perform(effect: Effect, context: EffectContext[PullRequest]) -> Outcome[Event]:
    """As if all went well, on the way to the question."""
    pr = await context.read()
    run_id = pr.run.id if pr.run else ""
    match effect.kind:
        case "authorise":
            comment = int(effect.payload["comment_id"])
            return Outcome(Authorised(comment, "rev", "write", Assess(), HEAD, True, "main"))
        case "assess":
            return Outcome(
                Assessed(run_id, HEAD, BASE, "main", "main", False, MAIN, CONFIG, plan(1, 2, 3), assessment())
            )
        case "ask":
            return Outcome(Asked(run_id, 9_000_000))
        case "publish":
            return Outcome(Published(9_000_001, "digest"))
    return Outcome()


def _never(effect: Effect, error: BaseException) -> Event:
    raise AssertionError(f"{effect.kind} failed: {error}")


@asynccontextmanager
async def engine(database: Path, repository: str) -> AsyncIterator[SqliteEngine[PullRequest, Event]]:
    policies = [
        EffectPolicy(row.kind, row.lane, perform, _never, lambda error: False, timedelta(minutes=1)) for row in ROWS
    ]
    machine = GateMachine("perf-gate", {repository})
    async with SqliteEngine.open(database, machine, policies, LANES, SystemClock(), Random(1)) as opened:
        yield opened


async def park(database: Path, runs: int, installation: int, repository_id: int, repository: str) -> None:
    """Leave so many runs in the database, each awaiting its reviewer."""
    async with engine(database, repository) as opened:
        acting = asyncio.create_task(opened.run())
        for number in range(100_000, 100_000 + runs):
            place = Place(installation, repository_id, repository, number, "ada")
            await opened.advance(place.key, Mentioned(place, number * 10, "rev", Assess()), cause="bench")
        await opened.idle()
        last = await opened.read(place.key)
        assert last is not None
        assert last.run is not None
        assert last.run.state is RunState.awaiting_reviewer
        assert len((await opened.overview()).timers) == runs
        acting.cancel()
        with suppress(asyncio.CancelledError):
            await acting
