"""The pages in a real browser: at desktop and phone width, light and dark, with news and without scripts.

PERF_GATE_PICTURES=FOLDER keeps a picture of each, to be looked at.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.server.pages import live
from tests.conversations.world import world
from tests.server.pages.browser import DESKTOP, PHONE, Tab, chromium
from tests.server.pages.scenes import live_ferry


async def photograph(tab: Tab, name: str) -> None:
    if folder := os.environ.get("PERF_GATE_PICTURES"):
        await tab.picture(Path(folder) / f"{name}.png")


async def seen_by_everybody(tab: Tab, url: str, name: str) -> None:
    """The page at both widths and in both colours: nothing hangs over, nothing is refused, all of it can be read."""
    for size, width in ((DESKTOP, "desktop"), (PHONE, "phone")):
        for dark in (False, True):
            await tab.look(size, dark=dark)
            await tab.go(url)
            await photograph(tab, f"{name}-{width}-{'dark' if dark else 'light'}")
            assert not await tab.scrolls_sideways(), f"{name} hangs over at {width} width"
            assert await tab.ask(LEAST_CONTRAST) >= 4.5, f"words of {name} cannot be read"
    assert tab.said == []


# The least contrast of any words to what is behind them, as WCAG 2 counts it; 4.5 is its AA.
LEAST_CONTRAST = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const bright = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const ground = getComputedStyle(one).backgroundColor;
      if (parts(ground).length < 4 || parts(ground)[3] > 0.99) return ground;
    }
    return "rgb(255, 255, 255)";
  };
  let least = 21;
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || node.closest("svg") || !node.getClientRects().length) continue;
    const [a, b] = [bright(getComputedStyle(node).color), bright(behind(node))].sort((x, y) => y - x);
    least = Math.min(least, (a + 0.05) / (b + 0.05));
  }
  return least;
})()
"""


async def test_the_pages_of_a_live_ferry(tmp_path: Path) -> None:
    async with world(tmp_path) as scene, chromium(tmp_path) as tab:
        second = await live_ferry(scene)
        run = await scene.run()
        await seen_by_everybody(tab, str(scene.door.make_url("/")), "home")
        home = await tab.text()
        assert f"marin-community/marin#{scene.pull.number}" in home
        assert "Waits for a reviewer's answer, given up in" in home
        assert f"1. marin-community/marin#{second.pull.number}" in home
        await seen_by_everybody(tab, str(scene.door.make_url(f"/runs/{run.id}")), "run")
        assert "23/64 shards" in await tab.text()
        assert "rev may say go (as write)" in await tab.text()
        await seen_by_everybody(tab, str(scene.door.make_url("/tiers/1")), "tier")
        assert await tab.ask("document.querySelectorAll('figure.signal').length") == 8
        await scene.ferry_ends(normalize=1500.0)
        scene.new_comments()
        second.new_comments()
        await seen_by_everybody(tab, str(scene.door.make_url(f"/runs/{run.id}")), "ended")
        assert "as it stands on the pull request" in await tab.text()


async def test_a_page_follows_its_run_without_being_loaded_again(tmp_path: Path) -> None:
    async with world(tmp_path) as scene, chromium(tmp_path) as tab:
        await scene.to_question()
        run = await scene.run()
        await tab.go(str(scene.door.make_url(f"/runs/{run.id}")))
        await tab.until("document.getElementById('live').dataset.state === 'on'")
        await tab.ask("void (window.stayed = true)")
        assert "Awaiting reviewer" in await tab.text()
        await scene.says("rev", "@perf-gate stop")
        scene.new_comments()
        scene.clock.advance(timedelta(seconds=2))
        await tab.until("document.querySelector('.badge.big').innerText.includes('stopped')")
        assert await tab.ask("window.stayed === true")
        assert tab.said == []


async def test_a_page_that_a_proxy_refused_its_news_asks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as scene, chromium(tmp_path) as tab:
        monkeypatch.setattr(live, "MOST_LISTENERS", 0)
        # A reader's five seconds are none for a test.
        hurry = "const wait = window.setTimeout; window.setTimeout = (what) => wait(what, 20);"
        await tab.call("Page.addScriptToEvaluateOnNewDocument", source=hurry)
        await tab.go(str(scene.door.make_url("/")))
        await tab.until("document.getElementById('live').innerText.startsWith('Not live')")
        monkeypatch.undo()
        await tab.until("document.getElementById('live').dataset.state === 'on'")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
async def test_a_page_is_all_there_without_scripts(tmp_path: Path, size: tuple[int, int]) -> None:
    async with world(tmp_path) as scene, chromium(tmp_path) as tab:
        await scene.to_question()
        await tab.without_scripts()
        await tab.look(size)
        await tab.go(str(scene.door.make_url(f"/runs/{(await scene.run()).id}")))
        said = await tab.text()
        for words in ("awaiting reviewer", "Timeline", "Open effects", "The comment", "Links"):
            assert words in said
