"""A state that this release cannot read, as after going back to an older one: its pull request stands still, alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession
from click.testing import CliRunner

from bot.app import open_app
from bot.cli.runs import command
from bot.gating.states import RunState
from tests.conversations.world import World, world


def make_unreadable(scene: World) -> None:
    """A state of a later release may hold what this one has no name for."""
    with closing(sqlite3.connect(scene.app.rooms.settings.database_file, isolation_level=None)) as store:
        (state,) = store.execute("SELECT state FROM aggregates WHERE key = ?", (scene.key,)).fetchone()
        changed = state.replace(b'"awaiting_reviewer"', b'"awaiting_the_moon"')
        assert changed != state
        store.execute("UPDATE aggregates SET state = ? WHERE key = ?", (changed, scene.key))


async def test_the_others_are_recovered_shown_and_found_at_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        other = await scene.another_pull()
        await other.to_question()
        make_unreadable(scene)
        # Recovery: the one that cannot be read comes first, the other is heard all the same.
        scene.sim.hold_deliveries()
        await other.sim.comment(other.repository, other.pull.number, "rev", "@perf-gate skip because of a test")
        scene.clock.advance(timedelta(hours=3))
        await scene.app.rounds.make()
        await other.settle()
        assert (await other.run()).state is RunState.waived
        # Whoever watches still sees.
        async with ClientSession() as session, session.get(scene.door.make_url("/metrics")) as answer:
            assert answer.status == 200
        settings, clock = scene.app.rooms.settings, scene.clock
        left = settings.trees_dir / f"{scene.repository.id}-{scene.pull.number}-1-work"
        left.mkdir()
        other.new_comments()
        scene._seen.update(other._seen)
    monkeypatch.setenv("PERF_GATE_STATE_DIR", str(settings.state_dir))
    shown = CliRunner().invoke(command, ["--all"], catch_exceptions=False)
    assert f"#{other.pull.number}" in shown.output
    assert f"the state of pull request {scene.key} cannot be read" in caplog.text
    # A start: its tree may be a live run's, so it stays.
    async with open_app(settings, clock) as again:
        assert left.exists()
        assert await again.engine.read(other.key) is not None
