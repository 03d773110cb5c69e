"""The question tells what each answer costs: by the scheduled runs that were read, and by who stands in line."""

from __future__ import annotations

from pathlib import Path

from tests.conversations.world import CONFIG, golden, world

TWO = CONFIG.replace("ladder = [1]", "ladder = [1, 2]")


async def test_a_second_question_knows_what_the_first_run_learnt_and_who_is_ahead(tmp_path: Path) -> None:
    async with world(tmp_path, config=TWO) as w:
        for _ in range(3):
            await w.scheduled_run()
        assert "how long its scheduled runs took is not known yet" in await w.to_question()
        await w.says("rev", "go")
        assert "watching the ferry" in w.canonical()
        other = await w.another_pull()
        asked = await other.to_question()
        assert "(3 of tier 1); for the other gates, the time set for them" in asked
        assert f"⏳ Tier 1: 1 ferry is ahead (#{w.pull.number})" in asked
        golden("question/costs", asked)
