"""Everything the main job needs, on this machine: a real Iris cluster, a simulated GitHub and the bot, each a process.

The demo plays on it, and so do the end-to-end tests, which kill the bot in the middle.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.config.load import load_repository_config
from bot.config.schema import Gate
from bot.iris.adapter import Iris
from bot.iris.controller import Absent, Found
from bot.iris.records import TERMINAL_STATES
from bot.iris.settings import IrisSettings
from bot.iris.submit import Submitted
from demo.cluster import IRIS, LocalCluster, installed_zephyr, iris_command
from demo.repository import DemoRepository, create
from simulator.remote import RemoteSimulator

REPOSITORY = "marin-community/marin"
REVIEWER, AUTHOR = "reviewer", "author"
BOT = "perf-gate[bot]"
SENTINEL = "<!-- zephyr-perf-gate -->"
SECRET = "demo-webhook-secret"  # noqa: S105  # of a GitHub that lives as long as the demo
LOOK_EVERY_SECONDS = 1.0
START_WITHIN_SECONDS = 30.0
STOP_WITHIN_SECONDS = 20.0


class SceneFailed(RuntimeError):
    """A part of the scene did not come up; the message says which, and ends with its last words."""


@dataclass
class Bot:
    """`perf-gate serve` as it would be deployed: a process of its own, told everything by its environment."""

    environment: dict[str, str]
    log: Path
    port: int
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Return when it listens. Raises SceneFailed."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(Path(sys.executable).parent / "perf-gate"),
                "serve",
                env=self.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        async with aiohttp.ClientSession() as session, asyncio.timeout(START_WITHIN_SECONDS):
            while self.process.returncode is None:
                try:
                    async with session.get(f"http://127.0.0.1:{self.port}/healthz") as response:
                        if response.status == 200:
                            return
                except aiohttp.ClientConnectionError:
                    await asyncio.sleep(0.05)
        raise SceneFailed(f"perf-gate serve ended at once:\n{tail(self.log)}")

    async def kill(self) -> None:
        """SIGKILL, as when the machine goes: nothing of it can tidy up."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, signum: int) -> None:
        process = self.process
        if process is None or process.returncode is not None:
            return
        os.killpg(process.pid, signum)
        await _gone(process)


