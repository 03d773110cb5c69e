"""The last scheduled baseline of each tier and its age, as GitHub has it, whoever was compared with it."""

from __future__ import annotations

import asyncio
import html
import re
from datetime import timedelta
from pathlib import Path

from bot.faults import Fault
from bot.server.pages.schedules import ASKED_EVERY, Scheduled, Schedules, Tiers
from tests.conversations.world import START, World, world
from tests.server.pages.test_access import get


async def tier(scene: World, number: int = 1) -> str:
    """What the tier's panel says of its baseline, in words."""
    _, page = await get(scene, "/")
    said = (
        page.partition(f'/tiers/{number}">Tier {number}</a></h2>')[2]
        .partition("Last scheduled baseline")[2]
        .partition("</dd>")[0]
    )
    return " ".join(re.sub(r"<[^>]*>", " ", said).split())


async def test_a_baseline_that_no_run_used_is_shown_and_grows_old(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        night = await scene.scheduled_run()
        await scene.to_question()
        assert (await tier(scene)).startswith(f"#{night.id} {night.head_sha[:10]} ")
        assert "older than its schedule" not in await tier(scene)
        scene.clock.advance(timedelta(days=2))
        assert "2 d 2 h old, older than its schedule" in await tier(scene)
        newer = await scene.scheduled_run()
        scene.clock.advance(ASKED_EVERY)
        assert (await tier(scene)).startswith(f"#{newer.id} ")


async def test_a_tier_without_a_scheduled_run_says_so(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        assert await tier(scene) == "no successful scheduled run"
        assert html.unescape(await tier(scene, 2)) == "On no repository's ladder"


async def test_where_github_does_not_say_the_last_that_a_run_used_is_named_as_such(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        scene.new_comments()
        used = (await scene.run()).gates[0].baseline
        assert used is not None
        scene.sim.fault("status", method="GET", path="*/actions/workflows/*", status=502, times=None)
        said = await tier(scene)
        assert said.startswith(f"#{used.run_id} ")
        assert said.endswith("the last that a run used")


RUN = Scheduled(7, "https://github.com/o/r/actions/runs/7", "a" * 40, START, timedelta(days=1))


async def test_a_page_waits_for_no_github_and_the_next_one_has_what_came_late() -> None:
    now, go, asked = START, asyncio.Event(), list[str]()

    async def ask(name: str, _through: int) -> Tiers:
        asked.append(name)
        await go.wait()
        return {1: RUN}

    schedules, places = Schedules(ask, lambda: now, patience_seconds=0.01), [("o/r", 1)]
    assert await schedules.of(places) == {}
    assert await schedules.of(places) == {}
    assert asked == ["o/r"], "it is asked once, however many read"
    go.set()
    assert await schedules.of(places) == {"o/r": {1: RUN}}
    go.clear()
    now += ASKED_EVERY
    assert await schedules.of(places) == {"o/r": {1: RUN}}, "what is known is shown meanwhile"
    await schedules.close()


async def test_what_is_known_outlives_a_github_that_is_down() -> None:
    now, answers = START, list[Tiers | Fault]([{1: RUN}, Fault("down", retryable=True)])

    async def ask(_name: str, _through: int) -> Tiers:
        answer = answers.pop(0)
        if isinstance(answer, Fault):
            raise answer
        return answer

    schedules, places = Schedules(ask, lambda: now), [("o/r", 1)]
    assert await schedules.of(places) == {"o/r": {1: RUN}}
    now += ASKED_EVERY
    assert await schedules.of(places) == {"o/r": {1: RUN}}
    assert answers == []
