"""From nothing to a verdict by the README alone: its own lines, in a clean folder with a clean environment."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp

from simulator import Simulator
from simulator.state import Repository
from tests.cli.test_setup import press
from tests.conversations.heard import BOT, SENTINEL
from tests.conversations.iris_double import IrisDouble
from tests.conversations.reports import STAGES, perf_report, zipped
from tests.conversations.world import FILES, REPOSITORY, SHUFFLE

ROOT = Path(__file__).parents[2]
WITHIN_SECONDS = 120
CONFIG = """
ladder = [1]

[gates.1]
wall_time = "60s"
first_check = "1s"
check_every = "1s"
stall_limit = "30s"
expected_steps = ["download", "normalize", "tokenize"]

[[preflight.commands]]
run = ["sh", "-c", "true"]
timeout = "1m"
"""


def the_readmes_lines() -> str:
    """The shell block under the README's heading for operators."""
    text = (ROOT / "README.md").read_text("utf-8").partition("## Operators")[2]
    found = re.search(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean(sim: Simulator, iris: IrisDouble, port: int) -> dict[str, str]:
    """What differs from the real world: where GitHub is, and that it need not be spared."""
    settings = {
        "GITHUB_API_URL": sim.api_url,
        "GITHUB_URL": sim.web_url,
        "IRIS_COMMAND": str(iris.command),
        "PORT": str(port),
        "WRITE_SPACING": "0",
        "LOG_FORMAT": "text",
    }
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    return {"PATH": path, "LC_ALL": "C.UTF-8"} | {f"PERF_GATE_{name}": value for name, value in settings.items()}


@asynccontextmanager
async def shell(script: str, folder: Path, environment: Mapping[str, str]) -> AsyncIterator[asyncio.StreamReader]:
    """A person's terminal: what it prints, until it is closed."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script),
        cwd=folder,
        env=dict(environment),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        limit=2**20,
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await process.communicate()


async def line_with(output: asyncio.StreamReader, words: str) -> str:
    seen = []
    while line := (await output.readline()).decode():
        seen.append(line)
        if words in line:
            return line
    raise AssertionError(f"it ended without {words!r}:\n{''.join(seen)}")


async def repository(sim: Simulator) -> Repository:
    made = await sim.create_repository(REPOSITORY, files=FILES | {".github/perf-gate.toml": CONFIG})
    for login in ("rev", "ada"):
        await sim.collaborator(made, login, "write")
    sha = await made.git.resolve("refs/heads/main")
    await sim.workflow_run(
        made,
        "marin-canary-datakit-tier1.yaml",
        created_at=datetime.now(UTC) - timedelta(hours=2),
        artifacts={"datakit-tier1-perf-report": zipped(json.dumps(perf_report(commit_sha=sha)))},
    )
    files = {SHUFFLE: "BUFFER = 4096\n" + FILES[SHUFFLE].partition("\n")[2]}
    await sim.open_pull(made, author="ada", title="Buffer more", files=files)
    return made


async def test_from_nothing_to_a_verdict_by_the_readme_alone(tmp_path: Path) -> None:
    folder, port = tmp_path / "clean", free_port()
    await asyncio.to_thread(folder.mkdir)
    async with (
        asyncio.timeout(WITHIN_SECONDS),
        Simulator(folder=tmp_path / "github") as sim,
        IrisDouble(tmp_path, lambda: datetime.now(UTC)) as iris,
        aiohttp.ClientSession() as session,
    ):
        made = await repository(sim)
        script = the_readmes_lines()
        for placeholder, value in {
            "https://HOST": f"http://127.0.0.1:{port}",
            "OWNER/NAME": REPOSITORY,
            "https://IRIS": iris.url,
            "gs://BUCKET": str(tmp_path),
        }.items():
            assert placeholder in script
            script = script.replace(placeholder, value)
        environment = clean(sim, iris, port)

        def said(words: str) -> bool:
            return any(words in comment.body for comment in sim.comments(made, 1, by=BOT))

        async with shell(script, folder, environment) as output:
            opened = re.search(r"http://\S+(?=/ in a browser)", await line_with(output, "in a browser"))
            assert opened is not None
            back, _ = await press(session, opened[0])
            (await session.get(back)).release()
            (app,) = sim.world.apps.values()
            await sim.install(app, made)
            await line_with(output, "listening")
            await sim.comment(made, 1, "rev", "@perf-gate")
            await sim.wait_for(lambda: said("Proposed max_gate"))
            await sim.comment(made, 1, "rev", "@perf-gate go")
            await sim.wait_for(lambda: said("watching the ferry"))
            iris.finish(STAGES)
            await sim.wait_for(lambda: said("**Verdict:** ✅ pass"))
            async with shell("PERF_GATE_STATE_DIR=state perf-gate trace '#1'", folder, environment) as asked:
                trace = (await asked.read()).decode()
        canonical = [one.body for one in sim.comments(made, 1, by=BOT) if one.body.startswith(SENTINEL)]
        assert len(canonical) == 1
        assert sim.world.violations == []
    hops = (
        "delivery ",
        "command   rev: go",
        "decision  Authorised",
        ":assess done",
        ":submit done",
        "iris ",
        "comment ",
    )
    for hop in hops:
        assert hop in trace, trace
    assert "$ iris job run --job-name perf-gate-1-" in trace
