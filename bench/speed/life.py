"""One process through its day: started with a thousand parked runs, spoken to, asked to assess, left alone."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from bench.speed import peer
from bench.speed.parked import park
from bench.speed.scene import SECRET, Scene, command
from bench.speed.served import Server, free_port, serving
from tests.conversations.heard import BOT
from tests.conversations.world import REPOSITORY, key_pair, world

DATABASE = "perf-gate.db"
RUNS = 1000
COMMENTS = 100
PARKED_SECONDS = 30


@dataclass(frozen=True)
class Life:
    """Seconds, milliseconds where named `wake_`, megabytes where `memory`."""

    round_cpu: float
    core_percent: float
    wake_p50: float
    wake_most: float
    memory_fresh: float
    memory: float
    peer_memory: float
    requests: int
    comment_writes: int


async def live(scene: Scene, folder: Path, words: list[str]) -> Life:
    state = await parked_state(scene, folder / "state")
    port = free_port()
    environment = scene.environment(state, port)
    with serving(command(), environment, port, folder / "ours.log") as server:
        fresh = server.memory_mb()
        before = server.cpu_seconds()
        await round_ended(port)
        round_cpu = server.cpu_seconds() - before
        core = await asyncio.to_thread(core_while_parked, server)
        await scene.sim.set_webhook(scene.app, f"http://127.0.0.1:{port}/webhook", ping=False)
        await talk(scene)
        memory = server.memory_mb()
        wakes = wake_times(state / DATABASE)
    requests, writes = await calm_run()
    return Life(
        round_cpu=round_cpu,
        core_percent=core * 100,
        wake_p50=statistics.median(wakes) * 1000,
        wake_most=max(wakes) * 1000,
        memory_fresh=fresh,
        memory=memory,
        peer_memory=await asyncio.to_thread(peer_memory, scene, folder, words),
        requests=requests,
        comment_writes=writes,
    )


async def parked_state(scene: Scene, state: Path) -> Path:
    """A new folder of state in which a thousand runs are parked."""
    await asyncio.to_thread(state.mkdir, 0o711)
    await park(state / DATABASE, RUNS, scene.installation.id, scene.repository.id, REPOSITORY)
    return state


async def round_ended(port: int) -> None:
    """Until the first look over all parked runs is over, and a breath longer."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(120):
        while True:
            async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
                body = await response.json()
            if body["last_recovery_round_seconds_ago"] is not None and body["sandbox_holds"] is not None:
                return
            await asyncio.sleep(0.25)


async def handled(port: int) -> None:
    """Until no delivery waits."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(300):
        while True:
            async with session.get(f"http://127.0.0.1:{port}/readyz") as response:
                if (await response.json())["oldest_unhandled_delivery_seconds"] is None:
                    return
            await asyncio.sleep(0.1)


def core_while_parked(server: Server) -> float:
    """The share of one core over half a minute in which nothing comes."""
    before, began = server.cpu_seconds(), time.perf_counter()
    time.sleep(PARKED_SECONDS)
    return (server.cpu_seconds() - before) / (time.perf_counter() - began)


async def talk(scene: Scene) -> None:
    """A hundred comments, each answered, and one assessment."""
    for number in range(COMMENTS):
        await scene.sim.comment(scene.repository, scene.pull.number, "rev", "@perf-gate help")
        await scene.sim.settled()
        await said(scene, number + 1)
    await scene.sim.comment(scene.repository, scene.pull.number, "rev", "@perf-gate")
    # The question and the canonical comment.
    await said(scene, COMMENTS + 2)


async def said(scene: Scene, comments: int) -> None:
    async with asyncio.timeout(60):
        while len(scene.sim.comments(scene.repository, scene.pull.number, by=BOT)) < comments:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def wake_times(database: Path) -> list[float]:
    """Seconds from a delivery's arrival to the claim of the effect that it caused, by the bot's own clock."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute(
            "SELECT min(effects.claimed_at) - deliveries.received_at FROM deliveries "
            "JOIN log ON log.cause = 'delivery:' || deliveries.guid "
            "JOIN effects ON effects.key = log.key AND effects.created_at = log.at "
            "WHERE effects.claimed_at IS NOT NULL GROUP BY deliveries.guid"
        ).fetchall()
    assert len(rows) > COMMENTS
    return [microseconds / 1e6 for (microseconds,) in rows]


async def calm_run() -> tuple[int, int]:
    """(requests, of them writes and readings of the canonical comment) of a run that passes gate 1."""
    with tempfile.TemporaryDirectory() as folder:
        async with world(Path(folder)) as w:
            await w.scheduled_run()
            before = len(w.sim.requests())
            await w.to_ferrying()
            await w.ferry_ends()
            assert "✅ pass" in w.canonical()
            asked = w.sim.requests()[before:]
    kept_true = sum("/issues/comments/{comment_id}" in (one.operation or "") for one in asked)
    return len(asked) - kept_true, kept_true


def peer_memory(scene: Scene, folder: Path, words: list[str]) -> float:
    port = free_port()
    environment = peer.environment(port, key_pair()[0], SECRET, urlsplit(scene.sim.api_url).netloc)
    with serving(words, environment, port, folder / "peer.log") as server:
        return server.memory_mb()
