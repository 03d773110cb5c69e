"""Wiring: the one place that knows every room. Settings in, a running bot out."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random, SystemRandom

from aiohttp import web

from bot import logs
from bot.checkout.refusals import Quota
from bot.checkout.trees import Trees
from bot.config.settings import Settings
from bot.effects.context import Rooms
from bot.effects.ledger import PaceLedger
from bot.effects.prepare import sweep_trees
from bot.effects.registry import LANES, ROWS, Policy, policies
from bot.engine.clock import SystemClock
from bot.engine.port import CannotStart, Clock, Engine, StoreError
from bot.engine.signals import REVIVE_SIGNAL
from bot.engine.sqlite.engine import SqliteEngine
from bot.engine.sqlite.lock import InUse, ProcessLock
from bot.faults import Fault
from bot.gating.deliveries import worth_keeping
from bot.gating.events import Event
from bot.gating.machine import GateMachine
from bot.gating.model import PullRequest
from bot.github.adapter import GitHub
from bot.github.names import RepoRef
from bot.heap import share_one_heap
from bot.iris.adapter import Iris
from bot.iris.settings import IrisSettings
from bot.metrics.exposition import Process, metrics
from bot.metrics.observing import counting, observed
from bot.metrics.tally import Tally
from bot.recovery.rounds import Rounds, live_keys
from bot.runs.reading import looking
from bot.sandbox.configured import cage_of
from bot.sandbox.submitting import SubmitCage
from bot.server.checks import LARGEST_BODY, Members
from bot.server.health import Signs, healthz, readiness
from bot.server.listening import Listening
from bot.server.pages.routes import Pages
from bot.server.webhook import Door, door, webhook

_log = logging.getLogger(__name__)

GateEngine = Engine[PullRequest, Event]


@dataclass(slots=True)
class Vitals:
    """What only the running process knows of itself. `sandbox_holds`: None until it was tested."""

    started: datetime
    sandbox_holds: bool | None = None


@dataclass(frozen=True, slots=True)
class App:
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
    _make_folders(settings)
    async with (
        _folder_of_its_own(settings),
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
        _other_clusters(settings, clock) as others,
    ):
        trees = Trees(settings.trees_dir, Quota(settings.tree_mb * 2**20))
        rooms = Rooms(settings, github, trees, cage, iris, other_clusters=others)
        machine, tally = GateMachine(settings.mention, settings.repositories), Tally()
        acts = observed(policies(rooms), tally, clock.now)
        async with _open_engine(settings, machine, acts, clock, random or SystemRandom()) as engine:
            rooms.tell.advance = engine.advance
            github.keep_pace_in(PaceLedger(engine), shared=settings.database_url is not None)
            await _sweep(engine, rooms)
            rounds, vitals = Rounds(github, engine, clock, settings.mention), Vitals(clock.now())
            pages, way_in = _pages(rooms, clock), _door(settings, engine, tally)
            serving = _web(rooms, engine, way_in, rounds, vitals, clock, pages, tally)
            yield App(engine, rooms, serving, way_in, rounds, vitals, pages)


@asynccontextmanager
async def _folder_of_its_own(settings: Settings) -> AsyncIterator[None]:
    """Processes may share a database, never mirror and trees. Raises CannotStart. A file's own lock says it already."""
    if settings.database_url is None:
        yield
        return
    try:
        lock = ProcessLock(settings.state_dir / "process")
    except InUse as used:
        raise CannotStart(
            f"the folder {settings.state_dir} is in use by process {used.holder or 'unknown'}; processes that share a "
            "database keep mirror, trees and reports apart: give each a PERF_GATE_STATE_DIR of its own"
        ) from used
    try:
        yield
    finally:
        lock.release()


def _open_engine(
    settings: Settings, machine: GateMachine, acts: Sequence[Policy], clock: Clock, random: Random
) -> AbstractAsyncContextManager[GateEngine]:
    """The shell the settings ask for. Raises CannotStart where its libraries are not installed."""
    if settings.database_url is None:
        return SqliteEngine.open(settings.database_file, machine, acts, LANES, clock, random)
    try:
        # Imported only where it is asked for: an extra, and slow to import.
        from bot.engine.postgres import PostgresEngine
    except ImportError as error:
        raise CannotStart(
            f"PERF_GATE_DATABASE_URL is set, but PostgreSQL's libraries are missing ({error}); "
            "pip install 'perf-gate[postgres]', or unset the variable to keep state in a file"
        ) from error
    address = settings.database_url.get_secret_value()
    return PostgresEngine.open(address, machine, acts, LANES, clock, random)


def _make_folders(settings: Settings) -> None:
    """Caged commands run as another user, who must be able to enter the folder of their tree, but not to list it."""
    trees_from = "PERF_GATE_WORK_DIR" if settings.work_dir else "PERF_GATE_STATE_DIR"
    for folder, named_by in ((settings.state_dir, "PERF_GATE_STATE_DIR"), (settings.trees_dir, trees_from)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o711)
        except OSError as error:
            raise Fault(f"the folder {folder} cannot be used: {error.strerror}; set {named_by}") from error
    if not settings.iris_command.exists():
        raise Fault(f"there is no iris program at {settings.iris_command}; set PERF_GATE_IRIS_COMMAND")
    if settings.iris_config and not settings.iris_config.is_file():
        raise Fault(f"there is no cluster YAML at {settings.iris_config}; set PERF_GATE_IRIS_CONFIG")
    # No caged command starts beside a folder that is not there.
    if absent := [folder for folder in settings.sandbox_tools if not folder.is_dir()]:
        raise Fault(f"there is no folder {absent[0]} to read tools from; set PERF_GATE_SANDBOX_TOOLS")
    if settings.package_cache and not settings.package_cache.is_dir():
        raise Fault(f"there is no folder {settings.package_cache} of packages; set PERF_GATE_PACKAGE_CACHE")


