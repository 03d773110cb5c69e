"""The main job with nothing pretended: a real Iris, real Zephyr, the bot as it is deployed, killed in the middle."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest_asyncio

from demo.repository import zephyr_digest
from demo.scene import SENTINEL, Scene, open_scratch, scene

FERRY_WITHIN_SECONDS = 240


@pytest_asyncio.fixture
async def stage() -> AsyncIterator[Scene]:
    with open_scratch() as scratch:
        async with scene(scratch) as running:
            yield running


async def test_sigkill_during_the_ferry_still_gives_one_ferry_and_one_comment(stage: Scene) -> None:
    await stage.run_baseline()
    number = await stage.open_pull()
    await stage.comment(number, "@perf-gate")
    await stage.wait_for(number, "Proposed max_gate", within=60)
    await stage.comment(number, "@perf-gate go")
    await stage.wait_for(number, "watching the ferry", within=120)

    await stage.bot.kill()
    await stage.bot.start()

    # Percent and expected end against the baseline that ran on this very cluster.
    assert "expected end" in await stage.wait_for(number, "**Progress:** about ", within=120)
    verdict = await stage.wait_for(number, "**Verdict:**", within=FERRY_WITHIN_SECONDS)
    # Which verdict depends on how busy this machine is; that both ferries ended well does not.
    assert "| Status | succeeded | succeeded |" in verdict
    bodies = [str(comment["body"]) for comment in await stage.comments(number)]
    assert sum(body.startswith(SENTINEL) for body in bodies) == 1
    assert sum("Proposed max_gate" in body for body in bodies) == 1
    assert len(bodies) == 2
    ferries = await root_jobs(stage, "/perf-gate/")
    assert len(ferries) == 1
    assert f"`{ferries[0]}`" in verdict
    assert await stage.sim.call("violations") == []
    assert_ran_the_pinned_zephyr(stage, ferries[0])
    assert list((stage.scratch / "state" / "perf-gate-trees").iterdir()) == []


async def root_jobs(stage: Scene, prefix: str) -> list[str]:
    """The ids of the jobs that this Iris knows below a user, without their children."""
    url = f"{stage.cluster.url}/iris.cluster.ControllerService/ListJobs"
    query = {"query": {"jobIdPrefix": prefix, "limit": 500}}
    async with aiohttp.ClientSession() as session, session.post(url, json=query) as response:
        jobs = (await response.json())["jobs"]
    return [job["jobId"] for job in jobs if job["jobId"].count("/") == 2]


def assert_ran_the_pinned_zephyr(stage: Scene, job_id: str) -> None:
    """The ferry's zephyr lay in its bundle, and was the pull request's to the byte."""
    name = job_id.rpartition("/")[2]
    status = json.loads((stage.cluster.status_prefix / name / "ferry_run_status.json").read_text())
    head = stage.repository.zephyr_sources("plain")
    assert status["zephyr_digest"] == zephyr_digest(head)
    assert status["zephyr_digest"] != zephyr_digest(stage.repository.zephyr_sources("main"))
    assert Path(status["zephyr_file"]).is_relative_to(stage.cluster.temporary)
