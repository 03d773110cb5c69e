"""👀 comes first, whatever else the bot is at: the server as it is deployed, with what is slow held up on purpose."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.speed.scene import Scene, command, scene
from simulator import Simulator
from simulator.state import Comment
from simulator.world import LoggedRequest
from tests.conversations.heard import BOT
from tests.end_to_end.test_first_minutes import free_port, line_with

WITHIN_SECONDS = 120
BACKLOG = 2
SPACING = "0.3"


@asynccontextmanager
async def served(stage: Scene) -> AsyncIterator[None]:
    """`perf-gate serve` in a process of its own, heard of by GitHub."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *command(),
        env=stage.environment(stage.folder / "state", port) | {"PERF_GATE_WRITE_SPACING": SPACING},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        limit=2**20,
    )
    assert process.stderr is not None
    try:
        await line_with(process.stderr, "listening")
        # What it logs from here on nobody reads, and it must not wait for that.
        reading = asyncio.create_task(process.stderr.read())
        await stage.sim.set_webhook(stage.app, f"http://127.0.0.1:{port}/webhook", ping=False)
        yield
        process.send_signal(signal.SIGTERM)
        await reading
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()


def signs(comment: Comment) -> list[str]:
    return [reaction.content for reaction in comment.reactions]


def requests(sim: Simulator, method: str, path: str) -> list[LoggedRequest]:
    return [one for one in sim.requests(method=method) if one.path == path]


async def test_the_sign_of_having_heard_waits_for_nothing_but_a_write_on_its_way(tmp_path: Path) -> None:
    """GitHub wants writes one after the other, so one that has begun is let end; all that waits comes later."""
    async with asyncio.timeout(WITHIN_SECONDS), scene(tmp_path) as stage:
        sim, where = stage.sim, (stage.repository, stage.pull.number)
        pull = f"/repos/{stage.repository.full_name}/pulls/{stage.pull.number}"
        # The round of recovery at the start, and the reading of a diff: neither ends before the test does.
        sweep = sim.fault("hold", method="GET", path="/app/hook/deliveries", times=None)
        reading = sim.fault("hold", method="GET", path=f"/repos/{stage.repository.full_name}", times=None)
        async with served(stage):
            first = await sim.comment(*where, "rev", "@perf-gate")
            await sim.wait_for(lambda: signs(first) == ["eyes", "rocket"] and sweep.hits > 0 and reading.hits > 0)
            writing = sim.fault("hold", method="POST", path="*/issues/*/comments", times=None)
            said = [await sim.comment(*where, "rev", "@perf-gate status") for _ in range(BACKLOG)]
            await sim.wait_for(lambda: writing.hits > 0)
            looked = len(requests(sim, "GET", pull))
            last = await sim.comment(*where, "rev", "@perf-gate go")
            # It was heard, and its permission is looked up, while nothing can be written.
            await sim.wait_for(lambda: len(requests(sim, "GET", pull)) > looked)
            before = len(sim.requests(method="POST"))
            sim.release_fault(writing)
            await sim.wait_for(lambda: len(sim.comments(*where, by=BOT)) == 1 + BACKLOG + 1)
            assert (sweep.hits, reading.hits) == (1, 1)
            assert [signs(one) for one in said] == [["eyes", "+1"]] * BACKLOG
            written = [one.path for one in sim.requests(method="POST")[before:]]
            sign = next(n for n, path in enumerate(written) if path.endswith(f"/issues/comments/{last.id}/reactions"))
            # What was on its way is one; the other replies came after the last sign.
            assert sum(path.endswith("/issues/1/comments") for path in written[:sign]) <= 1, written
            for fault in (sweep, reading):
                sim.release_fault(fault)
        assert sim.world.violations == []
