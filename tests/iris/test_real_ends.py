"""How ferries end on a real cluster, and what is said of why: an error, a kill as by the kernel, a stopped hang."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from bot.engine.clock import SystemClock
from bot.iris.adapter import Iris
from bot.iris.submit import Submitted
from bot.watching.cause import Cause
from demo.cluster import LocalCluster
from tests.iris.clusters import cluster_settings, demo_gate, now, open_cage, watch_to_end

ENDING = """
import os, signal, sys
how = os.environ["HOW"]
print(f"a ferry that {how}", flush=True)
if how == "fails":
    raise ValueError("bad shard payload 3")
if how == "runs out of memory":
    raise MemoryError()
if how == "is killed":
    print("allocating more than there is", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
signal.pause()
"""
WAYS = ("fails", "runs out of memory", "is killed", "hangs")


async def test_each_end_is_collected_with_its_cause(
    iris_cluster: LocalCluster, tmp_path: Path, scratch_home: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "ending.py").write_text(ENDING)
    async with Iris.open(cluster_settings(iris_cluster, scratch_home), now, open_cage) as iris:
        ended = dict(zip(WAYS, await asyncio.gather(*(end(iris, tree, how) for how in WAYS)), strict=True))
    reports = {how: report for how, (report, _) in ended.items()}
    causes = {how: cause for how, (_, cause) in ended.items()}
    assert {how: report["status"] for how, report in reports.items()} == {
        "fails": "failed",
        "runs out of memory": "failed",
        "is killed": "failed",
        "hangs": "killed",
    }
    assert {how: cause.kind for how, cause in causes.items()} == {
        "fails": "application",
        "runs out of memory": "oom",
        "is killed": "oom",
        "hangs": "killed",
    }
    assert [reports[how]["infra_failures"]["oom"] for how in WAYS] == [0, 1, 1, 0]
    # The cause is the task's own, and its log is the task's.
    assert "ValueError: bad shard payload 3" in causes["fails"].error
    assert any("ValueError" in line for line in causes["fails"].log)
    assert causes["is killed"].exit_code in (-9, 137)
    assert causes["is killed"].task.endswith("/0")
    assert any("MemoryError" in line for line in causes["runs out of memory"].log)


async def end(iris: Iris, tree: Path, how: str) -> tuple[dict[str, Any], Cause]:
    """Submit a ferry that ends so; its report and the cause. One that hangs is stopped once it runs."""
    name = f"ends-{how.replace(' ', '-')}"
    gate = demo_gate().model_copy(update={"ferry_module": "ending", "environment": {"PYTHONPATH": "/app", "HOW": how}})
    submitted = await iris.submit(gate, name, tree)
    assert isinstance(submitted, Submitted)
    if how == "hangs":
        clock = SystemClock()
        while not await iris.log(submitted.job_id, "a ferry that hangs", 1):
            await clock.wait(asyncio.Event(), clock.now())
        assert await iris.stop(submitted.job_id)
    await watch_to_end(iris, submitted.job_id)
    report = await iris.collect(submitted.job_id, gate, name, "c" * 40)
    assert isinstance(report, str)
    cause = await iris.cause(submitted.job_id)
    assert cause is not None
    return json.loads(report), cause
