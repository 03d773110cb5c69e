"""A pull request on a stateful GitHub, the bot behind its real webhook door, and an Iris that the test directs.

A test says something as somebody, lets everything settle, and looks at what the bot said. A comment of the bot that no
test looked at fails the test, and so does a request or an answer that GitHub's own schema rejects.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.app import App, open_app
from bot.config.settings import Settings
from bot.gating.model import Run
from simulator import Simulator
from simulator.state import App as Installed
from simulator.state import Comment, WorkflowRun
from tests.conversations.heard import Heard
from tests.conversations.in_flight import InFlight
from tests.conversations.iris_double import IrisDouble
from tests.conversations.reports import STAGES, perf_report, zipped
from tests.conversations.staging import behind_its_door, open_on_github
from tests.engine.clock import ManualClock

GOLDEN = Path(__file__).parent / "golden"
START = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)
REPOSITORY = "marin-community/marin"
SECRET = "a webhook secret"
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


class SharedClock:
    """The simulator's view of the engine's clock: both live in one time."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()


@dataclass(kw_only=True)
class World(Heard):
    """What people and the cluster do, and what the bot did of it."""

    iris: IrisDouble
    app: App
    clock: ManualClock
    door: TestServer

    # ---- what people and the cluster do

    async def says(self, login: str, body: str) -> Comment:
        comment = await self.sim.comment(self.repository, self.pull.number, login, body)
        await self.settle()
        return comment

    async def edits(self, comment: Comment, body: str, by: str | None = None) -> None:
        await self.sim.edit_comment(comment, body, by=by)
        await self.settle()

    async def presses(self, login: str, button: str) -> None:
        """A person presses a button of the last check run."""
        check = self.checks()[-1]
        (identifier,) = [one["identifier"] for one in check.actions if one["identifier"].partition(":")[0] == button]
        await self.sim.press(check, identifier, by=login)
        await self.settle()

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

    async def scheduled_run(self, tier: int = 1, **report: Any) -> WorkflowRun:
        """The tier's scheduled run on main, with the perf report it left."""
        sha = await self.repository.git.resolve("refs/heads/main")
        made = perf_report(commit_sha=sha) | report
        return await self.workflow_run(tier, artifact=zipped(json.dumps(made)))

    async def workflow_run(self, tier: int = 1, *, artifact: bytes | None, **run: Any) -> WorkflowRun:
        """A run of the tier's workflow two hours ago that left this zip, or none; `run` says what else it was."""
        return await self.sim.workflow_run(
            self.repository,
            f"marin-canary-datakit-tier{tier}.yaml",
            created_at=self.clock.now() - timedelta(hours=2),
            artifacts={} if artifact is None else {f"datakit-tier{tier}-perf-report": artifact},
            **run,
        )

    async def push(self, body: str) -> str:
        """Ada pushes to the pull request; the new head's SHA."""
        sha = await self.sim.push(self.repository, self.pull.number, {SHUFFLE: body})
        await self.settle()
        return sha

    async def another_pull(self, **pull: Any) -> World:
        """The same world, seen from a second pull request."""
        files = {SHUFFLE: "BUFFER = 2048\n" + FILES[SHUFFLE].partition("\n")[2]}
        details = {"author": "ada", "title": "Buffer less", "head": "second", "files": files} | pull
        opened = await self.sim.open_pull(self.repository, **details)
        await self.settle()
        return replace(self, pull=opened)

    async def to_question(self) -> str:
        """Ask; the bot's question."""
        await self.says("rev", "@perf-gate")
        assert "waiting for an answer" in self.canonical()
        return self.reply()

    async def to_ferrying(self) -> None:
        """Ask, answer, and come to the ferry."""
        assert "assessment" in await self.to_question()
        await self.says("rev", "@perf-gate go")
        assert "watching the ferry" in self.canonical()

    async def ferry_ends(
        self, *, state: str = "SUCCEEDED", error: str = "", preemptions: int = 0, workers_died: str = "", **took: float
    ) -> None:
        """The last ferry ends, its steps as long as the baseline's but for `took`; the bot notices and is done."""
        stages = STAGES | took
        self.iris.finish(stages, state=state, error=error, preemptions=preemptions, workers_died=workers_died)
        await self.live_through(timedelta(minutes=15))

    # ---- what the bot did

    @property
    def key(self) -> str:
        return f"{self.repository.id}/{self.pull.number}"

    async def run(self) -> Run:
        """The current run as it is stored."""
        pr = await self.app.engine.read(self.key)
        assert pr is not None, "nothing was ever delivered for this pull request"
        assert pr.run is not None, "this pull request has no run"
        return pr.run

    def asked_github(self) -> int:
        """How many requests of any kind the bot made so far."""
        return len(self.sim.requests())


