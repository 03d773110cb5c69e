"""A run begun anew forgets nothing that was said about its commit: what was corrected, and how far it is to climb."""

from __future__ import annotations

from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import golden, world


async def test_asked_anew_it_keeps_the_answers_and_the_author_stays_under_no_ceiling(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "@perf-gate answer shuffle.py memory=no because the buffer is *never* full")
        assert "the proposal is now max_gate=1" in w.reply()
        await w.says("rev", "@perf-gate stop")
        await w.says("rev", "@perf-gate go max_gate=3 because the night was quiet")
        w.new_comments()
        await w.says("ada", "@perf-gate stop")
        await w.says("ada", "@perf-gate assess")
        golden("handover/named_before", next(body for body in w.new_comments() if "Proposed max_gate" in body))
        await w.says("ada", "max_gate=1 it is small")
        golden("handover/author_lowers", w.reply_without_marker())
        assert (await w.run()).state is RunState.awaiting_reviewer
        await w.presses("ada", "go")
        run = await w.run()
        assert (run.state, run.max_gate, len(run.corrections)) == (RunState.ferrying, "3", 1)
        golden("handover/run_as_named", w.canonical())
