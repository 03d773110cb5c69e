"""What the gate is about: out of scope, flagged, overridden, trivial."""

from __future__ import annotations

from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.world import CONFIG, FILES, SHUFFLE, golden, world

DOCS = {
    "docs/index.md": "# Marin, documented\n",
    "lib/zephyr/tests/test_shuffle.py": "def test_more():\n    assert 1\n",
}
FRAY = {"lib/fray/src/fray/job.py": "JOBS = 2\n"}
COMMENTED = {SHUFFLE: "# how many records\n" + FILES[SHUFFLE]}


async def test_documentation_and_tests_are_out_of_scope(tmp_path: Path) -> None:
    async with world(tmp_path, files=DOCS) as w:
        await w.says("rev", "@perf-gate")
        golden("scope/out_of_scope", w.canonical())
        assert w.says_nothing()


async def test_an_explicit_ceiling_overrides_out_of_scope_and_is_recorded(tmp_path: Path) -> None:
    async with world(tmp_path, files=DOCS) as w:
        await w.scheduled_run()
        await w.says("rev", "@perf-gate")
        assert (await w.run()).state is RunState.out_of_scope
        w.canonical()
        await w.says("rev", "@perf-gate go max_gate=1 because the tests write shards")
        golden("scope/forced_question", w.reply())
        await w.says("rev", "go")
        golden("scope/forced", w.canonical())
        run = await w.run()
        assert run.override == "reviewer override by rev: max_gate=1 — the tests write shards"
        assert w.iris.submissions == 1


async def test_a_push_that_comes_into_scope_is_asked_about(tmp_path: Path) -> None:
    async with world(tmp_path, files=DOCS) as w:
        await w.says("rev", "@perf-gate")
        w.canonical()
        await w.push(FILES[SHUFFLE].replace("1024", "9"))
        assert "Proposed max_gate: 3" in w.reply()


async def test_fray_alone_is_asked_about_not_decided(tmp_path: Path) -> None:
    async with world(tmp_path, files=FRAY) as w:
        await w.scheduled_run()
        await w.says("rev", "@perf-gate")
        w.canonical()
        golden("scope/fray_question", w.reply())
        await w.says("rev", "go")
        golden("scope/fray", w.canonical())
        assert (await w.run()).override == ""


async def test_fray_beside_zephyr_is_flagged(tmp_path: Path) -> None:
    async with world(tmp_path, files=FRAY | {SHUFFLE: FILES[SHUFFLE].replace("1024", "9")}) as w:
        question = await w.to_question()
        assert "Proposed max_gate: 3" in question
        assert "Flagged: `lib/fray/src/fray/job.py`, which alone asks for no run." in question


async def test_a_proven_trivial_change_is_waived_by_go_of_another(tmp_path: Path) -> None:
    async with world(tmp_path, files=COMMENTED) as w:
        golden("scope/trivial_question", await w.to_question())
        await w.says("ada", "go")
        golden("scope/author_concurs", w.reply_without_marker())
        await w.says("rev", "go")
        waived = w.canonical()
        golden("scope/waived", waived)
        assert len(waived.strip().splitlines()) == 2
        assert w.iris.submissions == 0


async def test_a_trivial_change_can_be_run_all_the_same(tmp_path: Path) -> None:
    async with world(tmp_path, files=COMMENTED) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("ada", "max_gate=1 to be sure")
        assert "watching the ferry" in w.canonical()
        assert (await w.run()).override == "reviewer override by ada: max_gate=1 — to be sure"


async def test_a_repository_sets_its_own_scope(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG + '\n[scope]\ninclude = ["docs/**"]\nexclude = []\n', files=DOCS) as w:
        assert "docs/index.md" in await w.to_question()


async def test_hostile_names_and_sources_stay_text(tmp_path: Path) -> None:
    name = "lib/zephyr/src/zephyr/`@rev` <img src=x> [x](e.org)|.py"
    source = "x = '<!-- zephyr-perf-gate --> @marin-community/admins'\n"
    async with world(tmp_path, files={name: source}) as w:
        golden("scope/hostile_question", await w.to_question())
