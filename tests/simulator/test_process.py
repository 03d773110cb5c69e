"""The simulator as its own process, driven over its control side as a demo would."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from simulator.remote import ControlRefused, RemoteSimulator
from simulator.simulator import Simulator
from tests.simulator.client import Listener, key_pair

MARIN = "marin-community/marin"


@contextlib.asynccontextmanager
async def process(folder: Path) -> AsyncIterator[dict[str, str]]:
    """A simulator process and the addresses it printed; it must end well when told to."""
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "simulator", "--state-dir", str(folder), stdout=asyncio.subprocess.PIPE
    )
    assert running.stdout is not None
    try:
        yield json.loads(await running.stdout.readline())
    finally:
        running.send_signal(signal.SIGTERM)
        assert await running.wait() == 0


async def test_a_demo_drives_it_from_another_process(tmp_path: Path, listener: Listener) -> None:
    async with process(tmp_path / "state") as addresses, RemoteSimulator(addresses["control_url"]) as sim:
        app = await sim.call("create_app", public_key=key_pair()[1], webhook_secret="s", webhook_url=listener.url)
        source = tmp_path / "source"
        source.mkdir()
        (source / "a.py").write_text("1\n")
        repository = await sim.call("create_repository", full_name=MARIN, folder=str(source), private=True)
        assert repository["git"].startswith(str(tmp_path))
        await sim.call("install", app=app["id"], repositories=[MARIN])
        await sim.call("collaborator", repository=MARIN, login="reviewer", permission="write")
        zipped = base64.b64encode(b"zip").decode()
        run = await sim.call("workflow_run", repository=MARIN, workflow="tier1.yml", artifacts={"report": zipped})
        assert run["artifacts"][0]["name"] == "report"
        await sim.call("put_object", bucket="reports", name="a/1", content={"base64": "AAE="})
        address = f"{addresses['storage_url']}/download/storage/v1/b/reports/o/a%2F1?alt=media"
        async with aiohttp.ClientSession() as session, session.get(address) as answer:
            assert await answer.read() == b"\x00\x01"
        pull = await sim.call(
            "open_pull", repository=MARIN, author="alice", files={"a.py": "2\n", "b": {"base64": "AAE="}}
        )
        said = await sim.call("comment", repository=MARIN, number=pull["number"], login="reviewer", body="@perf-gate")
        found = await sim.call(
            "wait_for_comment", repository=MARIN, number=pull["number"], containing="perf", within=10
        )
        assert (found["id"], found["author"]) == (said["id"], "reviewer")
        await sim.call("settled")
        assert [event for event, _ in listener.events()] == [
            "ping",
            "installation.created",
            "pull_request.opened",
            "issue_comment.created",
        ]
        log = await sim.call("delivery_log")
        assert {entry["status"] for entry in log} == {"OK"}
        fault = await sim.call("fault", kind="status", status=503, path="*/issues/*")
        await sim.call("clear_faults")
        assert fault["id"] == 1
        assert await sim.call("violations") == []


async def test_what_cannot_be_done_is_said() -> None:
    async with Simulator(control_port=0) as sim, RemoteSimulator(sim.addresses()["control_url"]) as remote:
        for verb, arguments, said in (
            ("dance", {}, "no verb dance"),
            ("comment", {"words": 1}, "unexpected keyword argument 'words'"),
            ("comments", {"repository": "no/where", "number": 1}, "there is no repository no/where"),
            ("fault", {"kind": "flood"}, "a fault is one of"),
        ):
            with pytest.raises(ControlRefused, match=said):
                await remote.call(verb, **arguments)
        await remote.call("create_repository", full_name="a/b")
        await remote.call("open_issue", repository="a/b", author="al", title="t")
        with pytest.raises(TimeoutError):
            await remote.call("wait_for_comment", repository="a/b", number=1, within=0.01)
        address = f"{sim.addresses()['control_url']}/clear_faults"
        async with aiohttp.ClientSession() as browser, browser.post(address, data="{}") as answer:
            assert answer.status == 400
