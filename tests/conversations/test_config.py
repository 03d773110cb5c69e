"""The repository's own configuration: read from its default branch, and explained where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.gating.states import RunState
from tests.conversations.world import CONFIG, golden, world


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("unknown_key", CONFIG + "\n[tresholds]\n"),
        ("unknown_inner_key", CONFIG.replace("check_every", "chek_every")),
        ("wrong_type", CONFIG.replace('"10m"', "10")),
        ("no_toml", CONFIG + "\nladder = \n"),
        ("no_such_gate", CONFIG.replace("ladder = [1]", "ladder = [1, 4]")),
        ("two_at_once", CONFIG.replace("ladder = [1]", "ladder = [2, 1]").replace('"3m"', '"soon"')),
    ],
)
async def test_a_broken_file_is_explained_by_file_line_and_keys(tmp_path: Path, name: str, config: str) -> None:
    async with world(tmp_path, config=config) as w:
        await w.says("rev", "@perf-gate")
        said = w.canonical()
        golden(f"config/{name}", said)
        assert ".github/perf-gate.toml:" in said
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 0


async def test_a_mended_file_counts_at_the_next_try(tmp_path: Path) -> None:
    async with world(tmp_path, config="ladder = []") as w:
        await w.says("rev", "@perf-gate")
        assert "ladder" in w.canonical()
        await w.sim.commit(w.repository, "main", {".github/perf-gate.toml": CONFIG})
        await w.says("rev", "@perf-gate retry")
        assert "Proposed max_gate" in w.reply()


async def test_without_a_file_the_built_in_ladder_holds(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.sim.commit(w.repository, "main", {".github/perf-gate.toml": None})
        golden("config/built_in", await w.to_question())
        assert [plan.number for plan in (await w.run()).plan] == [1, 2, 3]


async def test_a_change_of_the_file_after_the_question_is_for_the_next_run(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        strict = CONFIG + "\n[thresholds]\nstage = { warn_percent = 0, fail_percent = 0 }\n"
        await w.sim.commit(w.repository, "main", {".github/perf-gate.toml": strict})
        await w.says("rev", "go")
        await w.ferry_ends(normalize=930.0)
        assert "✅ pass" in w.canonical()


async def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.sim.commit(w.repository, "main", {".github/perf-gate.toml": b"\xff\xfe\x00"})
        await w.says("rev", "@perf-gate")
        assert "not UTF-8 text" in w.canonical()
        assert (await w.run()).state is RunState.stuck


async def test_the_file_is_read_once_for_each_commit_and_the_commit_is_kept_with_the_run(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        other = await w.another_pull()
        await other.to_question()
        first = await w.repository.git.resolve("refs/heads/main")
        assert [sha for _, sha in w.app.rooms.configurations] == [first]
        second = await w.sim.commit(w.repository, "main", {".github/perf-gate.toml": CONFIG + "\n[verdict]\n"})
        await other.says("rev", "@perf-gate retry")
        other.new_comments()
        assert [sha for _, sha in w.app.rooms.configurations] == [first, second]
        assert [(await one.run()).config_sha for one in (w, other)] == [first, second]
