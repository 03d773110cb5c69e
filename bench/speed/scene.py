"""A simulated GitHub, and `perf-gate serve` before it, as deployed but for the pause between two writes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from simulator import Simulator
from simulator.state import App, Installation, Pull, Repository
from tests.conversations.world import FILES, REPOSITORY, SHUFFLE, key_pair

SECRET = "bench-secret"  # noqa: S105  # of a GitHub that lives as long as the bench
SIZE = 25 * 1024


@dataclass
class Scene:
    sim: Simulator
    app: App
    installation: Installation
    repository: Repository
    pull: Pull
    folder: Path

    def environment(self, state: Path, port: int) -> dict[str, str]:
        settings = {
            "APP_ID": str(self.app.id),
            "PRIVATE_KEY": key_pair()[0],
            "WEBHOOK_SECRET": SECRET,
            "REPOSITORIES": REPOSITORY,
            "STATE_DIR": str(state),
            "STATUS_PREFIX": str(self.folder / "status"),
            "IRIS_CONTROLLER_URL": "http://127.0.0.1:9",
            "IRIS_COMMAND": "/bin/true",
            "GITHUB_API_URL": self.sim.api_url,
            "GITHUB_URL": self.sim.git_url,
            "WRITE_SPACING": "0",
            # The round at the start is measured; a later one would fall into some figure by chance.
            "RECOVERY_SECONDS": "86400",
            "PORT": str(port),
        }
        return {"PATH": os.environ["PATH"]} | {f"PERF_GATE_{name}": value for name, value in settings.items()}

    async def payload(self, words: str) -> bytes:
        """A real delivery of a comment with these words, of 25 KB."""
        # Nobody is there yet: the log keeps what was to be delivered.
        await self.sim.set_webhook(self.app, "http://127.0.0.1:9/webhook", ping=False)
        quiet = await self.sim.comment(self.repository, self.pull.number, "rev", words)
        await self.sim.settled()
        sent = json.loads(self.sim.deliveries.log[-1].body)
        assert sent["comment"]["id"] == quiet.id
        size = len(json.dumps(sent).encode())
        # As the largest are: short words under a long description.
        sent["issue"]["body"] = ("The scatter buffer fills. " * 1000)[: SIZE - size]
        return json.dumps(sent).encode()


def command() -> list[str]:
    return [str(Path(sys.executable).parent / "perf-gate"), "serve"]


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    async with Simulator(folder=folder / "github") as sim:
        app = await sim.create_app(public_key=key_pair()[1], webhook_secret=SECRET)
        repository = await sim.create_repository(REPOSITORY, files=FILES)
        installation = await sim.install(app, repository)
        for login in ("rev", "ada"):
            await sim.collaborator(repository, login, "write")
        files = {SHUFFLE: "BUFFER = 4096\n" + FILES[SHUFFLE].partition("\n")[2]}
        pull = await sim.open_pull(repository, author="ada", title="Buffer more", head="more", files=files)
        yield Scene(sim, app, installation, repository, pull, folder)
