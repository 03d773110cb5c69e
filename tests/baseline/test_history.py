"""The tier's last scheduled reports, oldest first; what is wrong with any of them never stops a run."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bot.baseline.history import MOST
from simulator.state import WorkflowRun
from tests.baseline.tier import NAME, NOW, Nights

# The listing of runs, and the baseline's artifact: its listing, its address, its download.
LATEST = 4


def counted(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    """What the last reading of a history said of itself."""
    said = [record for record in caplog.records if record.message == "read the history"][-1]
    return {name: getattr(said, name) for name in ("source", "used", "skipped")}


async def week(nights: Nights, **how: Any) -> list[WorkflowRun]:
    """Five nights, oldest first, each a second longer than the one before."""
    return [await nights.night(day, took=100.0 + 5 - day, **how) for day in (5, 4, 3, 2, 1)]


@pytest.mark.parametrize("mirrored", [True, False])
async def test_history_is_oldest_first_and_holds_the_baseline(nights: Nights, mirrored: bool) -> None:
    runs = await week(nights, mirrored=mirrored)
    past = await nights.history()
    assert [one.workflow_run_id for one in past] == [run.id for run in runs]
    assert [one.total for one in past] == [100.0, 101.0, 102.0, 103.0, 104.0]
    assert [one.at for one in past] == [run.created_at for run in runs]
    assert {one.sha for one in past} == {nights.sha}


async def test_the_mirror_spares_the_artifacts(nights: Nights) -> None:
    await week(nights, mirrored=True)
    await nights.history()
    before = nights.asked_github()
    assert len(await nights.history()) == 5
    assert nights.asked_github() - before == LATEST


async def test_artifacts_are_fetched_once(nights: Nights) -> None:
    without = nights.without_mirror()
    await week(nights)
    first = await without.history()
    before = nights.asked_github()
    assert await without.history() == first
    assert nights.asked_github() - before == LATEST
    assert nights.asked_storage() == []


async def test_the_next_night_costs_one_look_at_the_newest(nights: Nights) -> None:
    without = nights.without_mirror()
    await week(nights)
    await without.history()
    await nights.night(0)
    before = nights.asked_github()
    assert len(await without.history()) == 6
    assert nights.asked_github() - before == LATEST


async def test_at_most_twenty_and_the_newest(nights: Nights) -> None:
    runs = [await nights.night(day, mirrored=True) for day in range(26)]
    past = await nights.history()
    assert [one.workflow_run_id for one in past] == [run.id for run in reversed(runs[:MOST])]


async def test_a_first_gate_fetches_a_bounded_number_of_artifacts(nights: Nights) -> None:
    """Fifty nights without a report: only half are asked about now, the rest is left."""
    newest = await nights.night(0)
    for day in range(1, 50):
        await nights.night(day, uploaded=False)
    past = await nights.without_mirror().history()
    assert [one.workflow_run_id for one in past] == [newest.id]
    listed = nights.sim.requests("GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts")
    assert len(listed) == 1 + 25


async def test_expired_nights_are_passed_over_and_not_asked_about_again(nights: Nights) -> None:
    runs = await week(nights)
    for run in runs[:2]:
        await nights.sim.expire_artifacts(run)
    without = nights.without_mirror()
    assert [one.workflow_run_id for one in await without.history()] == [run.id for run in runs[2:]]
    before = nights.asked_github()
    await without.history()
    assert nights.asked_github() - before == LATEST


async def test_what_is_left_out_is_counted_with_its_reason(nights: Nights, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "bot.baseline")
    await week(nights, mirrored=True)
    troubles: tuple[dict[str, Any], ...] = (
        {"infra_failures": {"hardware_fault": 1}},
        {"preemption_count": 40},
        {"stage_wall_seconds": {"normalize": 1e300}, "wall_seconds_total": 1e300},
        {"stage_wall_seconds": {f"stage {number}": 1.0 for number in range(300)}},
        {"stage_wall_seconds": {"x" * 200: 1.0}},
    )
    for hours, changes in enumerate(troubles):
        run = await nights.night(8 + hours, uploaded=False)
        text = nights.report(run, **changes).replace("1e+300", "1e900")
        nights.mirror(text, run.created_at)
    await nights.night(30, uploaded=False)
    assert len(await nights.history()) == 5
    skipped = {"measured trouble": 2, "implausible": 3, "no report": 1}
    assert counted(caplog) == {"source": "mirror", "used": 5, "skipped": skipped}


async def test_forged_reports_do_not_widen_the_band(nights: Nights) -> None:
    runs = await week(nights, mirrored=True)
    await nights.sim.advance(timedelta(hours=2))
    for number, run in enumerate(runs):
        nights.mirror(nights.report(run, wall_seconds_total=9000.0), NOW + timedelta(minutes=number))
        nights.mirror(nights.report(None, workflow_run_id=run.id, commit_sha="d" * 40), NOW + timedelta(hours=number))
        nights.mirror(nights.report(None, workflow_run_id=number + 1, commit_sha=nights.sha), NOW)
    assert max(one.total or 0 for one in await nights.history()) == 104.0


async def test_a_mirror_that_is_down_leaves_the_artifacts(nights: Nights, caplog: pytest.LogCaptureFixture) -> None:
    runs = await week(nights, mirrored=True)
    nights.sim.fault("status", path="/storage/*", status=503, times=None)
    nights.archive = replace(nights.archive, patience=0.3)
    caplog.set_level(logging.DEBUG, "bot.baseline")
    assert [one.workflow_run_id for one in await nights.history()] == [run.id for run in runs]
    assert counted(caplog)["source"] == "artifacts"


async def test_an_empty_mirror_leaves_the_artifacts(nights: Nights) -> None:
    runs = await week(nights)
    assert [one.workflow_run_id for one in await nights.history()] == [run.id for run in runs]


async def test_github_in_trouble_leaves_what_was_read_so_far(nights: Nights) -> None:
    without = nights.without_mirror()
    runs = await week(nights)
    pin = await without.pin()
    # The client's three tries each: the second newest night is read, the third newest is not.
    nights.sim.fault("status", path=f"/repos/{NAME}/actions/runs/{runs[2].id}/artifacts", times=None)
    past = await without.history()
    assert [one.workflow_run_id for one in past] == [run.id for run in runs[3:]]
    nights.sim.clear_faults()
    assert len(await without.history()) == 5
    assert pin.run_id == runs[-1].id


async def test_a_baseline_that_is_no_sample_leaves_an_honest_history(nights: Nights) -> None:
    """A baseline split by preemptions is compared with all the same; the noise is told by the other nights."""
    runs = await week(nights, mirrored=True)
    odd = await nights.night(0, uploaded=False)
    nights.mirror(nights.report(odd, preemption_count=9), NOW)
    pin = await nights.pin()
    assert pin.run_id == odd.id
    assert json.loads(pin.report)["preemption_count"] == 9
    assert [one.workflow_run_id for one in await nights.history()] == [run.id for run in runs]
