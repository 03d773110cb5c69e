"""Moments worth a look: nights of scheduled runs, a ferry at work, others that wait."""

from __future__ import annotations

import json
import random
from datetime import timedelta

from tests.conversations.reports import STAGES, perf_report, zipped
from tests.conversations.world import REPOSITORY, World

NIGHTS = 14


async def nights(scene: World, count: int = NIGHTS) -> None:
    """So many scheduled runs of tier 1, a day apart, as identical code varies; the last two hours ago."""
    chance = random.Random(11)
    sha = await scene.repository.git.resolve("refs/heads/main")
    for night in range(count):
        day = chance.gauss(1, 0.06)
        stages = {name: round(seconds * day * chance.gauss(1, 0.03), 1) for name, seconds in STAGES.items()}
        report = perf_report(
            commit_sha=sha,
            iris_job_id=f"/runner/iris-run-job-{night}",
            stage_wall_seconds=stages,
            wall_seconds_total=sum(stages.values()) + 1,
            peak_worker_memory_mb=round(14_200 * chance.gauss(1, 0.02)),
            stage_sum_task_wall_seconds={name: 14 * seconds for name, seconds in stages.items()},
        )
        await scene.sim.workflow_run(
            scene.repository,
            "marin-canary-datakit-tier1.yaml",
            created_at=scene.clock.now() - timedelta(days=count - 1 - night, hours=2),
            artifacts={"datakit-tier1-perf-report": zipped(json.dumps(report))},
        )


async def live_ferry(scene: World) -> World:
    """A ferry at its second stage, one run that queues behind it, one that waits for an answer; the second one."""
    await nights(scene)
    await scene.to_ferrying()
    scene.iris.at_work("normalize", {"download": 312.0}, done=23, queued=39)
    second = await scene.another_pull()
    await second.says("rev", "@perf-gate")
    await second.says("rev", "@perf-gate go")
    third = await scene.another_pull(head="third", title="Sort in place")
    await third.says("rev", "@perf-gate")
    await scene.live_through(timedelta(minutes=14))
    for one in (scene, second, third):
        one.new_comments()
    assert scene.repository.full_name == REPOSITORY
    return second
