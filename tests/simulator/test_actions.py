"""Workflow runs, and artifacts that lie on another origin behind an address that lives one minute."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import aiohttp

from simulator.simulator import Simulator
from tests.simulator.client import AppClient

MARIN = "marin-community/marin"
RUNS = f"/repos/{MARIN}/actions/workflows/tier1.yml/runs"


def zipped(name: str, content: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


async def test_the_latest_successful_scheduled_run_on_main(simulator: Simulator, github: AppClient) -> None:
    assert (await github.get(RUNS)).body["total_count"] == 0
    monday = simulator.world.clock.now()
    wanted = await simulator.workflow_run(MARIN, "tier1.yml", created_at=monday)
    await simulator.workflow_run(MARIN, "tier1.yml", created_at=monday - timedelta(days=7))
    await simulator.workflow_run(MARIN, "tier1.yml", conclusion="failure", created_at=monday + timedelta(days=7))
    await simulator.workflow_run(MARIN, "tier1.yml", event="workflow_dispatch")
    await simulator.workflow_run(MARIN, "tier1.yml", status="in_progress")
    await simulator.workflow_run(MARIN, "tier2.yml")
    await simulator.commit(MARIN, "topic", {"a": "1"})
    await simulator.workflow_run(MARIN, "tier1.yml", branch="topic")
    found = (await github.get(f"{RUNS}?branch=main&event=schedule&status=success&per_page=1")).body
    assert (found["total_count"], [run["id"] for run in found["workflow_runs"]]) == (2, [wanted.id])
    (run,) = found["workflow_runs"]
    assert (run["conclusion"], run["path"], run["head_branch"]) == ("success", ".github/workflows/tier1.yml", "main")
    by_date = (await github.get(f"{RUNS}?created=%3E%3D2026-11-20")).body
    assert by_date["total_count"] == 1
    assert (await github.get(f"/repos/{MARIN}/actions/workflows/absent.yml/runs")).status == 404


async def test_an_artifact_is_downloaded_without_credentials(simulator: Simulator, github: AppClient) -> None:
    content = zipped("report.json", '{"stages": []}')
    run = await simulator.workflow_run(MARIN, "tier1.yml", artifacts={"perf-report": content, "logs": b"zip"})
    listed = (await github.get(f"/repos/{MARIN}/actions/runs/{run.id}/artifacts?name=perf-report")).body
    assert (listed["total_count"], listed["artifacts"][0]["size_in_bytes"]) == (1, len(content))
    download = listed["artifacts"][0]["archive_download_url"]
    redirect = await github.get(download)
    assert (redirect.status, redirect.body) == (302, b"")
    address = redirect.headers["Location"]
    assert address.startswith(simulator.addresses()["artifacts_url"])
    async with aiohttp.ClientSession() as stranger:
        async with stranger.get(address) as answer:
            assert (answer.status, await answer.read()) == (200, content)
        async with stranger.get(address, headers={"Authorization": "Bearer x"}) as answer:
            assert answer.status == 400
        async with stranger.get(address.replace("sig=", "sig=0")) as answer:
            assert answer.status == 403
        await simulator.advance(timedelta(seconds=61))
        async with stranger.get(address) as answer:
            assert answer.status == 403


async def test_an_expired_artifact_is_gone(simulator: Simulator, github: AppClient) -> None:
    run = await simulator.workflow_run(MARIN, "tier1.yml", artifacts={"perf-report": b"zip"})
    await simulator.expire_artifacts(run)
    listed = (await github.get(f"/repos/{MARIN}/actions/runs/{run.id}/artifacts")).body
    assert listed["artifacts"][0]["expired"] is True
    gone = await github.get(listed["artifacts"][0]["archive_download_url"])
    assert (gone.status, gone.body["message"]) == (410, "Artifact has expired")
