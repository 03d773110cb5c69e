"""Pull requests in outline: what a list of runs shows, without what would fill the memory, and read only when moved."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.conversation.commands import Go
from bot.engine.tables import inspection
from bot.gating.model import Resumption
from bot.gating.words import Correction, Handover, Held
from bot.runs.facts import table
from bot.runs.reading import MACHINE, Outlines, looking, outline, pulls
from tests.comment.scenes import NOW
from tests.comment.scenes_judged import JUDGED
from tests.conversations.world import World, world


def shown(scene: World, outlines: Outlines) -> tuple[object, object]:
    """The table of runs from whole states, and from outlines."""
    with looking(scene.app.rooms.settings) as tx:
        now, overview = scene.clock.now(), inspection.overview(tx)
        return table(pulls(tx), overview, now), table(outlines.of(tx), overview, now)


async def test_outlines_give_the_same_table_as_whole_states(tmp_path: Path) -> None:
    outlines = Outlines()
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        whole, outlined = shown(scene, outlines)
        assert outlined == whole
        await scene.ferry_ends()
        scene.canonical()
        whole, outlined = shown(scene, outlines)
        assert outlined == whole
        assert "passed" in str(outlined)


async def test_what_did_not_move_is_not_read_again(tmp_path: Path) -> None:
    outlines = Outlines()
    async with world(tmp_path) as scene:
        await scene.to_question()
        with looking(scene.app.rooms.settings) as tx:
            before = outlines.of(tx)
            assert outlines.of(tx)[scene.key] is before[scene.key]
        scene.clock.advance(timedelta(seconds=1))
        await scene.says("rev", "@perf-gate stop")
        scene.new_comments()
        with looking(scene.app.rooms.settings) as tx:
            assert outlines.of(tx)[scene.key] is not before[scene.key]


def test_an_outline_is_small() -> None:
    whole = JUDGED["pass"]
    assert len(MACHINE.dump_state(whole)) > 8_000
    assert len(MACHINE.dump_state(outline(whole))) < 3_000
    assert json.loads(MACHINE.dump_state(outline(whole)))["run"]["gates"][0]["baseline"]["report"] == ""


def test_an_outline_holds_nothing_that_people_wrote_at_length_and_no_gate_of_before() -> None:
    whole = JUDGED["pass"]
    assert whole.run is not None
    run = whole.run
    said = Correction("lib/zephyr/a.py", "cpu", True, "rev", NOW, "w" * 2_000)
    left = Handover(run.head_sha, corrections=(said,))
    run = replace(
        run,
        corrections=(said,),
        handover=left,
        held=(Held(7, "rev", Go("1", "w" * 2_000)),),
        resumes=Resumption("42-5199-0", run.head_sha, 1, run.gates),
    )
    assert len(MACHINE.dump_state(outline(replace(whole, run=run, handovers=(left,))))) < 3_000