@dataclass
class Scene:
    scratch: Path
    cluster: LocalCluster
    sim: RemoteSimulator
    addresses: Mapping[str, str]
    repository: DemoRepository
    bot: Bot
    gate: Gate
    said: list[str] = field(default_factory=list)

    # ---- the scheduled baseline

    async def run_baseline(self, tiers: Sequence[int] = (1,)) -> str:
        """Run the ferry on main; its report is the artifact of these tiers' scheduled runs. The Iris job's id."""
        settings = IrisSettings(
            command=iris_command(),
            controller_url=self.cluster.url,
            status_prefix=str(self.cluster.status_prefix),
            home=self.scratch / "runner-home",
            user="runner",
        )
        sha, name = self.repository.main_sha, f"datakit-smoke-{self.repository.main_sha[:10]}"
        async with Iris.open(settings, lambda: datetime.now(UTC), _uncaged) as iris:
            submitted = await iris.submit(self.gate, name, self.repository.work)
            if not isinstance(submitted, Submitted):
                raise SceneFailed(f"the baseline ferry was refused: {submitted.reason}")
            # Nobody signals the end of a ferry: looking once a second is all there is.
            while isinstance(job := await iris.state(submitted.job_id), Found) and job.state not in TERMINAL_STATES:  # noqa: ASYNC110
                await asyncio.sleep(LOOK_EVERY_SECONDS)
            report = await iris.collect(submitted.job_id, self.gate, name, sha)
        if isinstance(report, Absent) or json.loads(report)["status"] != "succeeded":
            raise SceneFailed(f"the baseline ferry did not succeed: {report}\n{tail(self.cluster.log)}")
        for tier in tiers:
            names = (self.gate.workflow, self.gate.artifact)
            workflow, artifact = (name.replace("tier1", f"tier{tier}") for name in names)
            await self.sim.call(
                "workflow_run",
                repository=REPOSITORY,
                workflow=workflow,
                head_sha=sha,
                artifacts={artifact: base64.b64encode(_zipped(report)).decode()},
            )
        return submitted.job_id

    # ---- the conversation

    async def open_pull(self, slow: str | None = None, broken: str | None = None) -> int:
        branch = f"slow-{slow}" if slow else f"broken-{broken}" if broken else "plain"
        self.repository.branch(branch, slow=slow, broken=broken)
        title = (
            "Pace scatter writes" if slow else "Validate scatter keys" if broken else "Find a sidecar beside its data"
        )
        pull = await self.sim.call("open_pull", repository=REPOSITORY, author=AUTHOR, title=title, head=branch)
        return int(pull["number"])

    def page(self, number: int) -> str:
        return f"{self.addresses['web_url']}/{REPOSITORY}/pull/{number}"

    async def comment(self, number: int, body: str, login: str = REVIEWER) -> None:
        await self.sim.call("comment", repository=REPOSITORY, number=number, login=login, body=body)

    async def comments(self, number: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self.sim.call("comments", repository=REPOSITORY, number=number, by=BOT)
        return found

    async def wait_for(self, number: int, containing: str, within: float) -> str:
        """The bot's first comment that contains this, once there is one. Raises TimeoutError."""
        comment = await self.sim.call(
            "wait_for_comment", repository=REPOSITORY, number=number, by=BOT, containing=containing, within=within
        )
        return str(comment["body"])

    async def canonical(self, number: int) -> str:
        """The canonical comment as it stands; empty before there is one."""
        bodies = [str(comment["body"]) for comment in await self.comments(number)]
        return next((body for body in bodies if body.startswith(SENTINEL)), "")


@contextmanager
def open_scratch() -> Iterator[Path]:
    """A folder for one scene, removed afterwards. Ferries and cages run as other users, who must be able to enter."""
    scratch = Path(tempfile.mkdtemp(prefix="perf-gate-scene-"))
    scratch.chmod(0o755)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@asynccontextmanager
async def scene(scratch: Path) -> AsyncIterator[Scene]:
    """Start everything, in parallel where it can be; leaving stops it all. Raises SceneFailed."""
    async with AsyncExitStack() as stack:
        repository = await asyncio.to_thread(create, scratch / "repository", installed_zephyr())
        addresses = await stack.enter_async_context(_simulator(scratch))
        cluster = await stack.enter_async_context(LocalCluster(scratch / "cluster"))
        sim = await stack.enter_async_context(RemoteSimulator(addresses["control_url"]))
        bot = await _register(scratch, sim, addresses, repository, cluster)
        await bot.start()
        stack.push_async_callback(bot.stop)
        await sim.call("set_webhook", app=int(bot.environment["PERF_GATE_APP_ID"]), url=_door(bot), secret=SECRET)
        config = load_repository_config((repository.work / ".github" / "perf-gate.toml").read_text("utf-8"))
        yield Scene(scratch, cluster, sim, addresses, repository, bot, config.gates[config.ladder[0]])


async def _register(
    scratch: Path, sim: RemoteSimulator, addresses: Mapping[str, str], repository: DemoRepository, cluster: LocalCluster
) -> Bot:
    """The App, its key, its installation on the repository, and the settings of its one deployment."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    private = scratch / "app.pem"
    private.touch(mode=0o600)
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    app = await sim.call("create_app", public_key=public.decode(), webhook_secret=SECRET)
    await sim.call("create_repository", full_name=REPOSITORY, bare=str(repository.bare))
    await sim.call("install", app=app["id"], repositories=[REPOSITORY])
    for login in (REVIEWER, AUTHOR):
        await sim.call("collaborator", repository=REPOSITORY, login=login, permission="write")
    port = _free_port()
    settings = {
        "APP_ID": str(app["id"]),
        "PRIVATE_KEY": str(private),
        "WEBHOOK_SECRET": SECRET,
        "REPOSITORIES": REPOSITORY,
        "STATE_DIR": str(scratch / "state"),
        "PORT": str(port),
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "GITHUB_API_URL": addresses["api_url"],
        "GITHUB_URL": addresses["web_url"],
        "IRIS_COMMAND": str(iris_command()),
        "IRIS_CONTROLLER_URL": cluster.url,
        "STATUS_PREFIX": str(cluster.status_prefix),
        "SANDBOX_TOOLS": str(IRIS),
        "LOG_FORMAT": "text",
    }
    environment = {f"PERF_GATE_{name}": value for name, value in settings.items()}
    return Bot({"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | environment, scratch / "bot.log", port)


@asynccontextmanager
async def _simulator(scratch: Path) -> AsyncIterator[Mapping[str, str]]:
    """The simulated GitHub as its own process; gives its addresses."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "simulator", "--state-dir", str(scratch / "github")),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        line = await process.stdout.readline() if process.stdout else b""
        if not line:
            raise SceneFailed("the simulator did not start")
        yield json.loads(line)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            await _gone(process)


async def _gone(process: asyncio.subprocess.Process) -> None:
    """Wait for its end, and insist after a while."""
    try:
        await asyncio.wait_for(process.wait(), STOP_WITHIN_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


def tail(log: Path, lines: int = 20) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""


def _uncaged(
    argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
) -> list[str]:
    """The scheduled workflow runs main's own code on its own runner: no cage."""
    return list(argv)


def _door(bot: Bot) -> str:
    return f"http://127.0.0.1:{bot.port}/webhook"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _zipped(report: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("perf-report.json", report)
    return buffer.getvalue()
