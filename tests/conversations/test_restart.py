"""What a start finds: trees that a crash left behind go, those of live runs stay."""

from __future__ import annotations

from pathlib import Path

import msgspec

from bot.app import open_app
from bot.gating.model import Place
from tests.conversations.world import world


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


async def test_a_renamed_repository_keeps_its_one_mirror(tmp_path: Path) -> None:
    """Two would fetch into one folder at one time: it goes by the repository's id."""
    async with world(tmp_path) as w:
        place = Place(7, w.repository.id, w.repository.full_name, 1, "ada")
        rooms = w.app.rooms
        assert rooms.mirror(place) is rooms.mirror(msgspec.structs.replace(place, full_name="marin-community/zephyr"))