def iris_settings(settings: Settings) -> IrisSettings:
    """What of the deployment's settings concerns Iris."""
    return IrisSettings(
        command=settings.iris_command,
        status_prefix=settings.status_prefix,
        home=settings.state_dir / "iris-home",
        controller_url=settings.iris_controller_url,
        config=settings.iris_config,
        user=settings.iris_user,
        pass_env=settings.pass_env,
    )


@asynccontextmanager
async def _other_clusters(settings: Settings, clock: Clock) -> AsyncIterator[dict[str, Iris]]:
    """Where a reviewer may have a gate run again by name; never used unasked."""
    usual = iris_settings(settings)
    async with AsyncExitStack() as stack:
        opened: dict[str, Iris] = {}
        for name, at in settings.iris_clusters:
            address, config = (None, Path(at)) if at.startswith("/") else (at, None)
            theirs = replace(usual, controller_url=address, config=config, home=usual.home / name)
            cage = SubmitCage.around(settings.iris_command, [config] if config else [])
            opened[name] = await stack.enter_async_context(Iris.open(theirs, clock.now, cage))
        yield opened


async def _sweep(engine: GateEngine, rooms: Rooms) -> None:
    """A live run always has something open in the engine; trees of any other are left-overs of a crash."""
    kept = rooms.preflight_results
    if not any(rooms.settings.trees_dir.iterdir()) and not (kept.is_dir() and any(kept.iterdir())):
        return
    states = [await engine.read(key) for key in live_keys(await engine.overview())]
    live = [pr.run.id for pr in states if pr is not None and pr.run is not None and not pr.run.state.ended]
    if removed := await sweep_trees(rooms, live):
        _log.info("removed trees that a crash left behind", extra={"trees": removed})


def _pages(rooms: Rooms, clock: Clock) -> Pages:
    async def is_public(full_name: str, installation_id: int) -> bool:
        return await rooms.github.is_public(RepoRef(installation_id, full_name))

    return Pages(rooms.settings, lambda: looking(rooms.settings), clock, is_public, rooms.public)


def _door(settings: Settings, engine: GateEngine, tally: Tally) -> Door:
    def keep(event: str, members: Members) -> bool:
        return worth_keeping(event, members, settings.mention)

    return door(settings.webhook_secret.get_secret_value().encode(), counting(engine.accept, tally), keep)


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
        return Signs(vitals.started, rounds.ended_at, every, vitals.sandbox_holds)

    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readiness(engine, signs, clock.now))

    def process() -> Process:
        left = rooms.github.requests_left
        return Process(left, engine.running, vitals.sandbox_holds, vitals.started, rounds.ended_at)

    kinds = [row.kind for row in ROWS]
    application.router.add_get("/metrics", metrics(pages.reader.glance, tally, process, kinds, clock.now))
    pages.add_to(application)
    return application


async def _report_cage(rooms: Rooms, vitals: Vitals) -> None:
    """Say at once what every preflight will find: an operator should not learn it from a stuck run."""
    trees = rooms.settings.trees_dir
    problem = await rooms.cage.self_test(trees)
    vitals.sandbox_holds = problem is None
    if problem is None:
        _log.info("the sandbox holds", extra={"how": rooms.cage.describe(trees)})
    else:
        _log.error("the sandbox does not hold: no preflight and no ferry will run", extra={"why": problem})


@asynccontextmanager
async def reviving(engine: GateEngine) -> AsyncIterator[None]:
    """While this lasts, REVIVE_SIGNAL makes the engine try again what it gave up: `perf-gate revive` sends it."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    loop.add_signal_handler(REVIVE_SIGNAL, asked.set)

    async def revive() -> None:
        while True:
            await asked.wait()
            asked.clear()
            try:
                await engine.revive()
            except StoreError as error:
                _log.error("what was given up stays so", extra={"why": str(error)})
            else:
                _log.info("what was given up is tried again")

    task = asyncio.create_task(revive())
    try:
        yield
    finally:
        loop.remove_signal_handler(REVIVE_SIGNAL)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def serve(settings: Settings) -> None:
    """Listen and act until SIGINT or SIGTERM. A fault of the engine ends the process: the host starts it again."""
    # Database, mirrors, reports and logs are nobody else's; what others must enter is opened by name.
    os.umask(0o077)
    share_one_heap()
    logs.set_up(settings.log_format, settings.secrets)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stop.set)
    async with open_app(settings) as app, reviving(app.engine):
        listening = Listening(app.web, app.door)
        try:
            await listening.start(settings.host, settings.port)
        except OSError as error:
            problem = f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}"
            raise CannotStart(f"{problem}; set PERF_GATE_HOST and PERF_GATE_PORT") from error
        # What is left after this stays: the collector need not go through it again and again.
        gc.collect()
        gc.freeze()
        _log.info("listening", extra={"host": settings.host, "port": settings.port})
        acting = asyncio.create_task(app.engine.run())
        testing = asyncio.create_task(_report_cage(app.rooms, app.vitals))
        looking = asyncio.create_task(app.rounds.keep(timedelta(seconds=settings.recovery_seconds)))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({acting, stopping, looking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # First no new deliveries, then no new effects; running ones get the engine's grace.
            await listening.stop()
            tasks = (testing, stopping, looking, acting)
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result
    _log.info("stopped")
