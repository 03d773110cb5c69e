"""Faults are planted in a sound deployment, one at a time: doctor finds each, names its fix, blames nothing else."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import SecretStr

from bot.cli import checks, doctor
from bot.cli.checks import preflight
from bot.cli.doctor import Line, examine
from bot.config.environment import unknown_variables
from bot.config.settings import Settings
from bot.engine.port import Clock
from bot.github import manifest
from tests.cli.test_doctor import TIER1, WORKFLOW, workflow
from tests.conversations.iris_rows import machine
from tests.conversations.world import CONFIG, REPOSITORY, World, world
from tests.engine.clock import ManualClock
from tests.github.keys import damaged

SHAPE = TIER1.replace('            -e WANDB_ENTITY "$WANDB_ENTITY" \\\n', "")


@dataclass
class Deployment:
    """What a fault may change before doctor looks."""

    w: World
    settings: Settings
    clock: Clock
    patch: pytest.MonkeyPatch
    scratch: Path

    def set(self, **settings: Any) -> None:
        self.settings = self.settings.model_copy(update=settings)

    async def look(self) -> list[Line]:
        self.patch.setattr(doctor, "CLOCK", self.clock)
        return await examine(self.settings, checks.ALL, lambda line: None)


async def another_apps_id(d: Deployment) -> None:
    d.set(app_id=d.settings.app_id + 1)


async def a_key_that_is_damaged(d: Deployment) -> None:
    d.set(private_key=SecretStr(damaged(d.settings.private_key.get_secret_value())))


async def a_permission_too_few(d: Deployment) -> None:
    d.w.sim.world.apps[d.settings.app_id].permissions["issues"] = "read"


async def permissions_not_accepted(d: Deployment) -> None:
    (installation,) = d.w.sim.world.installations.values()
    installation.permissions = {**installation.permissions, "issues": "read"}


async def another_webhook_secret(d: Deployment) -> None:
    d.w.sim.world.apps[d.settings.app_id].webhook_secret = "rotated on one side only"
    await d.w.says("rev", "fine work")


async def a_webhook_that_leads_elsewhere(d: Deployment) -> None:
    d.w.sim.world.apps[d.settings.app_id].webhook_url = f"{d.w.sim.web_url}/webhook"


async def a_webhook_with_another_path(d: Deployment) -> None:
    d.w.sim.world.apps[d.settings.app_id].webhook_url = str(d.w.door.make_url("/hook?secret=1"))


async def a_webhook_that_sends_forms(d: Deployment) -> None:
    d.w.sim.world.apps[d.settings.app_id].content_type = "form"


async def no_webhook(d: Deployment) -> None:
    d.w.sim.world.apps[d.settings.app_id].webhook_url = None


async def a_store_that_refuses(d: Deployment) -> None:
    """The disk was full when the last delivery came."""
    d.w.sim.deliveries.log[-1].status_code = 503


async def a_clock_that_is_ahead(d: Deployment) -> None:
    d.clock = ManualClock(d.w.clock.now() + timedelta(seconds=45))


async def a_bucket_that_is_not_there(d: Deployment) -> None:
    d.patch.setenv("STORAGE_EMULATOR_HOST", d.w.sim.storage_url)
    d.set(status_prefix="gs://nobody-made-this/status")


async def a_silent_controller(d: Deployment) -> None:
    d.w.iris.silent = True


async def a_broken_configuration(d: Deployment) -> None:
    await d.w.sim.commit(d.w.repository, "main", {".github/perf-gate.toml": f"{CONFIG}\n[gates.1.flags]\nmemroy = 3\n"})


async def no_bubblewrap(d: Deployment) -> None:
    def link() -> None:
        for tool in Path("/usr/bin").iterdir():
            if tool.name != "bwrap":
                (d.scratch / tool.name).symlink_to(tool)

    d.scratch.mkdir()
    await asyncio.to_thread(link)
    d.patch.setenv("PATH", str(d.scratch))


class Usage(NamedTuple):
    total: int
    used: int
    free: int


async def a_full_disk(d: Deployment) -> None:
    d.patch.setattr(shutil, "disk_usage", lambda path: Usage(10 * 2**30, 9 * 2**30, 2**30))


async def a_damaged_database(d: Deployment) -> None:
    def restore() -> None:
        d.scratch.mkdir()
        (d.scratch / "perf-gate.db").write_bytes(b"this is no database" * 1000)

    await asyncio.to_thread(restore)
    d.set(state_dir=d.scratch)


async def another_shape_of_the_tier(d: Deployment) -> None:
    text = SHAPE.replace("--memory=2G", "--memory=4G")
    await d.w.sim.commit(d.w.repository, "main", {WORKFLOW: text})
    await d.w.scheduled_run()


async def nowhere_installed(d: Deployment) -> None:
    (installation,) = list(d.w.sim.world.installations)
    await d.w.sim.uninstall(installation)


async def a_misspelt_setting(d: Deployment) -> None:
    d.patch.setenv("PERF_GATE_REPOSITORYS", REPOSITORY)


async def an_address_that_leads_elsewhere(d: Deployment) -> None:
    d.set(public_url=f"{d.w.sim.web_url}/elsewhere")


async def a_tool_that_the_sandbox_lacks(d: Deployment) -> None:
    lacks = CONFIG.replace('run = ["', 'run = ["no-such-tool", "', 1)
    assert lacks != CONFIG
    await d.w.sim.commit(d.w.repository, "main", {".github/perf-gate.toml": lacks})


async def another_cluster_that_is_gone(d: Deployment) -> None:
    d.set(iris_clusters=(("spare", "http://127.0.0.1:1"),))


async def no_such_cache(d: Deployment) -> None:
    d.set(package_cache=d.scratch)


async def github_out_of_reach(d: Deployment) -> None:
    d.set(github_api_url="http://127.0.0.1:1")


Plant = Callable[[Deployment], Awaitable[None]]
# Fault → the check that finds it, what it says, and the fix.
FAULTS: dict[Plant, tuple[str, str, str]] = {
    another_apps_id: ("GitHub App", "refuses the credentials", "set PERF_GATE_APP_ID and PERF_GATE_PRIVATE_KEY"),
    a_key_that_is_damaged: ("settings", r"key \(PERF_GATE_PRIVATE_KEY\) is damaged", "mend the setting that is named"),
    a_permission_too_few: ("GitHub App", "permission issues: write is wanted, the App has read", "accept it as owner"),
    permissions_not_accepted: (
        "installation",
        "permission issues: write is wanted",
        "accept the App's new permissions",
    ),
    nowhere_installed: (
        "installation",
        f"{REPOSITORY}: the App is not installed there",
        r"install it: http.*/apps/.*/installations/new",
    ),
    another_webhook_secret: ("webhook", r"last delivery \(issue_comment, .*\) got status 401", "WEBHOOK_SECRET"),
    a_webhook_that_leads_elsewhere: (
        "webhook URL",
        "answers 404, and is not perf-gate's door",
        "lead to .*settings/apps/",
    ),
    a_webhook_with_another_path: ("webhook URL", "/hook, does not end in /webhook", "let it end so: .*settings/apps/"),
    a_webhook_that_sends_forms: ("webhook URL", r"as form, and each is refused \(415\)", "choose application/json"),
    no_webhook: ("webhook URL", "so it hears nothing", "activate it"),
    a_store_that_refuses: ("webhook", "got status 503", "could not store it: its log says why"),
    a_clock_that_is_ahead: ("clock", "this machine is 4[45] s ahead of GitHub", "timedatectl set-ntp true"),
    a_bucket_that_is_not_there: ("storage", "there is no bucket nobody-made-this", "set PERF_GATE_STATUS_PREFIX"),
    a_silent_controller: ("Iris controller", "does not answer", "set PERF_GATE_IRIS_CONTROLLER_URL"),
    a_broken_configuration: ("configuration", "memroy", "mend it on main; perf-gate config check tells where"),
    no_bubblewrap: ("sandbox", "it does not hold: bubblewrap is not installed", "docs/sandbox.md says what it needs"),
    a_misspelt_setting: (
        "settings",
        "no such setting.*did you mean PERF_GATE_REPOSITORIES",
        "spell it so, or unset it",
    ),
    an_address_that_leads_elsewhere: ("pages", "/healthz answers 404, and is not perf-gate", "lead to .* of perf-gate"),
    a_tool_that_the_sandbox_lacks: ("preflight", "`no-such-tool` is not among", "folder that PERF_GATE_SANDBOX_TOOLS"),
    another_cluster_that_is_gone: (
        "Iris controller",
        "of spare does not answer",
        "PERF_GATE_IRIS_CLUSTERS says of spare",
    ),
    no_such_cache: ("programs", "there is no folder .*scratch", "unset PERF_GATE_PACKAGE_CACHE"),
    github_out_of_reach: ("GitHub App", "http://127.0.0.1:1: GitHub could not be reached", "let this machine reach it"),
    a_full_disk: ("disk", "1.0 GiB are free", "make room, extend the volume"),
    a_damaged_database: ("database", "not a database", "restore a backup"),
    another_shape_of_the_tier: ("tier parity", "memory: the tier's workflow has `4G`", r"make \[gates.1\] of"),
}
# A broken configuration cannot be compared with the workflow either, and no cage is set up beside a missing folder.
ALSO_SAYS: dict[Plant, set[str]] = {a_broken_configuration: {"tier parity"}, no_such_cache: {"sandbox"}}


def unknown_names() -> list[str]:
    """What the tests themselves are told, which is no setting."""
    return [said.partition(":")[0] for said in unknown_variables()]


async def deployed(w: World, patch: pytest.MonkeyPatch, tmp_path: Path) -> Deployment:
    app = w.sim.world.apps[w.app.rooms.settings.app_id]
    app.events = tuple(sorted(manifest.events()))
    await workflow(w, SHAPE)
    w.iris.machines = [machine("cpu-small", zone="us-central1-a")]
    for name in unknown_names():
        patch.delenv(name)
    served = w.app.rooms.settings.model_copy(update={"public_url": str(w.door.make_url("")).rstrip("/")})
    return Deployment(w, served, w.clock, patch, tmp_path / "scratch")


async def test_a_sound_deployment_has_nothing_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as w:
        lines = await (await deployed(w, monkeypatch, tmp_path)).look()
        assert [line for line in lines if line[1].state == "wrong"] == []
        assert {name for name, found in lines if found.state == "ok"} >= {check.name for check in checks.DEPLOYMENT}


async def test_what_may_make_tests_red_without_a_fault_of_theirs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installing = CONFIG.replace('run = ["', 'run = ["uv", "run", "', 1)
    async with world(tmp_path, config=installing) as w:
        d = await deployed(w, monkeypatch, tmp_path)
        tools = tmp_path / "tools"
        (tools / "bin").mkdir(parents=True)
        (tools / "bin" / "uv").symlink_to("/usr/bin/true")
        d.set(sandbox_tools=(tools,))
        monkeypatch.setattr(preflight, "memory_bytes", lambda: 2 * 2**30)
        told = {found.said: found.fix for name, found in await d.look() if name == "preflight"}
    installs, memory, fine = told
    assert "its commands can install nothing" in installs
    assert "set PERF_GATE_PACKAGE_INDEX" in told[installs]
    assert re.search(r"a command may take \d+ MB, and this machine has 2048", memory)
    assert "take a larger machine" in told[memory]
    assert "uv can be run in the sandbox" in fine


async def test_a_github_that_does_not_tell_of_webhooks_proves_nothing_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as w:
        d = await deployed(w, monkeypatch, tmp_path)
        w.sim.fault("status", method="GET", path="/app/hook/config", status=404, message="Not Found")
        (told,) = [found for name, found in await d.look() if name == "webhook URL"]
    assert (told.state, told.said) == ("unknown", "GitHub does not say where the App's webhooks go")


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
async def test_a_planted_fault_is_found_and_its_fix_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    check, said, fix = FAULTS[plant]
    async with world(tmp_path) as w:
        d = await deployed(w, monkeypatch, tmp_path)
        await plant(d)
        lines = await d.look()
        monkeypatch.undo()
        wrong = [(name, found) for name, found in lines if found.state == "wrong"]
        assert {name for name, _ in wrong} == {check} | ALSO_SAYS.get(plant, set())
        (found, *_) = [found for name, found in wrong if name == check]
        assert re.search(said, found.said), found
        assert re.search(fix, found.fix), found
