"""A bucket that fails, refuses or forgets: what passes is waited out, what lasts is said."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from bot.baseline.locate import locate
from bot.baseline.model import Located, Missing
from bot.baseline.scheduled import scheduled_runs
from bot.faults import Fault
from tests.baseline.tier import LISTING, NAME, NOW, Nights

# google-cloud-storage leaves the connection of a refused download to the garbage collector.
REFUSED_DOWNLOADS = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
)


DOWNLOADS = "/download/storage/*"


@pytest.fixture
def collected() -> Iterator[None]:
    """What was left to the collector is collected in this test and not in another."""
    yield
    gc.collect()


@REFUSED_DOWNLOADS
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("where", [LISTING, DOWNLOADS])
async def test_trouble_that_passes_is_waited_out(nights: Nights, where: str) -> None:
    run = await nights.night(1, uploaded=False, mirrored=True)
    nights.sim.fault("status", path=where, status=503)
    assert (await nights.pin()).run_id == run.id


@REFUSED_DOWNLOADS
@pytest.mark.usefixtures("collected")
async def test_an_object_that_vanished_since_it_was_listed_is_passed_over(nights: Nights) -> None:
    older = await nights.night(2, uploaded=False, mirrored=True)
    await nights.night(1, uploaded=False, mirrored=True)
    nights.sim.fault("status", path=DOWNLOADS, status=404)
    assert (await nights.pin()).run_id == older.id


@REFUSED_DOWNLOADS
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("where", [LISTING, DOWNLOADS])
async def test_trouble_that_lasts_is_said_to_be_passing(nights: Nights, where: str) -> None:
    """No older report takes the place of one that may be there, before that was waited for."""
    await nights.night(2, mirrored=True)
    assert (await nights.mirrored()) is not None
    await nights.night(1, uploaded=False, mirrored=True)
    nights.sim.fault("status", path=where, status=503, times=None)
    nights.archive = replace(nights.archive, patience=0.3)
    found = await nights.located()
    assert isinstance(found, Missing)
    assert found.passing
    assert "left no artifact" in found.reason
    assert "The GCS mirror of the reports did not answer" in found.reason
    assert "The GCS mirror of the reports did not answer" in await nights.missing(patient=False)


@pytest.mark.parametrize(
    ("status", "said"),
    # To 401 the library answers by renewing its credentials, of which it has none here.
    [(403, "refused perf-gate's access (HTTP 403)"), (401, "cannot be read with the Google credentials")],
)
async def test_a_bucket_that_refuses_is_said_at_once(nights: Nights, status: int, said: str) -> None:
    await nights.night(1, uploaded=False)
    nights.sim.fault("status", path=LISTING, status=status, message="{}", times=None)
    found = await nights.located()
    assert isinstance(found, Missing)
    assert not found.passing
    assert said in found.reason


async def test_a_bucket_that_does_not_exist(nights: Nights) -> None:
    await nights.night(1, uploaded=False)
    nights.archive = replace(nights.archive, mirror="gs://nobodys/folder")
    assert "The GCS mirror of the reports is not there (HTTP 404)." in await nights.missing()


async def test_an_origin_that_nobody_listens_on(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    await nights.night(1, uploaded=False)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")
    nights.archive = replace(nights.archive, patience=0.3)
    assert "The GCS mirror of the reports did not answer" in await nights.missing()


async def test_github_that_lost_the_artifact_for_long_gives_way_to_the_mirror(nights: Nights) -> None:
    run = await nights.night(1, mirrored=True)
    nights.sim.fault("status", path=f"/repos/{NAME}/actions/artifacts/*", status=502, times=None)
    runs, mirrored = await scheduled_runs(nights.gh, nights.tier), await nights.mirrored()
    with pytest.raises(Fault):
        await locate(nights.gh, nights.tier, runs, mirrored, NOW)
    found = await locate(nights.gh, nights.tier, runs, mirrored, NOW, patient=False)
    assert isinstance(found, Located)
    assert (found.pin.run_id, found.pin.source) == (run.id, "mirror")
    assert "could not be read" in found.pin.source_reason
