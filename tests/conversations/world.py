"""A pull request on a stateful GitHub, the bot behind its real webhook door, and an Iris that the test directs.

A test says something as somebody, lets everything settle, and looks at what the bot said. A comment of the bot that no
test looked at fails the test, and so does a request or an answer that GitHub's own schema rejects.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.app import App, open_app
from bot.config.settings import Settings
from simulator import Simulator
from simulator.state import Comment, Pull, Repository, WorkflowRun
from tests.conversations.iris_double import IrisDouble
from tests.engine.clock import ManualClock

GOLDEN = Path(__file__).parent / "golden"
START = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)
REPOSITORY = "marin-community/marin"
SECRET = "a webhook secret"
BOT = "perf-gate[bot]"
SENTINEL = "<!-- zephyr-perf-gate -->"
SHUFFLE = "lib/zephyr/src/zephyr/shuffle.py"
CONFIG = """
ladder = [1]

[gates.1]
first_check = "3m"
check_every = "10m"
expected_steps = ["download", "normalize", "tokenize"]

[[preflight.commands]]
run = ["sh", "-c", "! grep -q BROKEN lib/zephyr/src/zephyr/shuffle.py"]
timeout = "1m"
"""
FILES = {
    ".github/perf-gate.toml": CONFIG,
    SHUFFLE: "BUFFER = 1024\n\n\ndef scatter(records):\n    return list(records)\n",
    "lib/zephyr/pyproject.toml": '[project]\nname = "marin-zephyr"\n',
    "lib/zephyr/tests/test_shuffle.py": "def test_scatter():\n    assert True\n",
    "lib/fray/src/fray/job.py": "JOBS = 1\n",
    "docs/index.md": "# Marin\n",
}
STAGES = {"download": 300.0, "normalize": 900.0, "tokenize": 1200.0}


class SharedClock:
    """The simulator's view of the engine's clock: both live in one time."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()


@dataclass
class World:
    sim: Simulator
    iris: IrisDouble
    app: App
    clock: ManualClock
    repository: Repository
    pull: Pull
    door: TestServer
    _seen: set[int] = field(default_factory=set)

    # ---- what people and the cluster do

    async def says(self, login: str, body: str) -> Comment:
        comment = await self.sim.comment(self.repository, self.pull.number, login, body)
        await self.settle()
        return comment

    async def settle(self) -> None:
        """Until every delivery is answered and the bot has nothing to do at this moment."""
        await self.sim.settled()
        await self.app.engine.idle()
        # What the bot did may have caused deliveries of its own comments.
        await self.sim.settled()
        await self.app.engine.idle()

    async def live_through(self, by: timedelta) -> None:
        await self.clock.pass_time(self.app.engine, by)
        await self.settle()

    async def scheduled_run(self, **report: Any) -> WorkflowRun:
        """The tier's scheduled run on main, with the perf report it left."""
        sha = await self.repository.git.resolve("refs/heads/main")
        made = perf_report(commit_sha=sha) | report
        return await self.sim.workflow_run(
            self.repository,
            "marin-canary-datakit-tier1.yaml",
            created_at=self.clock.now() - timedelta(hours=2),
            artifacts={"datakit-tier1-perf-report": zipped(json.dumps(made))},
        )

    async def push(self, body: str) -> None:
        await self.sim.commit(self.repository, self.pull.head_ref, {SHUFFLE: body}, author="ada")
        await self.settle()

    async def to_ferrying(self) -> None:
        """Ask, answer, and come to the ferry; what is said on the way is looked at elsewhere."""
        await self.says("rev", "@perf-gate")
        await self.says("rev", "@perf-gate go")
        self.new_comments()

    async def ferry_ends(self, *, state: str = "SUCCEEDED", error: str = "", **stages: float) -> None:
        self.iris.finish(state=state, error=error, **(STAGES | stages))
        await self.live_through(timedelta(minutes=15))

    # ---- what the bot said

    def comments(self) -> list[Comment]:
        return self.sim.comments(self.repository, self.pull.number, by=BOT)

    def new_comments(self) -> list[str]:
        """The bot's comments that nobody looked at so far, readable."""
        fresh = [comment for comment in self.comments() if comment.id not in self._seen]
        self._seen |= {comment.id for comment in fresh}
        return [self.readable(comment.body) for comment in fresh]

    def canonical(self) -> str:
        """The one canonical comment as it stands."""
        found = [comment for comment in self.comments() if comment.body.startswith(SENTINEL)]
        assert len(found) == 1, f"{len(found)} canonical comments"
        self._seen.add(found[0].id)
        return self.readable(found[0].body)

    def reply(self) -> str:
        """The one new comment."""
        fresh = [body for body in self.new_comments() if not body.startswith(SENTINEL)]
        assert len(fresh) == 1, fresh
        return fresh[0]

    def reactions(self, comment: Comment) -> list[str]:
        return [reaction.content for reaction in comment.reactions]

    def readable(self, body: str) -> str:
        """Without what differs from run to run: ports."""
        return re.sub(r"http://127\.0\.0\.1:\d+", "http://github", body)

    def assert_nothing_unseen(self) -> None:
        assert self.new_comments() == []


