"""Without a baseline that can be trusted nothing is paid for, and the comment says what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.reports import perf_report, zipped
from tests.conversations.world import World, golden, world


async def stuck(w: World, name: str) -> str:
    """Ask and answer; the comment says why there is no verdict, and no ferry was submitted."""
    await w.to_question()
    await w.says("rev", "@perf-gate go")
    said = w.canonical()
    golden(f"baseline/{name}", said)
    assert (await w.run()).state is RunState.stuck
    assert "`rev`" in said
    assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]
    assert w.iris.submissions == 0
    return said


async def test_no_scheduled_run_at_all(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await stuck(w, "none")


async def test_only_runs_that_are_no_baseline(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        good = zipped(json.dumps(perf_report()))
        await w.workflow_run(artifact=good, event="workflow_dispatch")
        await w.workflow_run(artifact=good, conclusion="failure")
        await w.workflow_run(artifact=good, conclusion="cancelled")
        await w.workflow_run(artifact=good, status="in_progress")
        await w.workflow_run(artifact=good, branch="feature")
        await w.workflow_run(2, artifact=good)
        await stuck(w, "none")


async def test_the_latest_good_run_counts_not_the_latest_run(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        good = await w.scheduled_run()
        await w.workflow_run(artifact=None, conclusion="failure")
        await w.to_ferrying()
        assert (await w.run()).gates[0].baseline is not None
        assert f"#{good.id}" in w.canonical()


async def test_a_run_without_the_artifact(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.workflow_run(artifact=None)
        await stuck(w, "no_artifact")


async def test_an_expired_artifact(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        run = await w.scheduled_run()
        await w.sim.expire_artifacts(run)
        await stuck(w, "expired")


async def test_an_artifact_that_is_no_zip(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.workflow_run(artifact=b"<html>sign in</html>")
        await stuck(w, "no_zip")


async def test_a_report_that_does_not_parse_is_named_by_its_field(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run(wall_seconds_total="forty minutes")
        assert "wall_seconds_total" in await stuck(w, "field")


async def test_a_report_that_is_no_json(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.workflow_run(artifact=zipped('{"iris_job_id": '))
        await stuck(w, "no_json")


async def test_a_report_of_another_commit_than_its_run(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run(commit_sha="f" * 40)
        await stuck(w, "other_commit")


async def test_a_hostile_report_stays_text(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run(stage_wall_seconds={"`@rev` <b>|\n# x": "1"})
        await stuck(w, "hostile")


async def test_a_baseline_that_appears_later_is_found_by_retry(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await stuck(w, "none")
        await w.scheduled_run()
        await w.says("rev", "@perf-gate retry")
        assert "watching the ferry" in w.canonical()


async def test_the_baseline_is_pinned_before_the_ferry_and_later_ones_change_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.scheduled_run(stage_wall_seconds={"normalize": 1.0}, wall_seconds_total=3.0)
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()


async def test_a_ferry_compared_with_itself_or_with_another_module_is_no_verdict(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run(ferry_module="experiments.ferries.another_ferry")
        await w.to_ferrying()
        await w.ferry_ends()
        golden("baseline/other_module", w.canonical())
        assert (await w.run()).state is RunState.stuck
