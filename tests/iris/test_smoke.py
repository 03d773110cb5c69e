"""`perf-gate doctor --smoke` on the real cluster, and which link it names where one does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli.checks.model import Found, Surroundings
from bot.cli.smoke import payload
from bot.cli.smoke.links import Smoke
from bot.config.settings import Settings
from bot.engine.clock import SystemClock
from bot.github.adapter import GitHub
from bot.iris.adapter import Iris
from demo.cluster import LocalCluster
from tests.conversations.world import key_pair
from tests.iris.clusters import cluster_settings, now, open_cage

PATIENCE = timedelta(seconds=90)


async def smoke(cluster: LocalCluster, home: Path, within: timedelta = PATIENCE, **changes: object) -> list[Found]:
    """Every line that is told."""
    iris_settings = cluster_settings(cluster, home, **changes)
    settings = Settings(
        app_id=1,
        private_key=key_pair()[0],
        webhook_secret="a webhook secret",
        repositories=frozenset({"marin-community/marin"}),
        state_dir=home / "state",
        iris_command=iris_settings.command,
        iris_controller_url=cluster.url,
        status_prefix=iris_settings.status_prefix,
    )
    told: list[Found] = []
    key = settings.private_key.get_secret_value()
    async with (
        GitHub.open("http://127.0.0.1:9", "1", key, now) as github,
        Iris.open(iris_settings, now, open_cage) as iris,
    ):
        held = await Smoke(Surroundings(settings, github, iris, now), SystemClock(), within, told.append).run()
    assert held == all(found.state == "ok" for found in told)
    return told


async def test_every_link_holds_on_a_real_cluster(iris_cluster: LocalCluster, scratch_home: Path) -> None:
    told = await smoke(iris_cluster, scratch_home)
    assert [found.said.partition(":")[0] for found in told] == [
        "submission",
        "scheduling",
        "the launcher's log",
        "the child's submission",
        "the child's log",
        "the end",
        "the status file",
    ], told


@pytest.mark.parametrize(
    ("link", "broken"),
    [
        ("the child's submission", {"submit(child": "submit_nowhere(child"}),
        ("the child's log", {f"print('{payload.CHILD_SAYS}', flush=True)": "pass"}),
        ("the end", {"path, status =": "sys.exit(3)\npath, status ="}),
        ("the status file", {"file.write(status)": "file.write('')"}),
    ],
)
async def test_a_broken_link_is_named(
    iris_cluster: LocalCluster,
    scratch_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    link: str,
    broken: Mapping[str, str],
) -> None:
    launcher = payload.LAUNCHER
    for was, becomes in broken.items():
        assert was in launcher
        launcher = launcher.replace(was, becomes)
    monkeypatch.setattr(payload, "LAUNCHER", launcher)
    last = (await smoke(iris_cluster, scratch_home, timedelta(seconds=15)))[-1]
    assert last.state == "wrong"
    assert last.said.startswith(f"broken link: {link}: "), last
    assert last.fix


async def test_a_cluster_that_takes_no_job_breaks_the_first_link(
    iris_cluster: LocalCluster, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = await smoke(iris_cluster, scratch_home, command=Path("/usr/bin/false"))
    assert [found.state for found in told] == ["wrong"]
    assert told[0].said.startswith("broken link: submission: ")
