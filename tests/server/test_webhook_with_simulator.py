"""A whole GitHub delivers to the door: signed as GitHub signs, in the shapes that GitHub sends, lost and repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from bot.github.adapter import GitHub
from simulator import Simulator
from simulator.state import App
from tests.github.conftest import private_key_pem
from tests.server.door import SECRET, Door, served

__all__ = ["private_key_pem"]


@dataclass
class Town:
    sim: Simulator
    app: App
    door: Door
    gh: GitHub

    def events(self) -> list[str]:
        return [delivery.event for delivery in self.door.stored]


@pytest.fixture
async def town(private_key_pem: str) -> AsyncIterator[Town]:
    public = load_pem_private_key(private_key_pem.encode(), None).public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    async with Simulator() as sim, served() as door:
        app = await sim.create_app(public_key=pem, webhook_secret=SECRET.decode(), webhook_url=f"{door.url}/webhook")
        await sim.create_repository("acme/widgets")
        await sim.install(app, "acme/widgets")
        await sim.open_pull("acme/widgets", author="ann", files={"a.py": "A = 1\n"})
        await sim.settled()
        opened = GitHub.open(sim.api_url, str(app.id), private_key_pem, sim.world.clock.now, write_spacing=timedelta(0))
        async with opened as gh:
            yield Town(sim, app, door, gh)
        assert sim.violations == []


async def test_what_github_sends_is_accepted(town: Town) -> None:
    await town.sim.comment("acme/widgets", 1, "ann", "@perf-gate")
    await town.sim.settled()
    assert town.events() == ["ping", "installation", "pull_request", "issue_comment"]
    body = town.door.stored[-1].body
    assert body is not None
    assert msgspec.json.decode(body)["comment"]["body"] == "@perf-gate"
    assert all(delivery.status_code == 202 for delivery in town.sim.delivery_log(town.app))


async def test_wrong_secret_shows_in_githubs_log(town: Town) -> None:
    await town.sim.set_webhook(town.app, f"{town.door.url}/webhook", secret="another", ping=False)
    await town.sim.comment("acme/widgets", 1, "ann", "@perf-gate")
    await town.sim.settled()
    assert town.sim.delivery_log(town.app)[-1].status_code == 401
    assert "issue_comment" not in town.events()


async def test_lost_delivery_is_asked_for_again_and_taken_once(town: Town) -> None:
    start = town.sim.world.clock.now() - timedelta(hours=1)
    town.sim.lose_deliveries()
    await town.sim.comment("acme/widgets", 1, "ann", "@perf-gate")
    await town.sim.settled()
    assert "issue_comment" not in town.events()
    (lost,) = [delivery for delivery in await town.gh.deliveries.since(start) if not delivery.succeeded]
    assert await town.gh.deliveries.redeliver(lost.id)
    assert await town.gh.deliveries.redeliver(lost.id)
    await town.sim.settled()
    assert town.events().count("issue_comment") == 1
    assert town.door.stored[-1].guid == lost.guid


async def test_duplicate_delivery_is_taken_once(town: Town) -> None:
    town.sim.duplicate_deliveries()
    await town.sim.comment("acme/widgets", 1, "ann", "@perf-gate")
    await town.sim.settled()
    assert town.events().count("issue_comment") == 1