@asynccontextmanager
async def world(
    tmp_path: Path, *, config: str = CONFIG, change: str = "BUFFER = 4096\n", **pull: Any
) -> AsyncIterator[World]:
    """Everything running: `change` is put at the top of shuffle.py by the pull request."""
    clock = ManualClock(START)
    private, public = key_pair()
    async with Simulator(clock=SharedClock(clock), folder=tmp_path / "github") as sim, IrisDouble(tmp_path) as iris:
        app = await sim.create_app(public_key=public, webhook_secret=SECRET)
        repository = await sim.create_repository(REPOSITORY, files=FILES | {".github/perf-gate.toml": config})
        await sim.install(app, repository)
        for login in ("rev", "ada"):
            await sim.collaborator(repository, login, "write")
        files = pull.pop("files", {SHUFFLE: change + FILES[SHUFFLE].partition("\n")[2]})
        opened = await sim.open_pull(repository, author="ada", title="Buffer more", files=files, **pull)
        settings = Settings(
            app_id=app.id,
            private_key=private,
            webhook_secret=SECRET,
            repositories=frozenset({REPOSITORY}),
            state_dir=tmp_path / "state",
            github_api_url=sim.api_url,
            github_url=sim.git_url,
            write_spacing=0,
            iris_command=iris.command,
            iris_controller_url=iris.url,
            status_prefix=str(tmp_path / "status"),
        )
        async with open_app(settings, clock, Random(7)) as bot:
            acting = asyncio.create_task(bot.engine.run())
            door = TestServer(bot.web)
            await door.start_server()
            await sim.set_webhook(app, str(door.make_url("/webhook")))
            scene = World(sim, iris, bot, clock, repository, opened, door)
            await scene.settle()
            try:
                yield scene
                scene.assert_nothing_unseen()
                assert sim.world.violations == []
            finally:
                await door.close()
                acting.cancel()
                with suppress(asyncio.CancelledError):
                    await acting


def perf_report(**changes: Any) -> dict[str, Any]:
    """A healthy tier-1 report, times in seconds."""
    return {
        "iris_job_id": "/runner/iris-run-job-20260620-063012",
        "status": "succeeded",
        "marin_prefix": "gs://marin-us-central1",
        "wall_seconds_total": sum(STAGES.values()) + 1.0,
        "stage_wall_seconds": STAGES,
        "cached_steps": [],
        "ooms": 0,
        "failed_shards": 0,
        "peak_worker_memory_mb": 0,
        "preemption_count": 0,
        "failure_count": 0,
        "task_state_counts": {"succeeded": 4},
        "tree_job_count": 7,
        "infra_failures": {
            "preempted": 0,
            "oom": 0,
            "hardware_fault": 0,
            "scheduling_timeout": 0,
            "application_failure": 0,
            "other": 0,
        },
        "commit_sha": None,
        "warnings": [],
    } | changes


def zipped(report: str, name: str = "perf-report.json") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name, (2026, 6, 20, 6, 30, 0)), report)
    return buffer.getvalue()


@cache
def key_pair() -> tuple[str, str]:
    """(private, public) PEM of an App's key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def golden(name: str, text: str) -> None:
    """Compare with golden/NAME.md; UPDATE_GOLDEN=1 writes it instead, to be read in review."""
    path = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.rstrip() + "\n", "utf-8")
    assert text.rstrip() + "\n" == path.read_text("utf-8")
