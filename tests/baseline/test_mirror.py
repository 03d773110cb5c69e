"""Where the artifact is gone, the mirror's report of the same run is the baseline; nothing in the mirror is believed
that GitHub does not vouch for."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import Any

import pytest

from bot.baseline.bucket import LARGEST_REPORT
from bot.baseline.mirror import NO_REPORT, NO_SUCH_RUN, OTHER_COMMIT
from bot.baseline.shelf import MOST
from tests.baseline.tier import BUCKET, FOLDER, LISTING, NAME, NOW, Nights


async def test_an_artifact_that_is_there_is_the_baseline_whatever_the_mirror_has(nights: Nights) -> None:
    run = await nights.night(1, mirrored=True)
    pin = await nights.pin()
    assert (pin.run_id, pin.source, pin.source_reason) == (run.id, "artifact", "")
    assert pin.artifact_id > 0


async def test_an_expired_artifact_is_found_again_in_the_mirror(nights: Nights) -> None:
    await nights.night(2, mirrored=True)
    run = await nights.night(1, mirrored=True, took=101.0)
    await nights.sim.expire_artifacts(run)
    pin = await nights.pin()
    assert (pin.run_id, pin.source, pin.artifact_id, pin.sha) == (run.id, "mirror", 0, run.head_sha)
    assert pin.report == nights.report(run, wall_seconds_total=101.0)
    assert "has expired or was deleted" in pin.source_reason


async def test_a_run_that_the_mirror_lacks_gives_way_to_the_newest_that_it_has(nights: Nights) -> None:
    await nights.night(4, mirrored=True)
    older = await nights.night(3, mirrored=True)
    await nights.night(1, uploaded=False)
    pin = await nights.pin()
    assert (pin.run_id, pin.created_at) == (older.id, older.created_at)
    assert "left no artifact" in pin.source_reason
    assert "no report of it either; this is the newest that can be verified" in pin.source_reason


async def test_the_newest_is_told_by_the_name_not_by_the_order_of_writing(nights: Nights) -> None:
    older, newer = await nights.night(4), await nights.night(3)
    await nights.night(1, uploaded=False)
    nights.mirror(nights.report(newer), NOW - timedelta(days=3))
    nights.mirror(nights.report(older), NOW - timedelta(days=4))
    assert (await nights.pin()).run_id == newer.id


@pytest.mark.parametrize("spelling", ["2026-08-02T07:15:23Z", "2026-08-02_07-15-23", "20260802", "20260802-071523"])
async def test_a_timestamp_may_be_spelt_otherwise(nights: Nights, spelling: str) -> None:
    await nights.night(3, mirrored=True)
    run = await nights.night(1, uploaded=False)
    nights.sim.put_object(BUCKET, f"{FOLDER}/report_{spelling}_tier1/perf_report.json", nights.report(run))
    assert (await nights.pin()).run_id == run.id


async def test_a_report_of_no_run_is_not_believed(nights: Nights) -> None:
    await nights.night(1, uploaded=False)
    for day, run_id in enumerate(("1", "none", "٣", "9" * 40, "-5", "1e3", None)):
        text = nights.report(None, workflow_run_id=run_id, commit_sha=nights.sha)
        nights.mirror(text, NOW - timedelta(hours=day))
    assert f"; refused: 7 {NO_SUCH_RUN}." in await nights.missing()


@pytest.mark.parametrize(
    "stranger",
    [
        {"event": "pull_request"},
        {"event": "workflow_dispatch"},
        {"conclusion": "failure"},
        {"status": "in_progress"},
        {"branch": "faster"},
    ],
)
async def test_a_report_of_a_run_that_is_no_baseline_is_not_believed(nights: Nights, stranger: dict[str, Any]) -> None:
    await nights.sim.commit(NAME, "faster", {"a.txt": "1"})
    await nights.night(2, uploaded=False)
    await nights.night(1, mirrored=True, **stranger)
    assert NO_SUCH_RUN in await nights.missing()


async def test_a_report_of_another_workflow_is_not_believed(nights: Nights) -> None:
    await nights.night(2, uploaded=False)
    other = await nights.sim.workflow_run(NAME, "tier2.yaml", created_at=NOW - timedelta(days=1))
    nights.mirror(nights.report(other), NOW)
    assert NO_SUCH_RUN in await nights.missing()


@pytest.mark.parametrize("sha", ["d" * 40, "", None])
async def test_a_report_of_another_commit_than_its_run_is_not_believed(nights: Nights, sha: str | None) -> None:
    run = await nights.night(1, uploaded=False)
    nights.mirror(nights.report(run, commit_sha=sha), NOW)
    assert f"1 {OTHER_COMMIT}" in await nights.missing()


async def test_who_copies_a_true_runs_id_comes_too_late(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False, mirrored=True, took=100.0)
    await nights.sim.advance(timedelta(hours=1))
    nights.mirror(nights.report(run, wall_seconds_total=900.0), NOW)
    assert (await nights.pin()).report == nights.report(run, wall_seconds_total=100.0)


async def test_an_overwritten_report_counts_as_written_late(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False)
    first = nights.mirror(nights.report(run), NOW - timedelta(hours=20))
    nights.mirror(nights.report(run, wall_seconds_total=102.0), NOW - timedelta(hours=19))
    await nights.sim.advance(timedelta(hours=1))
    nights.sim.put_object(BUCKET, first, nights.report(run, wall_seconds_total=900.0))
    assert (await nights.pin()).report == nights.report(run, wall_seconds_total=102.0)


async def test_of_two_attempts_the_one_that_succeeded_counts(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False)
    nights.mirror(nights.report(run, status="failed"), NOW - timedelta(hours=20))
    await nights.sim.advance(timedelta(hours=1))
    nights.mirror(nights.report(run), NOW - timedelta(hours=19))
    assert (await nights.pin()).report == nights.report(run)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"wall_seconds_total": "fast"}', b" " * (LARGEST_REPORT + 1)],
    ids=["empty", "no json", "a list", "no text", "wrong type", "too large"],
)
async def test_what_is_no_report_is_counted_and_passed_over(nights: Nights, content: bytes) -> None:
    older = await nights.night(2, mirrored=True)
    await nights.night(1, uploaded=False)
    nights.mirror(content, NOW)
    mirrored = await nights.mirrored()
    assert mirrored is not None
    assert ([one.run.id for one in mirrored.reports], dict(mirrored.refused)) == ([older.id], {NO_REPORT: 1})


async def test_a_compressed_object_is_not_expanded(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False)
    bomb = gzip.compress(nights.report(run).encode() + b" " * 80_000_000)
    assert len(bomb) < LARGEST_REPORT
    nights.mirror(bomb, NOW, content_encoding="gzip")
    assert f"1 {NO_REPORT}" in await nights.missing()


async def test_hostile_names_are_no_reports(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False)
    for name in (
        "report_20260803T010203Z_tier1/../perf_report.json",
        "report_20260803T010203Z_tier1/perf_report.json/x",
        "report_20261399T010203Z_tier1/perf_report.json",
        "report_99999999_tier1/perf_report.json",
        "report_٢٠٢٦٠٨٠٣_tier1/perf_report.json",
        "report_2026`@team`0803_tier1/perf_report.json",
        "report_20260803T010203Z_tier1\n/perf_report.json",
        "report_20260803T010203Z_tier2/perf_report.json",
        "report__tier1/perf_report.json",
        f"report_{'2' * 900}_tier1/perf_report.json",
    ):
        nights.sim.put_object(BUCKET, f"{FOLDER}/{name}", nights.report(run))
    nights.sim.put_object(BUCKET, "report_20260803T010203Z_tier1/perf_report.json", nights.report(run))
    assert (await nights.missing()).endswith("nor one of another scheduled run that can be verified.")
    assert nights.asked_storage() == []


async def test_names_of_the_future_do_not_push_out_the_true_ones(nights: Nights) -> None:
    run = await nights.night(1, mirrored=True)
    await nights.sim.expire_artifacts(run)
    for day in range(MOST + 1):
        nights.mirror(nights.report(run, wall_seconds_total=1), NOW + timedelta(days=day + 1))
    pin = await nights.pin()
    assert (pin.run_id, pin.report) == (run.id, nights.report(run, wall_seconds_total=100.0))


async def test_every_page_of_the_listing_is_read(nights: Nights) -> None:
    nights.sim.world.most_listed = 3
    for tier in (1, 2, 3):
        for day in range(10):
            nights.mirror(nights.report(None, workflow_run_id=1), NOW - timedelta(days=day + 1), tier)
    run = await nights.night(0, uploaded=False, mirrored=True)
    assert (await nights.pin()).run_id == run.id
    assert len([one for one in nights.sim.requests() if one.path == LISTING]) == 11


async def test_what_was_read_is_kept_and_only_the_newest(nights: Nights) -> None:
    runs = [await nights.night(day, uploaded=False, mirrored=True) for day in range(1, MOST + 6)]
    mirrored = await nights.mirrored()
    assert mirrored is not None
    assert [one.run.id for one in mirrored.reports] == [run.id for run in runs[:MOST]]
    assert len(nights.asked_storage()) == MOST
    await nights.night(0, uploaded=False, mirrored=True)
    again = await nights.mirrored()
    assert again is not None
    assert len(again.reports) == MOST
    assert len(nights.asked_storage()) == MOST + 1
    kept = [path for path in nights.archive.folder.rglob("*") if path.is_file()]
    assert len(kept) == MOST


async def test_a_kept_report_is_verified_again(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False, mirrored=True)
    assert (await nights.pin()).run_id == run.id
    run.conclusion = "failure"
    await nights.night(2, uploaded=False)
    assert NO_SUCH_RUN in await nights.missing()


async def test_a_kept_report_that_a_crash_emptied_is_read_again(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False, mirrored=True)
    await nights.mirrored()
    for path in nights.archive.folder.rglob("*_tier1"):
        path.write_text("")
    assert (await nights.pin()).run_id == run.id


async def test_a_folder_that_cannot_be_written_costs_a_download_and_no_more(nights: Nights) -> None:
    run = await nights.night(1, uploaded=False, mirrored=True)
    nights.archive.folder.write_text("in the way")
    assert (await nights.pin()).run_id == run.id
    assert (await nights.pin()).run_id == run.id
    assert len(nights.asked_storage()) == 2
