"""The artifact is gone: the mirror's report is the baseline and the comment says so, or it says what was tried."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.gating.model import Baseline
from bot.gating.states import RunState
from simulator.state import WorkflowRun
from tests.conversations.reports import perf_report, zipped
from tests.conversations.world import START, World, golden, world

MIRROR = "gs://marin-us-central1/infra/datakit/ferry_perf"
LISTING = "/storage/v1/b/marin-us-central1/o"


def report_of(run: WorkflowRun, **changes: Any) -> str:
    return json.dumps(perf_report(workflow_run_id=str(run.id), commit_sha=run.head_sha) | changes)


def mirrored(w: World, text: str, hours_ago: int = 1) -> None:
    when = START - timedelta(hours=hours_ago)
    name = f"infra/datakit/ferry_perf/report_{when:%Y%m%dT%H%M%SZ}_tier1/perf_report.json"
    w.sim.put_object("marin-us-central1", name, text)


async def nightly(w: World, days: int) -> list[WorkflowRun]:
    """Scheduled runs of the last days, oldest first, with an artifact each."""
    runs = []
    for day in range(days, 0, -1):
        text = json.dumps(perf_report(wall_seconds_total=2400.0 + day))
        run = await w.workflow_run(artifact=zipped(text))
        run.created_at -= timedelta(days=day)
        runs.append(run)
    return runs


async def baseline(w: World) -> Baseline:
    found = (await w.run()).gates[0].baseline
    assert found is not None
    return found


async def stuck(w: World, name: str) -> str:
    await w.to_question()
    await w.says("rev", "@perf-gate go")
    said = w.canonical()
    golden(f"mirror/{name}", said)
    assert (await w.run()).state is RunState.stuck
    assert "`rev`" in said
    assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]
    assert w.iris.submissions == 0
    return said


async def test_an_expired_artifact_is_found_in_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, perf_reports=MIRROR) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        run = await w.scheduled_run()
        await w.sim.expire_artifacts(run)
        mirrored(w, report_of(run))
        await w.to_ferrying()
        assert ((await baseline(w)).run_id, (await baseline(w)).source) == (run.id, "mirror")
        await w.ferry_ends()
        golden("mirror/used", w.canonical().partition("### ")[0])
        assert "report from the GCS mirror: The artifact" in w.canonical()
        assert "✅ pass" in w.canonical()


@pytest.mark.parametrize("forgery", ["no_such_run", "other_commit", "pull_request"])
async def test_a_forged_report_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgery: str) -> None:
    async with world(tmp_path, perf_reports=MIRROR) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        run = await w.scheduled_run()
        await w.sim.expire_artifacts(run)
        own = await w.workflow_run(artifact=None, event="pull_request")
        slow: dict[str, Any] = {"wall_seconds_total": 90_000.0, "status": "`@rev`"}
        mirrored(
            w,
            {
                "no_such_run": report_of(run, workflow_run_id="17", **slow),
                "other_commit": report_of(run, commit_sha=w.pull.head_sha, **slow),
                "pull_request": report_of(own, **slow),
            }[forgery],
        )
        await stuck(w, forgery)


async def test_neither_artifact_nor_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, perf_reports=MIRROR) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        await w.workflow_run(artifact=None)
        w.sim.create_bucket("marin-us-central1")
        await stuck(w, "neither")


async def test_a_mirror_that_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, perf_reports=MIRROR) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        await w.workflow_run(artifact=None)
        w.sim.fault("status", path=LISTING, status=403, message="{}", times=None)
        await stuck(w, "refused")


async def test_a_mirror_that_is_down_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path, perf_reports=MIRROR) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        monkeypatch.setattr("bot.effects.locate.MIRROR_SECONDS", 0.2)
        run = await w.workflow_run(artifact=None)
        mirrored(w, report_of(run))
        w.sim.fault("status", path=LISTING, status=503, times=None)
        await w.to_question()
        await w.says("rev", "@perf-gate go")
        assert (await w.run()).state is RunState.locating_baseline
        assert "looking for the scheduled baseline" in w.canonical()
        w.sim.clear_faults()
        await w.live_through(timedelta(minutes=10))
        assert (await baseline(w)).run_id == run.id
        assert w.iris.submissions == 1
        assert "watching the ferry" in w.canonical()


async def test_a_mirror_that_stays_down_is_said_after_some_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, perf_reports=MIRROR) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        monkeypatch.setattr("bot.effects.locate.MIRROR_SECONDS", 0.2)
        await w.workflow_run(artifact=None)
        w.sim.fault("status", path=LISTING, status=503, times=None)
        await w.to_question()
        await w.says("rev", "@perf-gate go")
        await w.live_through(timedelta(minutes=5))
        golden("mirror/down", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 0


@pytest.mark.parametrize("perf_reports", [MIRROR, None])
async def test_the_tiers_history_comes_with_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, perf_reports: str | None
) -> None:
    async with world(tmp_path, perf_reports=perf_reports) as w:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", w.sim.storage_url)
        runs = await nightly(w, 6)
        for day, run in enumerate(runs):
            mirrored(w, report_of(run, wall_seconds_total=2406.0 - day), hours_ago=24 * (6 - day))
        await w.to_ferrying()
        history = (await w.run()).gates[0].history
        assert [one.workflow_run_id for one in history] == [run.id for run in runs]
        assert [one.total for one in history] == [2406.0, 2405.0, 2404.0, 2403.0, 2402.0, 2401.0]
        assert history[-1].workflow_run_id == (await baseline(w)).run_id


async def test_how_far_the_baseline_is_from_the_merge_base(tmp_path: Path) -> None:
    """Main moved on after the pull request branched off, and the schedule measured that."""
    async with world(tmp_path) as w:
        await w.to_question()
        await w.clock.pass_time(w.app.engine, timedelta(days=3))
        files = {"docs/index.md": "# More\n"}
        await w.sim.commit(w.repository, "main", files)
        await w.sim.commit(w.repository, "main", {"lib/zephyr/src/zephyr/plan.py": "PLAN = 1\n"})
        await w.scheduled_run()
        await w.says("rev", "@perf-gate go")
        assert "2 commits and 3 d from the merge base, 1 of them in scope" in w.canonical()
