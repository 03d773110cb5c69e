"""Shared by the tests that need a real cluster: an open cage, the demo repository's gate, and ways to its trees."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.config.load import load_repository_config
from bot.config.schema import Gate
from bot.engine.clock import SystemClock
from bot.iris.adapter import Iris
from bot.iris.controller import Absent
from bot.iris.poll import FerryStatus
from bot.iris.settings import IrisSettings
from bot.watching.look import Look
from demo.cluster import LocalCluster, iris_command
from demo.repository import FILES, DemoRepository


def open_cage(
    argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
) -> list[str]:
    """No cage: what the command sees is the sandbox's subject, not this room's."""
    return list(argv)


def now() -> datetime:
    return datetime.now(UTC)


def demo_gate() -> Gate:
    """Gate 1 as the demo repository configures it."""
    return load_repository_config((FILES / ".github" / "perf-gate.toml").read_text()).gates[1]


def cluster_settings(cluster: LocalCluster, home: Path, **changes: object) -> IrisSettings:
    values: dict[str, object] = {
        "command": iris_command(cluster.iris),
        "status_prefix": str(cluster.status_prefix),
        "home": home,
        "controller_url": cluster.url,
        "user": "gate",
    }
    return IrisSettings(**(values | changes))  # type: ignore[arg-type]


def tree_of(repository: DemoRepository, sha: str, to: Path) -> Path:
    """The files of a commit in a folder of their own, as the checkout room makes them."""
    to.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", sha], cwd=repository.bare, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(to)], input=archive, check=True)
    return to


def no_threads(_: Look) -> bool:
    """No look deserves a thread dump, which takes seconds."""
    return False


async def watch_to_end(iris: Iris, job_id: str, within: timedelta = timedelta(minutes=4)) -> list[FerryStatus]:
    """Look at a ferry every second, as the bot does, until it has ended: all looks, the last one terminal.

    Raises TimeoutError when it has not ended in time, AssertionError when the cluster forgot it.
    """
    clock, seen = SystemClock(), list[FerryStatus]()
    async with asyncio.timeout(within.total_seconds()):
        while True:
            looked = await iris.look(job_id, demo_gate().expected_steps, no_threads)
            assert not isinstance(looked, Absent), f"{job_id} vanished"
            seen.append(looked.status)
            if looked.status.terminal:
                return seen
            await clock.wait(asyncio.Event(), clock.now() + timedelta(seconds=1))


def ends(pid: int, within_seconds: float = 60.0) -> bool:
    """Whether a process that need not be our child is gone, or goes while we watch."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], within_seconds)[0])
    finally:
        os.close(watched)
