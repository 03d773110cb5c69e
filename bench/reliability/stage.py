"""What trials are played on: a simulated GitHub in a process of its own, an Iris that counts, and one moved time."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from bench.reliability.folders import make
from bench.reliability.iris import CountingIris
from bench.reliability.lives import Lives
from bench.reliability.shells import Shell
from simulator.remote import RemoteSimulator
from tests.conversations.reports import perf_report, zipped
from tests.conversations.world import CONFIG, FILES, SECRET, SHUFFLE, key_pair

REVIEWER, AUTHOR = "rev", "ada"


@dataclass
class Stage:
    """One trial after the other, each with an App, a repository and a pull request of its own; `offset` in seconds."""

    folder: Path
    shell: Shell
    sim: RemoteSimulator
    addresses: dict[str, str]
    iris: CountingIris
    lives: Lives
    port: int
    offset: float = 0.0
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.offset)

    async def pass_time(self, seconds: float) -> None:
        """GitHub's part of it; the bot's is its clock's."""
        self.offset += seconds
        await self.sim.call("advance", by=seconds)

    async def pull(self) -> Pull:
        """A pull request nobody has spoken on, with a baseline to compare with."""
        number = next(self._numbers)
        private, public = key_pair()
        name, slug = f"marin-community/marin-{number}", f"perf-gate-{number}"
        app = await self.sim.call("create_app", slug=slug, public_key=public, webhook_secret=SECRET)
        await self.sim.call("create_repository", full_name=name, files=FILES | {".github/perf-gate.toml": CONFIG})
        installation = await self.sim.call("install", app=app["id"], repositories=[name])
        for login in (REVIEWER, AUTHOR):
            await self.sim.call("collaborator", repository=name, login=login, permission="write")
        change = "BUFFER = 4096\n" + FILES[SHUFFLE].partition("\n")[2]
        opened = await self.sim.call(
            "open_pull", repository=name, author=AUTHOR, title="Buffer more", files={SHUFFLE: change}
        )
        report = json.dumps(perf_report(commit_sha=opened["base_sha"]))
        await self.sim.call(
            "workflow_run",
            repository=name,
            workflow="marin-canary-datakit-tier1.yaml",
            artifacts={"datakit-tier1-perf-report": base64.b64encode(zipped(report)).decode()},
        )
        await self.sim.call("set_webhook", app=app["id"], url=f"http://127.0.0.1:{self.port}/webhook", ping=False)
        folder = self.folder / f"trial-{number}"
        make(folder)
        return Pull(name, opened["number"], app["id"], installation["id"], f"{slug}[bot]", folder, private)

    def environment(self, pull: Pull) -> dict[str, str]:
        settings = {
            "APP_ID": str(pull.app_id),
            "PRIVATE_KEY": pull.private_key,
            "WEBHOOK_SECRET": SECRET,
            "REPOSITORIES": pull.repository,
            "STATE_DIR": str(pull.state),
            "PORT": str(self.port),
            "GITHUB_API_URL": self.addresses["api_url"],
            "GITHUB_URL": self.addresses["web_url"],
            "WRITE_SPACING": "0",
            "IRIS_COMMAND": str(self.iris.command),
            "IRIS_CONTROLLER_URL": self.iris.url,
            "STATUS_PREFIX": str(self.folder / "status"),
        }
        return {f"PERF_GATE_{name}": value for name, value in settings.items()}


@dataclass(frozen=True)
class Pull:
    """A pull request, and the bot's own things for it."""

    repository: str
    number: int
    app_id: int
    installation_id: int
    bot: str
    folder: Path
    private_key: str

    @property
    def state(self) -> Path:
        return self.folder / "state"


@asynccontextmanager
async def stage(folder: Path, shell: Shell) -> AsyncIterator[Stage]:
    """Everything but the bot is up; leaving ends it all."""
    make(folder)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "simulator", "--state-dir", str(folder / "github")),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        addresses = json.loads(await process.stdout.readline())
        async with (
            RemoteSimulator(addresses["control_url"]) as sim,
            CountingIris(folder) as iris,
            Lives.opened() as lives,
        ):
            made = Stage(folder, shell, sim, addresses, iris, lives, _free_port())
            iris.now = made.now
            yield made
    finally:
        process.send_signal(signal.SIGINT)
        await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
