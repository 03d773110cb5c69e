"""The latest scheduled run becomes the baseline, or a sentence says why there is none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from aiohttp import web

from bot.baseline.locate import locate
from bot.baseline.model import BaselinePin, Located, Missing, Tier
from bot.baseline.scheduled import scheduled_runs
from bot.config.schema import Gate
from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.names import RepoRef
from tests.baseline.zips import zipped
from tests.github.conftest import REPO
from tests.github.service import Service, raw, reply

SHA = "c" * 40
NOW = datetime(2026, 8, 3, 9, tzinfo=UTC)
REPORT = json.dumps({"status": "succeeded", "wall_seconds_total": 12.5, "commit_sha": SHA})
RUN_URL = "https://github.test/acme/widgets/actions/runs/12"
RUN: dict[str, Any] = {
    "id": 12,
    "head_sha": SHA,
    "created_at": "2026-08-03T06:30:00Z",
    "html_url": RUN_URL,
    "event": "schedule",
    "head_branch": "main",
    "conclusion": "success",
    "repository": {"id": 99, "full_name": "acme/widgets"},
    "head_repository": {"id": 99, "full_name": "acme/widgets"},
}
GATE = Gate(
    name="smoke",
    workflow="tier1.yaml",
    artifact="tier1-report",
    ferry_module="ferries.tier1",
    schedule_period=timedelta(days=1),
    wall_time=timedelta(hours=1),
    first_check=timedelta(minutes=3),
    check_every=timedelta(minutes=10),
    stall_limit=timedelta(minutes=30),
)


async def find(gh: GitHub, repo: RepoRef = REPO, now: datetime = NOW) -> Located | Missing:
    """The baseline of tier 1 where no mirror is set up."""
    tier = Tier(repo, 1, GATE, "main")
    return await locate(gh, tier, await scheduled_runs(gh, tier), None, now)


def artifact(number: int = 3, name: str = "tier1-report", expired: bool = False) -> dict[str, Any]:
    return {"id": number, "name": name, "expired": expired, "size_in_bytes": 100}


@dataclass
class Night:
    """What the schedule left on GitHub, and the store where its artifact lies."""

    service: Service
    store: Service
    run: dict[str, Any] | None = field(default_factory=lambda: dict(RUN))
    artifacts: list[dict[str, Any]] = field(default_factory=lambda: [artifact()])
    archive: bytes = zipped({"perf_report.json": REPORT.encode()})
    gone: bool = False

    async def located(self, gh: GitHub) -> Located | Missing:
        runs = [] if self.run is None else [self.run]
        root = "/repos/acme/widgets/actions"
        self.service.on("GET", f"{root}/workflows/tier1.yaml/runs", reply({"total_count": 1, "workflow_runs": runs}))
        listing = {"total_count": len(self.artifacts), "artifacts": self.artifacts}
        self.service.on("GET", f"{root}/runs/12/artifacts", reply(listing))
        signed = reply(None, 302, {"location": f"{self.store.url}/zip?sig=x"})
        expired = reply({"message": "Artifact has expired"}, 410)
        for one in self.artifacts:
            self.service.on("GET", f"{root}/artifacts/{one['id']}/zip", expired if self.gone else signed)
        self.store.on("GET", "/zip", raw(self.archive, "application/zip"))
        return await find(gh)

    async def missing(self, gh: GitHub) -> str:
        result = await self.located(gh)
        assert isinstance(result, Missing)
        return result.reason


@pytest.fixture
async def night(service: Service) -> AsyncIterator[Night]:
    store = Service()
    await store.start()
    yield Night(service, store)
    await store.stop()


async def test_baseline_is_downloaded_checked_and_pinned(gh: GitHub, night: Night) -> None:
    created = datetime(2026, 8, 3, 6, 30, tzinfo=UTC)
    pin = BaselinePin(run_id=12, run_url=RUN_URL, sha=SHA, created_at=created, artifact_id=3, report=REPORT)
    assert await night.located(gh) == Located(pin)
    assert msgspec.json.decode(msgspec.json.encode(pin), type=BaselinePin) == pin


async def test_rerun_attempt_uploaded_again_and_the_latest_counts(gh: GitHub, night: Night) -> None:
    night.artifacts = [artifact(3), artifact(9), artifact(11, expired=True), artifact(20, name="logs")]
    result = await night.located(gh)
    assert isinstance(result, Located)
    assert result.pin.artifact_id == 9


async def test_report_that_does_not_name_its_commit_is_taken(gh: GitHub, night: Night) -> None:
    night.archive = zipped({"r.json": b'{"status": "succeeded"}'})
    assert isinstance(await night.located(gh), Located)


async def test_no_scheduled_run(gh: GitHub, night: Night) -> None:
    night.run = None
    assert await night.missing(gh) == "`tier1.yaml` has no successful scheduled run on `main`."


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"event": "workflow_dispatch"}, "was not started by the schedule"),
        ({"conclusion": "failure"}, "was not successful"),
        ({"head_branch": "faster"}, "did not run on `main`"),
        ({"head_repository": {"id": 5, "full_name": "bob/widgets"}}, "ran the code of another repository"),
    ],
)
async def test_run_that_is_no_baseline(gh: GitHub, night: Night, change: dict[str, Any], why: str) -> None:
    night.run = RUN | change
    assert await night.missing(gh) == f"The scheduled run 12 of `tier1.yaml` {why}, so it is no baseline."


async def test_run_without_the_artifact(gh: GitHub, night: Night) -> None:
    night.artifacts = [artifact(name="tier1-logs")]
    assert await night.missing(gh) == "The scheduled run 12 of `tier1.yaml` left no artifact `tier1-report`."


@pytest.mark.parametrize("only_at_download", [False, True])
async def test_expired_artifact(gh: GitHub, night: Night, only_at_download: bool) -> None:
    night.run = RUN | {"created_at": "2026-05-01T06:30:00Z"}
    night.artifacts = [artifact(expired=not only_at_download)]
    night.gone = only_at_download
    run = "scheduled run 12, 94 days old,"
    assert await night.missing(gh) == f"The artifact `tier1-report` of {run} has expired or was deleted."


async def test_artifact_that_is_no_zip(gh: GitHub, night: Night) -> None:
    night.archive = b"PK?"
    assert "is not a sound zip file" in await night.missing(gh)


async def test_artifact_that_is_far_too_large(gh: GitHub, night: Night) -> None:
    night.archive = b"\0" * (3 * 1024 * 1024)
    assert "is larger than" in await night.missing(gh)


async def test_bad_report_is_named_by_its_field(gh: GitHub, night: Night) -> None:
    night.archive = zipped({"r.json": json.dumps({"wall_seconds_total": "`@team` 1"}).encode()})
    reason = await night.missing(gh)
    assert reason.startswith("The perf report of scheduled run 12 cannot be used: `wall_seconds_total ")
    assert reason.count("`") == 2


async def test_report_of_another_commit_names_both(gh: GitHub, night: Night) -> None:
    night.archive = zipped({"r.json": json.dumps({"commit_sha": "d" * 40}).encode()})
    reason = await night.missing(gh)
    assert f"`{'d' * 12}`" in reason
    assert f"`{'c' * 12}`" in reason


async def test_commit_may_be_written_in_capitals(gh: GitHub, night: Night) -> None:
    night.archive = zipped({"r.json": json.dumps({"commit_sha": SHA.upper()}).encode()})
    assert isinstance(await night.located(gh), Located)


async def test_github_in_trouble_is_a_fault_and_not_a_missing_baseline(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/actions/workflows/tier1.yaml/runs", lambda _seen: web.Response(status=503))
    with pytest.raises(Fault) as caught:
        await find(gh)
    assert caught.value.retryable
