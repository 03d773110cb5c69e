"""The simulator's own tests: an App, a repository, a listener for its webhooks, and a client that behaves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from simulator.pytest_fixture import simulator_fixture
from simulator.simulator import Simulator
from tests.simulator.client import AppClient, Listener, key_pair

__all__ = ["simulator_fixture"]

FILES: dict[str, str | bytes | None] = {
    "README.md": "# zephyr\n",
    "lib/zephyr/plan.py": "".join(f"line {number}\n" for number in range(40)),
    "lib/zephyr/logo.png": b"\x89PNG\x00\x01\x02",
    ".github/workflows/tier1.yml": "on: schedule\n",
}


@pytest_asyncio.fixture
async def listener() -> AsyncIterator[Listener]:
    async with Listener() as listener:
        yield listener


@pytest_asyncio.fixture
async def github(simulator: Simulator, listener: Listener) -> AsyncIterator[AppClient]:
    """`perf-gate`, installed on the private repository marin-community/marin, and its client."""
    private_key, public_key = key_pair()
    app = await simulator.create_app(public_key=public_key, webhook_secret="hook-secret", webhook_url=listener.url)
    repository = await simulator.create_repository("marin-community/marin", files=FILES, private=True)
    installation = await simulator.install(app, repository)
    async with AppClient(simulator, app, installation, private_key) as client:
        yield client
