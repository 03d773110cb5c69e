"""`/readyz` as the whole bot answers it: ready once its cage was tested, and open about what lies in the inbox."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from bot.engine.port import Delivery
from bot.server.health import LATELY
from tests.conversations.world import SECRET, World, world
from tests.server.door import BODY, headers, sign


async def readyz(scene: World) -> tuple[int, dict[str, Any]]:
    async with ClientSession() as session, session.get(scene.door.make_url("/readyz")) as response:
        return response.status, await response.json()


async def test_a_bot_becomes_ready_and_tells_of_its_last_round(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        status, body = await readyz(scene)
        assert (status, body["why"]) == (503, ["the sandbox is being tested"])
        scene.app.vitals.sandbox_holds = True
        await scene.app.rounds.make()
        scene.clock.advance(timedelta(seconds=40))
        status, body = await readyz(scene)
        assert (status, body["engine_runs"], body["last_recovery_round_seconds_ago"]) == (200, True, 40)


async def test_a_secret_that_is_not_githubs_is_told_until_github_is_heard(tmp_path: Path) -> None:
    async with world(tmp_path) as scene, ClientSession() as session:
        scene.app.vitals.sandbox_holds = True

        async def knock(secret: str, **changes: str | None) -> int:
            fields = headers(BODY, X_Hub_Signature_256=sign(BODY, secret.encode()), X_GitHub_Event="push", **changes)
            async with session.post(scene.door.make_url("/webhook"), data=BODY, headers=fields) as response:
                return response.status

        scene.clock.advance(LATELY)
        assert await knock("a guess", X_GitHub_Delivery=None) == 400
        assert (await readyz(scene))[0] == 200, "a stranger's junk has not even GitHub's names"
        assert await knock("an older secret") == 401
        status, body = await readyz(scene)
        assert status == 503
        assert "refused for their signature" in body["why"][0]
        assert await knock(SECRET) == 202
        status, body = await readyz(scene)
        assert (status, body["last_delivery_stored_seconds_ago"]) == (200, 0)


async def test_a_delivery_that_no_release_can_read_is_counted_and_another_is_handled(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        scene.app.vitals.sandbox_holds = True
        await scene.app.engine.accept(Delivery("poison", "issue_comment", b"{"))
        await scene.live_through(timedelta(minutes=5))
        status, body = await readyz(scene)
        assert (status, body["dead"]) == (200, {"deliveries": 1, "effects": 0, "events": 0})
        await scene.to_question()
        # The one test of the world that leaves something dead on purpose takes it away again.
        await scene.app.engine._store.write(lambda tx: tx.execute("DELETE FROM deliveries WHERE guid = 'poison'"))  # type: ignore[attr-defined]
