"""What Dockerfile and fly.toml promise: their steps in a clean tree and environment, their commands, their times."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.app import open_app
from bot.cli import COMMANDS
from bot.config.load import builtin_config
from bot.config.settings import PREFIX, Settings
from bot.engine.port import CannotStart
from bot.engine.shell import DEFAULT_GRACE
from bot.github.manifest import manifest
from tests.conversations.world import world
from tests.engine import postgres_server

ROOT = Path(__file__).parent.parent
FLY: dict[str, Any] = tomllib.loads((ROOT / "fly.toml").read_text("utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
# What the platform needs beyond our own grace: closing the door, handing effects back, ending the process.
SLACK = timedelta(seconds=10)


def instructions(name: str) -> Iterator[str]:
    """Each instruction of this kind, its continuation lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    yield from re.findall(rf"^{name} (.+)$", joined, re.MULTILINE)


def test_fly_mounts_the_state_and_routes_to_the_port_that_serve_listens_on() -> None:
    environment, service = FLY["env"], FLY["http_service"]
    known = {f"{PREFIX}{field.upper()}" for field in Settings.model_fields}
    assert environment.keys() <= known
    (mount,) = FLY["mounts"]
    assert mount["destination"] == environment["PERF_GATE_STATE_DIR"]
    assert str(service["internal_port"]) == environment["PERF_GATE_PORT"]
    # Without it no comment and no check run leads to the pages; app.yml sends the deliveries to the same host.
    assert environment["PERF_GATE_PUBLIC_URL"] == f"https://{FLY['app']}.fly.dev"
    assert manifest()["hook_attributes"]["url"] == f"{environment['PERF_GATE_PUBLIC_URL']}/webhook"
    assert environment["PERF_GATE_HOST"] == "0.0.0.0"  # noqa: S104 — inside the machine, behind fly's proxy
    assert service["auto_stop_machines"] == "off"
    assert service["min_machines_running"] == 1
    assert FLY["build"]["dockerfile"] == "Dockerfile"


def test_the_image_has_for_the_preflight_what_its_commands_name() -> None:
    """The built-in ladder's commands start with uv, or with a script of the commit that starts it."""
    (environment,) = instructions("ENV")
    tools = dict(word.split("=", 1) for word in environment.split())["PERF_GATE_SANDBOX_TOOLS"]
    programs = {command.run[0] for command in builtin_config().preflight.commands if "/" not in command.run[0]}
    assert programs == {"uv"}
    assert any(f"install -D --mode 0755 .venv/bin/uv {tools}/bin/uv" in step for step in instructions("RUN"))
    assert FLY["env"]["PERF_GATE_PACKAGE_INDEX"].startswith("https://")


async def test_the_paths_that_fly_checks_answer(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        served = {resource.canonical for resource in w.app.web.router.resources()}
        checked = {check["path"] for check in FLY["http_service"]["checks"]} | {FLY["checks"]["ready"]["path"]}
        assert checked == {"/healthz", "/readyz"}
        assert checked <= served


def test_a_stop_is_over_before_the_platform_kills() -> None:
    assert FLY["kill_signal"] == "SIGTERM"
    assert timedelta(seconds=int(FLY["kill_timeout"].removesuffix("s"))) >= DEFAULT_GRACE + SLACK


def test_the_image_runs_unprivileged_what_exists() -> None:
    (command,) = instructions("CMD")
    program, word = re.findall(r'"([^"]+)"', command)
    assert (program, word in COMMANDS) == ("perf-gate", True)
    assert DOCKERFILE.index("USER gate") < DOCKERFILE.index("CMD")
    (packages, *_) = instructions("RUN")
    for wanted in ("bubblewrap", "git", "ca-certificates"):
        assert wanted in packages.split()
    assert "--constraint constraints.txt" in DOCKERFILE
    (base,) = instructions("FROM")
    assert re.fullmatch(r"debian:12-slim@sha256:[0-9a-f]{64}", base)
    constraints = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert all("==" in line for line in constraints if line.strip())
    assert any(line.startswith("uv==") for line in constraints)


def test_what_the_image_copies_installs_and_answers_in_a_clean_environment(tmp_path: Path) -> None:
    tree, site = tmp_path / "tree", tmp_path / "site"
    for copied in instructions("COPY"):
        *sources, target = shlex.split(copied)
        for source in sources:
            _copy(ROOT / source, tree / target, whole=len(sources) > 1 or target.endswith("/"))
    clean = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)}
    # Where packages come from is the machine's affair, as it is the image builder's.
    where = {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "PYTHON"))}
    install = [str(Path(sys.executable).parent / "uv"), "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
    subprocess.run([*install, str(tree)], env=where, cwd=tmp_path, check=True)

    def perf_gate(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-c", "from bot.cli import main; main()", *words]
        environment = clean | {"PYTHONPATH": str(site)} | more
        return subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    for command in COMMANDS:
        helped = perf_gate(command, "--help")
        assert helped.returncode == 0, helped.stderr
    # The files that travel inside the package: the App's manifest and the built-in ladder.
    assert "pull requests: write" in perf_gate("setup", "--by-hand").stdout
    (tmp_path / "perf-gate.toml").write_text("ladder = [1]\n")
    assert "fine. Ladder: 1 (smoke)." in perf_gate("config", "check", "perf-gate.toml").stdout
    missing = perf_gate("serve", PERF_GATE_STATE_DIR=str(tmp_path))
    assert missing.returncode == 2
    assert "PERF_GATE_APP_ID: missing" in missing.stderr


def _copy(source: Path, target: Path, *, whole: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        return
    target.mkdir(parents=True, exist_ok=True) if whole else target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


async def test_two_processes_that_share_a_database_need_a_folder_each(tmp_path: Path) -> None:
    address = postgres_server.empty(tmp_path)
    try:
        async with world(tmp_path, database_url=address) as w:
            settings = w.app.rooms.settings
            with pytest.raises(
                CannotStart, match=rf"in use by process {os.getpid()}; .*PERF_GATE_STATE_DIR of its own"
            ):
                await open_app(settings, w.clock).__aenter__()
            async with open_app(settings.model_copy(update={"state_dir": tmp_path / "second"}), w.clock) as second:
                assert await second.engine.read("1/1") is None
    finally:
        postgres_server.drop(tmp_path)
