"""A tier of a simulated repository: nights on which its workflow ran, what they uploaded, and what lies in the bucket.

The bot's side is real: its GitHub adapter, and google-cloud-storage, both over HTTP.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from msgspec.structs import replace

from bot.baseline.history import past_runs
from bot.baseline.locate import locate
from bot.baseline.mirror import Mirrored, read_mirror
from bot.baseline.model import Archive, BaselinePin, Located, Missing, Tier
from bot.baseline.scheduled import scheduled_runs
from bot.github.adapter import GitHub
from bot.github.names import RepoRef
from bot.verdict.past import PastRun
from simulator import Simulator
from simulator.clock import MovableClock
from simulator.state import WorkflowRun
from tests.baseline.test_locate import GATE
from tests.baseline.zips import zipped

NAME = "acme/widgets"
NOW = datetime(2026, 8, 3, 9, tzinfo=UTC)
BUCKET = "marin-us-central1"
FOLDER = "infra/datakit/ferry_perf"
MIRROR = f"gs://{BUCKET}/{FOLDER}"
LISTING = f"/storage/v1/b/{BUCKET}/o"
"""Where the bucket's objects are listed."""


@dataclass
class Nights:
    sim: Simulator
    gh: GitHub
    tier: Tier
    archive: Archive
    sha: str

    def report(self, run: WorkflowRun | None, **changes: Any) -> str:
        """As upstream's collector writes it: run ids are text there."""
        whose = {"workflow_run_id": str(run.id), "commit_sha": run.head_sha} if run else {}
        return json.dumps({"status": "succeeded", "wall_seconds_total": 100.0, **whose, **changes})

    async def night(
        self, days_ago: int, *, uploaded: bool = True, mirrored: bool = False, took: float = 100.0, **run: Any
    ) -> WorkflowRun:
        """A scheduled run; its report says that it took so many seconds."""
        made = await self.sim.workflow_run(NAME, GATE.workflow, created_at=NOW - timedelta(days=days_ago), **run)
        text = self.report(made, wall_seconds_total=took)
        if uploaded:
            made.artifacts += (await self._artifact(text)).artifacts
        if mirrored:
            self.mirror(text, made.created_at + timedelta(hours=1))
        return made

    async def _artifact(self, text: str) -> WorkflowRun:
        """A run of another workflow, whose artifact is taken over: ids are the simulator's to give."""
        zip_of = zipped({"perf-report.json": text.encode()})
        return await self.sim.workflow_run(NAME, "other.yaml", artifacts={GATE.artifact: zip_of}, created_at=NOW)

    def mirror(self, text: str | bytes, when: datetime, tier: int = 1, **how: Any) -> str:
        """An object as the collector names it; its name."""
        name = f"{FOLDER}/report_{when:%Y%m%dT%H%M%SZ}_tier{tier}/perf_report.json"
        self.sim.put_object(BUCKET, name, text, **how)
        return name

    # ---- what the bot does

    async def mirrored(self) -> Mirrored | None:
        return await read_mirror(self.archive, self.tier, await scheduled_runs(self.gh, self.tier), NOW)

    async def located(self, *, patient: bool = True) -> Located | Missing:
        runs = await scheduled_runs(self.gh, self.tier)
        return await locate(self.gh, self.tier, runs, await self.mirrored(), NOW, patient=patient)

    async def pin(self) -> BaselinePin:
        found = await self.located()
        assert isinstance(found, Located), found
        return found.pin

    async def missing(self, *, patient: bool = True) -> str:
        found = await self.located(patient=patient)
        assert isinstance(found, Missing), found
        return found.reason

    async def history(self) -> list[PastRun]:
        """As the effect reads it: runs, mirror and baseline once."""
        runs = await scheduled_runs(self.gh, self.tier)
        mirrored = await read_mirror(self.archive, self.tier, runs, NOW)
        found = await locate(self.gh, self.tier, runs, mirrored, NOW)
        assert isinstance(found, Located), found
        return list(await past_runs(self.gh, self.tier, runs, mirrored, found.pin, self.archive, NOW))

    def without_mirror(self) -> Nights:
        return dataclasses.replace(self, archive=replace(self.archive, mirror=None))

    def asked_storage(self) -> list[str]:
        """Names of the objects that were downloaded."""
        return [one.path for one in self.sim.requests() if one.origin == "storage" and one.path.startswith("/download")]

    def asked_github(self) -> int:
        return len([one for one in self.sim.requests() if one.origin in ("api", "artifacts")])


@asynccontextmanager
async def nights_of(tmp_path: Path, private_key_pem: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Nights]:
    clock = MovableClock(NOW)
    public = load_pem_private_key(private_key_pem.encode(), None).public_key()
    async with Simulator(clock=clock) as sim:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", sim.storage_url)
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        app = await sim.create_app(public_key=pem, webhook_secret="secret")
        repository = await sim.create_repository(NAME, files={".github/workflows/tier1.yaml": "on: schedule\n"})
        installation = await sim.install(app, repository)
        sha = await repository.git.resolve("refs/heads/main")
        assert sha is not None
        sim.create_bucket(BUCKET)

        async def at_once(seconds: float) -> None:
            clock.advance(timedelta(seconds=seconds))

        spacing = timedelta(0)
        async with GitHub.open(
            sim.api_url, str(app.id), private_key_pem, clock.now, write_spacing=spacing, wait=at_once
        ) as gh:
            tier = Tier(RepoRef(installation.id, NAME), 1, GATE, "main")
            yield Nights(sim, gh, tier, Archive(tmp_path / "reports", MIRROR, patience=5.0), sha)
        assert sim.violations == []
