"""`perf-gate doctor` where GitHub and Iris are there, are not, or say something else than the configuration."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli import checks, doctor, main
from bot.cli.checks.model import Check, Found, Surroundings, ok
from bot.cli.doctor import Line, examine
from bot.faults import Fault
from tests.conversations.iris_rows import machine
from tests.conversations.world import CONFIG, REPOSITORY, World, world

GOLDEN = Path(__file__).parent / "golden"
WORKFLOW = ".github/workflows/marin-canary-datakit-tier1.yaml"
TIER1 = (Path(__file__).parent.parent / "parity" / "files" / "tier1.yaml").read_text("utf-8")


async def look(w: World, *asked: Check) -> list[Line]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doctor, "CLOCK", w.clock)
        return await examine(w.app.rooms.settings, asked or checks.CLUSTER, lambda line: None)


def golden(name: str, w: World, lines: list[Line]) -> None:
    told = [f"{found.state:<8} {name}: {found.said} → {found.fix}" for name, found in lines]
    text = re.sub(r"http://127\.0\.0\.1:\d+", "http://iris", "\n".join(told) + "\n")
    text = re.sub(r"at [0-9a-f]{10}\b", "at <sha>", text)
    text = re.sub(r"(?<=it holds: ).*", "<as whom> →", text)  # that is the machine's affair
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


async def workflow(w: World, text: str) -> None:
    """Main has this tier-1 workflow, and its scheduled run ran it."""
    await w.sim.commit(w.repository, "main", {WORKFLOW: text})
    await w.scheduled_run()


async def test_a_sound_deployment(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await workflow(w, TIER1.replace('            -e WANDB_ENTITY "$WANDB_ENTITY" \\\n', ""))
        w.iris.machines = [machine("cpu-small", zone="us-central1-a")]
        golden("doctor_sound", w, await look(w))


async def test_a_workflow_of_another_shape_is_wrong_line_by_line(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await workflow(w, TIER1.replace("--memory=2G --disk=4G", "--memory=4G --region=us-west4"))
        lines = await look(w)
        golden("doctor_parity", w, lines)
        assert sum(found.state == "wrong" for _, found in lines) == 3


async def test_what_cannot_be_asked_is_unknown_and_the_rest_is_told(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        w.iris.silent = True
        golden("doctor_iris_down", w, await look(w))


async def test_a_check_that_fails_or_hangs_stops_no_other(tmp_path: Path) -> None:
    async def fails(around: Surroundings) -> list[Found]:
        raise Fault("it is Sunday")

    async def has_no_disk(around: Surroundings) -> list[Found]:
        raise OSError(28, "No space left on device", "/state/scene")

    async def hangs(around: Surroundings) -> list[Found]:
        await asyncio.Event().wait()
        return []

    async def fine(around: Surroundings) -> list[Found]:
        return [ok(f"{REPOSITORY} is served")]

    async with world(tmp_path) as w:
        asked = (
            Check("fails", fails),
            Check("full", has_no_disk),
            Check("hangs", hangs, seconds=0.01),
            Check("fine", fine),
        )
        assert [(name, found.state) for name, found in await look(w, *asked)] == [
            ("fails", "unknown"),
            ("full", "unknown"),
            ("hangs", "unknown"),
            ("fine", "ok"),
        ]


async def test_the_command_exits_1_where_something_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as w:
        settings = w.app.rooms.settings
        for name, value in {
            "APP_ID": str(settings.app_id),
            "PRIVATE_KEY": settings.private_key.get_secret_value(),
            "WEBHOOK_SECRET": settings.webhook_secret.get_secret_value(),
            "REPOSITORIES": REPOSITORY,
            "STATE_DIR": str(settings.state_dir),
            "GITHUB_API_URL": settings.github_api_url,
            "GITHUB_URL": settings.github_url,
            "IRIS_COMMAND": str(settings.iris_command),
            "IRIS_CONTROLLER_URL": w.iris.url,
            "STATUS_PREFIX": settings.status_prefix,
        }.items():
            monkeypatch.setenv(f"PERF_GATE_{name}", value)

        monkeypatch.setattr(doctor, "CLOCK", w.clock)

        async def run(*words: str) -> Result:
            return await asyncio.to_thread(CliRunner().invoke, main, ["doctor", *words])

        sound = await run()
        assert sound.exit_code == 0, sound.output
        assert "\nok       Iris controller: the controller at http://" in sound.output
        w.iris.silent = True
        broken = await run("--json")
        assert broken.exit_code == 1, broken.output
        assert '"state": "wrong"' in broken.output
