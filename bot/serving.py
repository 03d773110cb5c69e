"""The life of the serving process: it listens and acts until it is told to stop, and hears its operator's signals."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from bot import certificates, logs
from bot.app import Vitals, open_app, prepare
from bot.config.settings import Settings
from bot.deployment import GateEngine
from bot.effects.context import Rooms
from bot.engine.clock import SystemClock
from bot.engine.port import CannotStart, Clock, StoreError
from bot.engine.signals import REVIVE_SIGNAL
from bot.faults import Fault
from bot.heap import share_one_heap
from bot.redaction import redact
from bot.server.listening import Listening

_log = logging.getLogger(__name__)
_TESTED_AGAIN = timedelta(minutes=1)


async def report_cage(rooms: Rooms, vitals: Vitals, clock: Clock) -> None:
    """Say at once what every preflight will find: an operator should not learn it from a stuck run."""
    trees, never = rooms.settings.trees_dir, asyncio.Event()
    while True:
        try:
            problem = await rooms.cage.self_test(trees)
            break
        except OSError as error:
            # A full disk, mostly. It passes, and says nothing of the sandbox.
            vitals.sandbox_holds = False
            _log.error("the sandbox cannot be tested, and is tested again in a minute", extra={"why": str(error)})
            await clock.wait(never, clock.now() + _TESTED_AGAIN)
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


class Ended(Exception):
    """What served has ended through a fault of its own or of what it stands on; the message is for the operator."""


async def end(listening: Listening, tasks: Collection[asyncio.Task[Any]]) -> list[BaseException | None]:
    """At once neither new deliveries nor new effects. What is being told is heard to its end, within the door's
    patience, and beside it running effects get the engine's grace: a host allows little more before it kills."""
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, listening.stop(), return_exceptions=True)


async def serve(settings: Settings) -> None:
    """Listen and act until SIGINT or SIGTERM. A fault of the engine ends the process: the host starts it again.

    Raises Ended then; CannotStart and Fault where it cannot even begin.
    """
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
        # Deliveries come in meanwhile; nobody is asked for anything before.
        await asyncio.to_thread(certificates.read)
        try:
            await asyncio.to_thread(prepare, app)
        except Fault:
            await listening.stop()
            raise
        acting = asyncio.create_task(app.engine.run())
        testing = asyncio.create_task(report_cage(app.rooms, app.vitals, SystemClock()))
        looking = asyncio.create_task(app.rounds.keep(timedelta(seconds=settings.recovery_seconds)))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({acting, stopping, looking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            results = await end(listening, (testing, stopping, looking, acting))
    tell_of_faults(results, settings.secrets)
    _log.info("stopped")


def tell_of_faults(results: Iterable[BaseException | None], secrets: Sequence[str]) -> None:
    """Raises Ended with the first fault among these; the log has it with its traceback, redacted like all else."""
    for result in results:
        if isinstance(result, Exception):
            _log.error("perf-gate ends through a fault", exc_info=result)
            raise Ended(redact(str(result) or type(result).__name__, secrets))
