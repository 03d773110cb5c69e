"""What the pages show beyond the usual: hostile words, runs of before, troubles, both stores, and nobody held up."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from aiohttp import ClientSession
from msgspec.structs import replace

from bot.engine.views import Overview
from bot.gating.model import Attempt
from bot.gating.states import RunState
from bot.runs.reading import MACHINE, looking, outline
from bot.server.pages.bars import MOST_STAGES, bars
from bot.server.pages.charts import HEIGHT, WIDTH, Sample, chart
from bot.server.pages.drawing import Drawing
from bot.server.pages.home import MOST_SHOWN, home
from bot.server.pages.reader import Moment
from bot.server.pages.tier import SECONDS
from bot.verdict.model import Reading
from tests.comment.scenes import NOW, baseline, report, treatment
from tests.comment.scenes import judged as judged_gate
from tests.comment.scenes_judged import JUDGED
from tests.conversations.world import CONFIG, world
from tests.engine import postgres_server
from tests.server.pages.browser import chromium
from tests.server.pages.test_access import get

HOSTILE = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"


def test_a_comment_is_rendered_and_nothing_in_it_acts() -> None:
    drawn = Drawing("", "https://github.com").comment(
        f"**bold** `code`\n\n{HOSTILE}\n\n[go](javascript:alert(1)) [ok](https://github.com/x) ![p](https://evil/p.png)\n\n"
        "<details><summary>More</summary>\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n</details>\n\n"
        "<style>body{display:none}</style><iframe src=https://evil></iframe><form action=https://evil><input></form>\n\n"
        "```mermaid\nxychart-beta\n```\n\n```json\n{}\n```\n<!-- hidden -->"
    )
    for gone in (
        "<script",
        "<img",
        "onerror",
        'href="javascript:',
        "<style",
        "<iframe",
        "<form",
        "<input",
        "evil",
        "hidden",
    ):
        assert gone not in drawn.replace("&lt;", ""), gone
    for kept in ("<strong>bold</strong>", "<code>code</code>", "<details>", "<table>", "https://github.com/x", "<pre>"):
        assert kept in drawn, kept
    assert 'rel="noopener noreferrer nofollow"' in drawn
    assert "Here GitHub draws a chart" in drawn


async def test_hostile_words_of_a_ferry_and_of_a_person_stay_words(tmp_path: Path) -> None:
    async with world(tmp_path) as scene, chromium(tmp_path) as tab:
        await scene.scheduled_run()
        await scene.to_ferrying()
        await scene.ferry_ends(state="FAILED", error=HOSTILE)
        await scene.ferry_ends(state="FAILED", error=HOSTILE)
        scene.new_comments()
        run = await scene.run()
        _, page = await get(scene, f"/runs/{run.id}")
        assert "&lt;script&gt;" in page
        await tab.go(str(scene.door.make_url(f"/runs/{run.id}")))
        assert await tab.ask("window.pwned === undefined")
        assert await tab.ask("document.querySelectorAll('main script, main img, main form').length") == 0
        assert "window.pwned" in await tab.text()


async def test_a_run_that_was_replaced_is_shown_as_it_ended(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        first = await scene.run()
        await scene.ferry_ends(normalize=1500.0)
        await scene.says("rev", "@perf-gate retry")
        scene.new_comments()
        second = await scene.run()
        assert second.id != first.id
        status, page = await get(scene, f"/runs/{first.id}")
        assert status == 200
        assert f'href="/runs/{second.id}">a newer one' in page
        assert "gate 1: ❌ fail" in page
        assert "as it was when the run ended" in page
        assert "above the hard-fail limit" in page
        _, page = await get(scene, f"/runs/{second.id}")
        assert f'href="/runs/{first.id}">An earlier run' in page


async def test_a_run_that_the_state_has_forgotten_is_told_from_the_log(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        first = await scene.run()
        for said in ("@perf-gate stop", "@perf-gate"):
            await scene.says("rev", said)
        scene.new_comments()
        pr = await scene.app.engine.read(scene.key)
        assert pr is not None
        # As after ten more runs, which are all that it names.
        state = MACHINE.dump_state(replace(pr, earlier=()))
        with closing(sqlite3.connect(scene.app.rooms.settings.database_file)) as database, database:
            database.execute("UPDATE aggregates SET state = ? WHERE key = ?", (state, scene.key))
        status, page = await get(scene, f"/runs/{first.id}")
        assert status == 200
        assert "Stopped" in page
        assert "as it was when the run ended" in page
        assert (await get(scene, f"/runs/{first.id.rpartition('-')[0]}-77"))[0] == 404


async def test_comment_and_check_run_lead_to_the_page(tmp_path: Path) -> None:
    async with world(tmp_path, settings={"public_url": "https://gate.example/perf"}) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        run = await scene.run()
        address = f"https://gate.example/perf/runs/{run.id}"
        assert f"]({address})" in scene.canonical()
        scene.new_comments()

        assert {one.details_url for one in scene.checks()} == {address}
        # Behind a proxy that serves it below a folder, a page's own links have that folder.
        _, page = await get(scene, "/")
        assert f'href="/perf/runs/{run.id}"' in page
        assert 'href="/perf/static/style.css' in page


async def test_trouble_stands_with_its_evidence(tmp_path: Path) -> None:
    long = CONFIG + "\n[thresholds]\nstage = { warn_percent = 4000, fail_percent = 5000 }\n"
    async with world(tmp_path, config=long) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        scene.iris.at_work("normalize", {"download": 300.0}, done=7, queued=55)
        for _ in range(6):
            await scene.live_through(timedelta(minutes=10))
        scene.new_comments()
        run = await scene.run()
        assert run.attempt is not None
        (trouble,) = run.attempt.vitals.current
        _, page = await get(scene, f"/runs/{run.id}")
        assert "Stalled" in page
        assert trouble.evidence[0].replace("`", "").split(";")[0][:30] in page.replace("`", "")
        _, page = await get(scene, "/")
        assert "<strong>stalled</strong>" in page


async def test_pages_of_a_state_in_postgresql(tmp_path: Path) -> None:
    address = postgres_server.empty(tmp_path)
    try:
        async with world(tmp_path, database_url=address) as scene:
            await scene.scheduled_run()
            await scene.to_ferrying()
            scene.new_comments()
            run = await scene.run()
            for path in ("/", f"/runs/{run.id}", "/tiers/1"):
                status, page = await get(scene, path)
                assert status == 200, path
                assert "marin-community/marin" in page
    finally:
        postgres_server.drop(tmp_path)


async def test_a_slow_page_holds_up_no_delivery(tmp_path: Path) -> None:
    async with world(tmp_path) as scene, ClientSession() as session:
        await scene.to_question()
        gate, entered = threading.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        reader = scene.app.pages.reader

        def hang(_moment: object) -> None:
            loop.call_soon_threadsafe(entered.set)
            gate.wait(60)

        hanging = asyncio.create_task(reader.read(hang))
        await entered.wait()
        page = asyncio.create_task(session.get(scene.door.make_url("/")))
        # A page waits for the one before it, and the bot lives on.
        await scene.says("rev", "@perf-gate status")
        assert "waiting for an answer" in scene.reply()
        async with session.get(scene.door.make_url("/healthz")) as answer:
            assert answer.status == 200
        assert not page.done()
        gate.set()
        await hanging
        assert (await page).status == 200


async def test_a_state_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        file = scene.app.rooms.settings.database_file
        hidden = file.rename(file.with_name("elsewhere.db"))
        try:
            status, page = await get(scene, "/")
        finally:
            hidden.rename(file)
        assert status == 503
        assert "The state cannot be read at this moment" in page
        with looking(scene.app.rooms.settings) as tx:
            assert tx.execute("SELECT count(*) FROM aggregates").fetchone() == (1,)


def test_a_thousand_runs_make_a_page_that_can_be_read() -> None:
    run = JUDGED["pass"].run
    assert run is not None
    waiting = outline(replace(JUDGED["pass"], run=replace(run, state=RunState.awaiting_reviewer)))
    assert waiting.run is not None
    assert waiting.place is not None
    pulls = {f"42/{number}": replace(waiting, run=replace(waiting.run, id=f"42-{number}-1")) for number in range(1000)}
    moment = Moment(None, pulls, Overview((), (), (), (), ()), NOW)  # type: ignore[arg-type]
    shown = home(moment, {waiting.place.full_name}, operator=False)
    assert (len(shown.waiting.cards), shown.waiting.count) == (MOST_SHOWN, 1000)
    assert len(home(moment, {waiting.place.full_name}, operator=False, everything=True).waiting.cards) == 1000


def test_a_report_with_a_thousand_stages_draws_a_page_that_can_be_read() -> None:
    stages = {f"stage {number}": 1.0 for number in range(1000)}
    gate = judged_gate(1, report(stages=stages), treatment(stages=stages))
    assert gate.attempt is not None
    drawn = bars(gate.baseline, gate.attempt)
    assert drawn is not None
    assert len(drawn.stages) == MOST_STAGES
    assert drawn.left_out > 900


def test_bars_are_as_long_as_their_stages_took() -> None:
    gate = judged_gate(1, report(stages={"normalize": 500.0}), treatment(stages={"normalize": 1000.0}))
    assert gate.attempt is not None
    drawn = bars(gate.baseline, gate.attempt)
    assert drawn is not None
    (normalize,) = [bar for bar in drawn.stages if bar.name == "normalize"]
    assert (normalize.baseline_percent, normalize.ours_percent) == (50.0, 100.0)
    assert (normalize.delta, normalize.verdict) == ("+100.0%", "fail")


def test_no_bars_before_anything_was_measured() -> None:
    assert bars(baseline(report()), Attempt(1)) is None


def test_a_chart_marks_what_lies_beyond_its_band_and_stays_inside_its_picture() -> None:
    reading = Reading(14, 0.0, 0.10, 0.15, 0.0, "inside", usual=100.0)
    values = [100.0, 105.0, 95.0, 130.0, 88.0]
    samples = [Sample(NOW + timedelta(days=day), value) for day, value in enumerate(values)]
    drawn = chart(samples, reading, SECONDS)
    assert [point.out for point in drawn.points] == [False, False, False, True, True]
    assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in drawn.points)
    assert [tick.word for tick in drawn.x_ticks] == ["20 Jun", "22 Jun", "24 Jun"]
    assert 2 <= len(drawn.y_ticks) <= 5
    assert drawn.band is not None


def test_one_night_makes_a_chart_too() -> None:
    drawn = chart([Sample(NOW, 0.5)], None, SECONDS)
    assert len(drawn.points) == 1
    assert drawn.band is None
