"""What the settings of one deployment open: its folders, the engine's shell, the Iris clusters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random

from msgspec.structs import replace

from bot.config.extras import without_postgres
from bot.config.settings import Settings
from bot.effects.registry import LANES, Policy
from bot.engine.port import CannotStart, Clock, Engine
from bot.engine.sqlite.engine import SqliteEngine
from bot.engine.sqlite.lock import InUse, ProcessLock
from bot.faults import Fault
from bot.gating.events import Event
from bot.gating.machine import GateMachine
from bot.gating.model import PullRequest
from bot.iris.adapter import Iris
from bot.iris.settings import IrisSettings
from bot.sandbox.submitting import SubmitCage

GateEngine = Engine[PullRequest, Event]


@asynccontextmanager
async def folder_of_its_own(settings: Settings) -> AsyncIterator[None]:
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


def open_engine(
    settings: Settings, machine: GateMachine, acts: Sequence[Policy], clock: Clock, random: Random
) -> AbstractAsyncContextManager[GateEngine]:
    """The shell the settings ask for. Raises CannotStart where its libraries are not installed."""
    if settings.database_url is None:
        return SqliteEngine.open(settings.database_file, machine, acts, LANES, clock, random)
    try:
        # Imported only where it is asked for: an extra, and slow to import.
        from bot.engine.postgres import PostgresEngine
    except ImportError as error:
        raise CannotStart(without_postgres(error)) from error
    address = settings.database_url.get_secret_value()
    return PostgresEngine.open(address, machine, acts, LANES, clock, random)


def make_folders(settings: Settings) -> None:
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
async def other_clusters(settings: Settings, clock: Clock) -> AsyncIterator[dict[str, Iris]]:
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
