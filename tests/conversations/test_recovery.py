"""Webhooks that never came: what the bot finds out by itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.gating.states import RunState
from tests.conversations.heard import SENTINEL
from tests.conversations.world import World, world


async def round_of_recovery(scene: World) -> None:
    await scene.app.rounds.make()
    await scene.settle()


async def test_a_go_that_was_said_while_the_bot_was_down_is_heard_when_it_is_up(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_question()
        scene.sim.lose_deliveries()
        await scene.says("rev", "@perf-gate go")
        assert "waiting for an answer" in scene.canonical()
        scene.clock.advance(timedelta(minutes=5))
        await round_of_recovery(scene)
        assert "watching the ferry" in scene.canonical()
        await round_of_recovery(scene)
        assert scene.iris.submissions == 1
        await scene.ferry_ends()
        assert "✅ pass" in scene.canonical()


async def test_it_is_found_by_looking_where_github_forgot_the_delivery_and_obeyed_once(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_question()
        scene.sim.hold_deliveries()
        await scene.sim.comment(scene.repository, scene.pull.number, "rev", "@perf-gate go")
        await round_of_recovery(scene)
        assert "watching the ferry" in scene.canonical()
        # The delivery comes late after all, under a GUID of its own.
        await scene.sim.release_deliveries()
        await scene.settle()
        assert scene.says_nothing()
        assert scene.iris.submissions == 1
        await scene.ferry_ends()
        assert "✅ pass" in scene.canonical()


async def test_the_first_mention_is_recovered_too(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        scene.sim.lose_deliveries()
        await scene.says("rev", "@perf-gate")
        assert scene.comments() == []
        scene.clock.advance(timedelta(minutes=5))
        await round_of_recovery(scene)
        assert "waiting for an answer" in scene.canonical()
        assert "assessment" in scene.reply()


async def test_a_push_a_close_and_a_reopening_that_nobody_told_of(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        scene.sim.hold_deliveries()
        sha = await scene.sim.push(scene.repository, scene.pull.number, {"lib/zephyr/src/zephyr/shuffle.py": "A = 1\n"})
        await round_of_recovery(scene)
        assert sha[:10] in scene.canonical()
        assert (await scene.run()).head_moved_to == sha
        await scene.sim.close(scene.repository, scene.pull.number, by="ada")
        await round_of_recovery(scene)
        pr = await scene.app.engine.read(scene.key)
        assert pr is not None
        assert not pr.is_open
        assert pr.open_as_of == scene.pull.updated_at
        await scene.sim.reopen(scene.repository, scene.pull.number, by="ada")
        await round_of_recovery(scene)
        pr = await scene.app.engine.read(scene.key)
        assert pr is not None
        assert pr.is_open
        await scene.ferry_ends()
        assert "✅ pass" in scene.canonical()


async def test_a_canonical_comment_that_was_deleted_or_changed_is_written_again(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        before, first = scene.canonical(), scene.canonical_id()
        await scene.sim.delete_comment(first)
        await round_of_recovery(scene)
        assert scene.canonical() == before
        assert scene.canonical_id() != first
        await scene.sim.edit_comment(scene.canonical_id(), f"{SENTINEL}\nall is well")
        await round_of_recovery(scene)
        assert scene.canonical() == before
        await scene.ferry_ends()
        assert "✅ pass" in scene.canonical()


async def test_an_edited_comment_commands_as_little_when_it_is_found_by_looking(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        said = await scene.says("rev", "I will look at it tomorrow")
        scene.clock.advance(timedelta(minutes=2))
        scene.sim.hold_deliveries()
        await scene.sim.edit_comment(said.id, "@perf-gate go")
        await round_of_recovery(scene)
        assert "waiting for an answer" in scene.canonical()
        assert "Edits are not run" in scene.reply()
        await round_of_recovery(scene)
        assert scene.says_nothing()


async def test_a_bare_answer_from_before_the_question_is_no_answer_to_it(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        await scene.says("rev", "@perf-gate stop")
        await scene.says("rev", "go")
        await scene.says("rev", "@perf-gate retry")
        assert "waiting for an answer" in scene.canonical()
        scene.new_comments()
        await round_of_recovery(scene)
        assert scene.says_nothing()


async def test_a_quiet_round_changes_nothing_and_costs_little(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        scene.canonical()
        await round_of_recovery(scene)
        before, writes = scene.asked_github(), [r for r in scene.sim.requests() if r.method != "GET"]
        scene.clock.advance(timedelta(minutes=5))
        await round_of_recovery(scene)
        assert [r for r in scene.sim.requests() if r.method != "GET"] == writes
        # The log of deliveries, the pull request, its comments.
        assert scene.asked_github() - before == 3


async def test_github_down_during_a_round_leaves_the_rest_to_the_next(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_question()
        scene.sim.lose_deliveries()
        await scene.says("rev", "@perf-gate go")
        scene.clock.advance(timedelta(minutes=5))
        scene.sim.fault("status", status=502, times=None)
        await scene.app.rounds.make()
        assert "waiting for an answer" in scene.canonical()
        scene.sim.clear_faults()
        scene.clock.advance(timedelta(minutes=5))
        await round_of_recovery(scene)
        assert "watching the ferry" in scene.canonical()
        await scene.ferry_ends()
        assert "✅ pass" in scene.canonical()


async def test_where_very_many_wait_each_round_looks_at_the_next_and_none_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        other = await scene.another_pull()
        await other.to_question()
        monkeypatch.setattr("bot.recovery.rounds.MOST_LOOKED_AT", 1)
        scene.sim.hold_deliveries()
        for one in (scene, other):
            await one.sim.comment(one.repository, one.pull.number, "rev", "@perf-gate skip because of a test")
        heard = []
        for _ in range(2):
            scene.clock.advance(timedelta(hours=3))
            await round_of_recovery(scene)
            heard.append([(await one.run()).state for one in (scene, other)].count(RunState.waived))
        assert heard == [1, 2]
        scene.new_comments()
        other.new_comments()
        scene._seen.update(other._seen)


async def test_what_was_said_is_heard_however_long_the_bot_was_down(tmp_path: Path) -> None:
    """GitHub forgets deliveries after three days, and the question waits for fourteen."""
    async with world(tmp_path) as scene:
        await scene.to_question()
        scene.sim.hold_deliveries()
        await scene.sim.comment(scene.repository, scene.pull.number, "rev", "@perf-gate skip because of a test")
        scene.clock.advance(timedelta(days=6))
        await round_of_recovery(scene)
        assert (await scene.run()).state is RunState.waived
        scene.new_comments()