@asynccontextmanager
async def world(
    tmp_path: Path,
    *,
    config: str = CONFIG,
    change: str = "BUFFER = 4096\n",
    perf_reports: str | None = None,
    database_url: str | None = None,
    clusters: Sequence[str] = (),
    paced: bool = False,
    mention: str = "perf-gate",
    settings: Mapping[str, Any] | None = None,
    **pull: Any,
) -> AsyncIterator[World]:
    """Everything running: `change` is put at the top of shuffle.py by the pull request; ada opens it, rev reviews.

    `database_url`: keep the bot's state there, not in a file. `paced`: writes are a second apart, as on GitHub, and the
    scene's clock goes on while the bot waits for that. `settings`: further ones of the bot.
    """
    clock = ManualClock(START)
    spacing, in_flight = timedelta(seconds=1 if paced else 0), InFlight()
    github = Simulator(
        clock=SharedClock(clock), folder=tmp_path / "github", watch_limits=True, write_spacing=spacing or None
    )
    async with github as sim, IrisDouble(tmp_path, clock.now) as iris:
        changed = {"files": {SHUFFLE: change + FILES[SHUFFLE].partition("\n")[2]}} | pull
        files = FILES | {".github/perf-gate.toml": config}
        opened = await open_on_github(
            sim, REPOSITORY, files=files, public_key=key_pair()[1], secret=SECRET, pull=changed
        )
        made = Settings(
            **_on_this_machine(tmp_path, opened.app, sim, iris, clusters),
            database_url=database_url,
            write_spacing=spacing.total_seconds(),
            perf_reports=perf_reports,
            mention=mention,
            **(settings or {}),
        )
        waits = _passing(clock, in_flight) if paced else at_once
        opening = open_app(made, clock, Random(7), waits, lambda: clock.now().timestamp())
        async with in_flight.counted(), opening as bot, behind_its_door(bot) as door:
            await sim.set_webhook(opened.app, str(door.make_url("/webhook")))
            scene = World(
                sim=sim, iris=iris, app=bot, clock=clock, repository=opened.repository, pull=opened.pull, door=door
            )
            await scene.settle()
            yield scene
            scene.assert_nothing_unseen()
            assert sim.world.violations == [], sim.world.violations
            assert (await bot.engine.overview()).dead == 0


def _on_this_machine(
    folder: Path, app: Installed, sim: Simulator, iris: IrisDouble, clusters: Sequence[str]
) -> dict[str, Any]:
    """The settings that say who the bot is, and where everything it speaks to is."""
    return {
        "app_id": app.id,
        "private_key": key_pair()[0],
        "webhook_secret": SECRET,
        "repositories": frozenset({REPOSITORY}),
        "state_dir": folder / "state",
        "status_prefix": str(folder / "status"),
        "github_api_url": sim.api_url,
        "github_url": sim.git_url,
        "iris_command": iris.command,
        "iris_controller_url": iris.url,
        # The same controller under other names: that another one is asked is not this world's affair.
        "iris_clusters": tuple((name, iris.url) for name in clusters),
    }


def _passing(clock: ManualClock, in_flight: InFlight) -> Callable[[float], Awaitable[None]]:
    """A wait that the scene's clock goes through."""

    async def passing(seconds: float) -> None:
        # What GitHub answers meanwhile is read long before a second is over.
        await in_flight.none()
        clock.advance(timedelta(seconds=seconds))

    return passing


async def at_once(seconds: float) -> None:
    """The client's short waits between two tries: no test lives through them."""


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
    wanted, got = path.read_text("utf-8"), text.rstrip() + "\n"
    difference = "".join(unified_diff(wanted.splitlines(True), got.splitlines(True), str(path), "what was said"))
    assert not difference, f"UPDATE_GOLDEN=1 accepts this:\n{difference}"
