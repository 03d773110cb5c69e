"""The machine: room on its disk, the state in its database, the programs it starts."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from bot.cli.checks.model import Found, Surroundings, ok, wrong
from bot.config.settings import PREFIX, Settings, StateSettings, database_file
from bot.engine.port import CannotStart, NothingStored, StoreError
from bot.engine.tables import inspection
from bot.runs.reading import looking

LEAST_FREE = 2 * 2**30
"""A clone of marin and two trees of it take about one gigabyte; the rest is for what comes meanwhile."""


async def disk(around: Surroundings) -> Sequence[Found]:
    settings, found = around.settings, list[Found]()
    for folder, variable in ((settings.state_dir, "STATE_DIR"), (settings.trees_dir.parent, "WORK_DIR")):
        if variable == "STATE_DIR" or folder != settings.state_dir:
            found.append(_room(folder, f"{PREFIX}{variable}"))
    return found


def _room(folder: Path, variable: str) -> Found:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        return wrong(f"{there} cannot be written by this user", f"give it to the user of perf-gate, or set {variable}")
    free = shutil.disk_usage(there).free
    if free < LEAST_FREE:
        least = LEAST_FREE / 2**30
        said = f"{free / 2**30:.1f} GiB are free at {folder}, a run needs {least:g}"
        return wrong(said, f"make room, extend the volume, or set {variable} to another disk")
    return ok(f"{free / 2**30:.0f} GiB free at {folder}")


async def database(around: Surroundings) -> Sequence[Found]:
    return await asyncio.to_thread(stored, around.settings)


def stored(settings: Settings | StateSettings) -> Sequence[Found]:
    """What `perf-gate serve` would find of its state."""
    if settings.database_url is None and settings.state_dir and not database_file(settings.state_dir).exists():
        return [ok(f"none yet; perf-gate serve makes it in {settings.state_dir}")]
    try:
        with looking(settings) as tx:
            counts = inspection.counts(tx)
    except NothingStored as nothing:
        return [ok(f"{nothing}; it makes its tables at its first start")]
    except (CannotStart, StoreError) as error:
        if settings.database_url is not None:
            fix = f"let {PREFIX}DATABASE_URL name a database that answers; restore a backup only where it is damaged"
            return [wrong(str(error), fix)]
        return [wrong(str(error), f"restore a backup, or mend what {PREFIX}STATE_DIR names")]
    if counts.dead:
        fix = "perf-gate runs names it; mend the cause, then: perf-gate revive"
        return [wrong(f"{counts.dead} deliveries, effects or events were given up", fix)]
    return [ok("readable, nothing was given up")]


_IRIS_FIX = f"make .iris in the clone of perf-gate, and set {PREFIX}IRIS_COMMAND to the path of its .iris/bin/iris"


async def programs(around: Surroundings) -> Sequence[Found]:
    """What is started as a process of its own."""
    settings, found = around.settings, list[Found]()
    if shutil.which("git") is None:
        found.append(wrong("git is not installed", "apt-get install git"))
    if not os.access(settings.iris_command, os.X_OK):
        found.append(wrong(f"there is no iris program at {settings.iris_command.absolute()}", _IRIS_FIX))
    if absent := [tools for tools in settings.sandbox_tools if not (tools / "bin").is_dir()]:
        found.append(wrong(f"{absent[0]} has no bin/", f"set {PREFIX}SANDBOX_TOOLS to folders of tools"))
    if settings.package_cache is not None and not settings.package_cache.is_dir():
        fix = f"fill it as docs/sandbox.md says, or unset {PREFIX}PACKAGE_CACHE"
        found.append(wrong(f"there is no folder {settings.package_cache}", fix))
    return found or [ok("git, iris and the sandbox's tools are there")]
