"""How fast and how small `perf-gate serve` is: `python -m bench.speed` prints a table, with Probot beside it.

Both are processes as deployed, with their own logs at their default levels, in files. Ours keeps each delivery on disk
(fsync) before it answers and handles it; Probot checks the signature and forgets. Rounds are interleaved.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

from bench.speed import peer
from bench.speed.door import Figures, press
from bench.speed.life import Life, handled, live, parked_state
from bench.speed.peer import NoPeer
from bench.speed.scene import SECRET, Scene, command, scene
from bench.speed.served import free_port, fsync_ms, serving
from bench.speed.table import Row, shown
from tests.conversations.world import key_pair

CONNECTIONS = (1, 8, 32, 64)
KINDS = ("without a mention (GUID kept)", "with a mention (what is read of it kept)")
STARTS = 5
Start = tuple[float, float]
"""Seconds to the first accepted connection, and of CPU until then."""
Started = dict[str, list[Start]]
Measured = dict[tuple[str, str, int], list[Figures]]


async def doors(scene: Scene, folder: Path, words: list[str], rounds: int, seconds: int) -> Measured:
    """Both servers up, one pressed at a time."""
    bodies = dict(zip(KINDS, [await scene.payload("Looks good"), await scene.payload("@perf-gate help")], strict=True))
    ours, theirs = free_port(), free_port()
    github = urlsplit(scene.sim.api_url).netloc
    found: Measured = defaultdict(list)
    with (
        serving(command(), scene.environment(folder / "door", ours), ours, folder / "ours.log"),
        serving(words, peer.environment(theirs, key_pair()[0], SECRET, github), theirs, folder / "peer.log"),
    ):
        urls = {"ours": f"http://127.0.0.1:{ours}/webhook", "peer": f"http://127.0.0.1:{theirs}{peer.PATH}"}
        for body in bodies.values():
            for url in urls.values():
                await asyncio.to_thread(press, url, body, SECRET, 8, 1, folder)
        await quiet(scene)
        before = len(scene.sim.requests())
        for kind, body in bodies.items():
            for _ in range(rounds):
                for connections in CONNECTIONS:
                    for who, url in urls.items():
                        figures = await asyncio.to_thread(press, url, body, SECRET, connections, seconds, folder)
                        found[who, kind, connections].append(figures)
                        if who == "ours":
                            # What was accepted is handled before the peer has the machine.
                            await handled(ours)
            if kind == KINDS[0]:
                asked = [one.operation or one.path for one in scene.sim.requests()[before:]]
                # The round of recovery a minute after the start asks for the App's own deliveries, and would anyway.
                cost = [one for one in asked if "/app" not in one]
                assert not cost, f"events without a mention cost {len(cost)} requests: {cost}"
    return found


async def quiet(scene: Scene) -> None:
    """Until nothing was asked of GitHub for a while: the first mention was answered, the first round is over."""
    count = -1
    while count != (count := len(scene.sim.requests())):  # noqa: ASYNC110
        await asyncio.sleep(2)


def starts(scene: Scene, folder: Path, words: list[str], parked: Path) -> Started:
    """Interleaved: with an empty state, with the one that is given, and the peer."""
    found: Started = defaultdict(list)
    for number in range(STARTS):
        for who, state in (("ours", folder / f"start-{number}"), ("parked", parked)):
            port = free_port()
            with serving(command(), scene.environment(state, port), port, folder / "ours.log") as server:
                found[who].append((server.started, server.started_cpu))
        port = free_port()
        environment = peer.environment(port, key_pair()[0], SECRET, urlsplit(scene.sim.api_url).netloc)
        with serving(words, environment, port, folder / "peer.log") as server:
            found["peer"].append((server.started, server.started_cpu))
    return found


def door_rows(found: Measured) -> list[Row]:
    rows = []
    for kind, least in zip(KINDS, (1.7, 1.0), strict=True):
        for connections in CONNECTIONS:
            ours, theirs = found["ours", kind, connections], found["peer", kind, connections]
            judged = connections == 32
            name = f"{kind}, {connections} connection{'s' if connections > 1 else ''}"
            rate = [statistics.median(one.rate for one in side) for side in (ours, theirs)]
            p50 = [statistics.median(one.p50 for one in side) for side in (ours, theirs)]
            p99 = [statistics.median(one.p99 for one in side) for side in (ours, theirs)]
            bound = ("≥", least) if judged else None
            rows += [
                Row(name, rate[0], "/s", rate[1], bound, of_ratio=True),
                Row("    p50", p50[0], "ms", p50[1], ("≤", 1.0) if connections == 1 else None),
                Row("    p99", p99[0], "ms", p99[1], ("≤", 1 / 3) if judged else None, of_ratio=True),
            ]
    return rows


def life_rows(life: Life, started: Started) -> list[Row]:
    took, cpu = (
        {who: statistics.median(one[part] for one in side) for who, side in started.items()} for part in (0, 1)
    )
    return [
        Row("listening after its start", took["ours"], "s", took["peer"], ("≤", 0.5)),
        Row("  CPU until then", cpu["ours"], "s", cpu["peer"]),
        Row("  the same with 1,000 parked runs", took["parked"], "s", None, ("≤", 0.5)),
        Row("  CPU until then", cpu["parked"], "s"),
        Row("delivery to its effect's claim, median of 100", life.wake_p50, "ms", None, ("≤", 50)),
        Row("  the slowest of them", life.wake_most, "ms", None, ("≤", 50)),
        Row("core while 1,000 are parked", life.core_percent, "%", None, ("≤", 0.5)),
        Row("  CPU of the round of recovery after a start", life.round_cpu, "s"),
        Row("RSS, freshly started", life.memory_fresh, "MB", life.peer_memory),
        Row("RSS, 1,000 parked, 100 comments, one assessment", life.memory, "MB", None, ("≤", 80)),
        Row("requests to GitHub of a calm gate-1 run with checks", life.requests, "", None, ("≤", 40)),
        Row("  writes that kept its comment true", life.comment_writes, ""),
    ]


async def measure(folder: Path, words: list[str], rounds: int, seconds: int) -> list[Row]:
    async with scene(folder) as stage:
        parked = await parked_state(stage, folder / "parked")
        started = await asyncio.to_thread(starts, stage, folder, words, parked)
        found = await doors(stage, folder, words, rounds, seconds)
    async with scene(folder / "second") as stage:
        life = await live(stage, folder / "second", words)
    return [*life_rows(life, started), *door_rows(found)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each of wrk's runs")
    parser.add_argument("--cache", type=Path, default=Path(".bench"), help="where the peer is installed")
    arguments = parser.parse_args()
    try:
        words = peer.command(peer.install(arguments.cache.absolute()))
    except NoPeer as error:
        print(error, file=sys.stderr)
        return 2
    began, load = time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="perf-gate-bench-") as text:
        folder = Path(text)
        folder.chmod(0o755)
        disk = fsync_ms(folder)
        rows = uvloop.run(measure(folder, words, arguments.rounds, arguments.seconds))
    machine = f"{os.cpu_count()} cores, {platform.machine()}, load {load:.1f} before and {os.getloadavg()[0]:.1f} after"
    versions = f"Python {platform.python_version()}, node {peer.node_version()}, Probot {peer.VERSION}"
    print(f"{machine}; {versions}; wrk on the same machine")
    print(
        f"fsync of this disk {disk:.2f} ms; bodies of 25 KB, {arguments.rounds} interleaved rounds of "
        f"{arguments.seconds} s, medians; {time.monotonic() - began:.0f} s in all\n"
    )
    print(shown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
