"""The preflight as jobs on a real cluster: each command ends as itself, and what is no command's end is told apart."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.config.schema import IrisFlags
from bot.engine.clock import SystemClock
from bot.iris.adapter import Iris
from bot.iris.commands import CommandState
from bot.iris.controller import Absent, Found
from bot.iris.names import job_name
from bot.iris.submit import Refused, Submitted
from demo.cluster import LocalCluster
from tests.iris.clusters import cluster_settings, now, open_cage

SHAPE = IrisFlags(cpu="0.5", disk="1GB", memory="512MB", extra=("cpu",))
LONG = timedelta(minutes=5)


async def ended(iris: Iris, job_id: str) -> CommandState:
    clock = SystemClock()
    async with asyncio.timeout(120):
        while True:
            state = await iris.command_state(job_id)
            assert not isinstance(state, Absent)
            if state.over:
                return state
            await clock.wait(asyncio.Event(), clock.now() + timedelta(seconds=0.5))


async def test_commands_of_a_preflight_run_as_jobs(
    iris_cluster: LocalCluster, tmp_path: Path, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "canary")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "check.py").write_text(
        "import os, sys\n"
        "print('1 failed, 41 passed in', os.path.basename(__file__))\n"
        "print('HF_TOKEN' in os.environ, flush=True)\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    settings = cluster_settings(iris_cluster, scratch_home, pass_env=("HF_TOKEN",))
    names = [job_name(41, 5199, "c" * 40, 7, 0, number) for number in range(1, 4)]
    async with Iris.open(settings, now, open_cage) as iris:
        programs = [["python", "/app/check.py", "0"], ["python", "/app/check.py", "3"], ["tail", "-f", "/dev/null"]]
        for name, words in zip(names, programs, strict=True):
            assert isinstance(await iris.look_up(name), Absent)
            assert await iris.submit_command(name, words, SHAPE, LONG, tree) == Submitted(iris.job_id(name))
        passed, failed = [await ended(iris, iris.job_id(name)) for name in names[:2]]
        assert (passed.exit_code, passed.error) == (0, "")
        assert failed.exit_code == 3
        for state in (passed, failed):
            assert "1 failed, 41 passed in check.py" in state.tail
            assert "False" in state.tail
        # Found again by its name, whatever became of it: nothing is run twice.
        assert await iris.look_up(names[1]) == Found(iris.job_id(names[1]), "failed")

        hanging = await iris.command_state(iris.job_id(names[2]))
        assert isinstance(hanging, CommandState)
        assert not hanging.over
        assert await iris.stop(iris.job_id(names[2]))
        stopped = await ended(iris, iris.job_id(names[2]))
        assert (stopped.over, stopped.exit_code, stopped.error) == (True, None, "Terminated by user")
        assert isinstance(await iris.command_state(iris.job_id("never-was")), Absent)


async def test_a_shape_that_the_cluster_refuses_is_told(
    iris_cluster: LocalCluster, tmp_path: Path, scratch_home: Path
) -> None:
    shape = SHAPE.model_copy(update={"region": "mars-1"})
    async with Iris.open(cluster_settings(iris_cluster, scratch_home), now, open_cage) as iris:
        answer = await iris.submit_command("preflight-on-mars", ["true"], shape, LONG, tmp_path)
        assert isinstance(answer, Refused)
        assert "no groups in region mars-1" in answer.reason
