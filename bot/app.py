"""Wiring: the one place that knows every room. Settings in, a running bot out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from random import Random, SystemRandom

import msgspec
from aiohttp import web

from bot.baseline.latest import Latest, latest
from bot.checkout.refusals import Quota
from bot.checkout.trees import Trees
from bot.comment.sentences import LATE_START
from bot.config.settings import Settings
from bot.conversation import reading
from bot.deployment import GateEngine, folder_of_its_own, iris_settings, make_folders, open_engine, other_clusters
from bot.effects.context import Rooms
from bot.effects.ledger import PaceLedger
from bot.effects.prepare import sweep_trees
from bot.effects.registry import ROWS, policies
from bot.engine.clock import SystemClock
from bot.engine.port import Clock
from bot.gating.keeping import kept
from bot.gating.machine import GateMachine
from bot.github.adapter import GitHub
from bot.github.names import RepoRef
from bot.iris.adapter import Iris
from bot.metrics.exposition import Process, metrics
from bot.metrics.observing import counting, observed
from bot.metrics.tally import Tally
from bot.recovery.rounds import Rounds, live_keys
from bot.runs.reading import looking
from bot.sandbox.configured import cage_of
from bot.sandbox.submitting import SubmitCage
from bot.server.checks import LARGEST_BODY
from bot.server.health import Signs, healthz, readiness
from bot.server.pages.routes import Pages
from bot.server.pages.schedules import Scheduled, Tiers
from bot.server.webhook import Door, door, webhook

_log = logging.getLogger(__name__)


class Vitals(msgspec.Struct):
    """What only the running process knows of itself. `sandbox_holds`: None until it was tested."""

    started: datetime
    sandbox_holds: bool | None = None


class App(msgspec.Struct, frozen=True):
    """A bot that is wired up. `engine.run()` makes it act, `web` and `door` are what listens.

    `rounds` finds what was missed.
    """

    engine: GateEngine
    rooms: Rooms
    web: web.Application
    door: Door
    rounds: Rounds
    vitals: Vitals
    pages: Pages


@asynccontextmanager
async def open_app(
    settings: Settings,
    clock: Clock | None = None,
    random: Random | None = None,
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> AsyncIterator[App]:
    """Open database and adapters; leaving closes them. Raises CannotStart or Fault with a sentence for the operator."""
    clock = clock or SystemClock()
    cage = cage_of(settings)
    config = [settings.iris_config] if settings.iris_config else []
    make_folders(settings)
    async with (
        folder_of_its_own(settings),
        GitHub.open(
            settings.github_api_url,
            str(settings.app_id),
            settings.private_key.get_secret_value(),
            clock.now,
            write_spacing=timedelta(seconds=settings.write_spacing),
            wait=wait,
            monotonic=monotonic,
        ) as github,
        Iris.open(iris_settings(settings), clock.now, SubmitCage.around(settings.iris_command, config)) as iris,
        other_clusters(settings, clock) as others,
    ):
        trees = Trees(settings.trees_dir, Quota(settings.tree_mb * 2**20))
        rooms = Rooms(settings, github, trees, cage, iris, other_clusters=others)
        machine, tally = GateMachine(settings.mention, settings.repositories), Tally()
        acts = observed(policies(rooms), tally, clock.now)
        async with open_engine(settings, machine, acts, clock, random or SystemRandom()) as engine:
            rooms.tell.advance = engine.advance
            github.keep_pace_in(PaceLedger(engine), shared=settings.database_url is not None)
            await _sweep(engine, rooms)
            rounds, vitals = Rounds(github, engine, clock, settings.mention), Vitals(clock.now())
            pages, way_in = _pages(rooms, clock), _door(settings, engine, tally, clock)
            serving = _web(rooms, engine, way_in, rounds, vitals, clock, pages, tally)
            yield App(engine, rooms, serving, way_in, rounds, vitals, pages)


def prepare(app: App) -> None:
    """Load and check what is needed only once somebody speaks: a start does not wait for it, nor do they.

    Raises Fault where the App's key is none or damaged.
    """
    reading.prepare()
    app.rooms.github.prove_key()


async def _sweep(engine: GateEngine, rooms: Rooms) -> None:
    """A live run always has something open in the engine; trees of any other are left-overs of a crash."""
    kept = rooms.preflight_results
    if not any(rooms.settings.trees_dir.iterdir()) and not (kept.is_dir() and any(kept.iterdir())):
        return
    try:
        states = [await engine.read(key) for key in live_keys(await engine.overview())]
    except msgspec.MsgspecError as error:
        _log.error("a run cannot be read by this release, so no left-over trees are removed", extra={"why": str(error)})
        return
    live = [pr.run.id for pr in states if pr is not None and pr.run is not None and not pr.run.state.ended]
    if removed := await sweep_trees(rooms, live):
        _log.info("removed trees that a crash left behind", extra={"trees": removed})


def _pages(rooms: Rooms, clock: Clock) -> Pages:
    async def is_public(full_name: str, installation_id: int) -> bool:
        return await rooms.github.is_public(RepoRef(installation_id, full_name))

    async def schedules(full_name: str, installation_id: int) -> Tiers:
        found = await latest(rooms.github, RepoRef(installation_id, full_name))
        return {one.number: _scheduled(one) for one in found}

    return Pages(rooms.settings, lambda: looking(rooms.settings), clock, is_public, rooms.public, schedules)


def _scheduled(tier: Latest) -> Scheduled | None:
    run, gate = tier.run, tier.gate
    if run is None:
        return None
    within = gate.schedule_period + gate.wall_time + LATE_START
    return Scheduled(run.id, run.url, run.head_sha, run.created_at, within)


def _door(settings: Settings, engine: GateEngine, tally: Tally, clock: Clock) -> Door:
    def keep(event: str, body: bytes) -> bytes | None:
        return kept(event, body, settings.mention)

    secret = settings.webhook_secret.get_secret_value().encode()
    return door(secret, counting(engine.take, tally), keep, now=clock.now)


def _web(
    rooms: Rooms,
    engine: GateEngine,
    door: Door,
    rounds: Rounds,
    vitals: Vitals,
    clock: Clock,
    pages: Pages,
    tally: Tally,
) -> web.Application:
    application = web.Application(client_max_size=LARGEST_BODY + 1)
    application.router.add_post("/webhook", webhook(door))
    every = timedelta(seconds=rooms.settings.recovery_seconds)

    def signs() -> Signs:
        return Signs(vitals.started, rounds.ended_at, every, vitals.sandbox_holds, rounds.asked_at, door.heard.lately)

    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readiness(engine, signs, clock.now))

    def process() -> Process:
        left = rooms.github.requests_left
        return Process(left, engine.running, vitals.sandbox_holds, vitals.started, rounds.asked_at)

    kinds = [row.kind for row in ROWS]
    application.router.add_get("/metrics", metrics(pages.reader.glance, tally, process, kinds, clock.now))
    pages.add_to(application)
    return application
