"""What a start finds: trees that a crash left behind go, those of live runs stay."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec

from bot.app import open_app
from bot.comment.question import marker_of
from bot.gating.model import Place
from bot.gating.states import RunState
from bot.github.names import Marker, RepoRef
from tests.conversations.world import REPOSITORY, world


async def test_trees_that_a_crash_left_behind_are_removed_at_the_next_start(tmp_path: Path) -> None:
    left = tmp_path / "state" / "perf-gate-trees" / "42-9-1-work"
    left.mkdir(parents=True)
    (left / "setup.py").write_text("import os")
    async with world(tmp_path):
        assert not left.exists()


async def test_the_trees_of_a_run_that_is_out_on_the_cluster_stay(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        before = sorted(path.name for path in (tmp_path / "state" / "perf-gate-trees").iterdir())
        assert before
        settings, clock = w.app.rooms.settings, w.clock
    async with open_app(settings, clock):
        assert sorted(path.name for path in (tmp_path / "state" / "perf-gate-trees").iterdir()) == before


async def test_an_answer_to_an_earlier_question_of_the_same_comment_waives_nothing(tmp_path: Path) -> None:
    """A state out of a backup knows neither a question, nor the answer to it, nor what was pushed after both."""
    async with world(tmp_path) as w:
        (installation,) = w.sim.world.installations.values()
        repo, marker = RepoRef(installation.id, REPOSITORY), marker_of(f"{w.repository.id}-{w.pull.number}-1")
        asked = f"Proposed max_gate: skip, for an earlier commit\n\n{marker}"
        before = await w.app.rooms.github.comments.upsert(repo, w.pull.number, Marker(marker, opens=False), asked, None)
        w.clock.advance(timedelta(minutes=1))
        w.sim.lose_deliveries(1, event="issue_comment")
        await w.says("rev", "@perf-gate skip because it is only a comment")
        w.clock.advance(timedelta(minutes=1))
        await w.to_question()
        assert (await w.run()).question_id == before.id
        # As the round of recovery has it: once the question of today's commit stands.
        missed = next(one for one in reversed(w.sim.delivery_log()) if one.status_code == 0)
        await w.sim.redeliver(missed)
        await w.settle()
        assert "Your answer came before the question" in w.reply()
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_a_renamed_repository_keeps_its_one_mirror(tmp_path: Path) -> None:
    """Two would fetch into one folder at one time: it goes by the repository's id."""
    async with world(tmp_path) as w:
        place = Place(7, w.repository.id, w.repository.full_name, 1, "ada")
        rooms = w.app.rooms
        assert rooms.mirror(place) is rooms.mirror(msgspec.structs.replace(place, full_name="marin-community/zephyr"))
