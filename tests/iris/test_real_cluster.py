"""A real ferry on a real cluster: from a pinned commit to its perf report."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

from bot.config.schema import IrisFlags
from bot.engine.clock import SystemClock
from bot.iris import status_file
from bot.iris.adapter import Iris
from bot.iris.controller import Absent, Found
from bot.iris.look import Seen
from bot.iris.names import job_name
from bot.iris.submit import Refused, Submitted
from bot.watching.health import examine
from bot.watching.look import Look
from bot.watching.outlook import Outlook, outlook, usual
from bot.watching.vitals import Limits, Vitals
from demo.cluster import LocalCluster
from demo.repository import DemoRepository, zephyr_digest
from tests.iris.clusters import cluster_settings, demo_gate, no_threads, now, open_cage, tree_of, watch_to_end


async def test_a_ferry_from_its_commit_to_its_report(
    iris_cluster: LocalCluster, demo_repository: DemoRepository, tmp_path: Path, scratch_home: Path
) -> None:
    head = demo_repository.branch("change-to-measure")
    demo_repository.advance_main()
    gate, tree = demo_gate(), tree_of(demo_repository, head, tmp_path / "tree")
    name = job_name(41, 5199, head, 1, 1, 1)
    async with Iris.open(cluster_settings(iris_cluster, scratch_home), now, open_cage) as iris:
        assert await iris.look_up(name) == Absent(iris.job_id(name))
        assert await iris.submit(gate, name, tree) == Submitted(f"/gate/{name}")
        assert isinstance(await iris.look_up(name), Found)

        seen = await watch_to_end(iris, iris.job_id(name))
        assert seen[-1].succeeded, seen[-1].error
        assert [(stage.name, stage.state) for stage in seen[-1].stages] == [
            ("download", "done"),
            ("normalize", "done"),
            ("tokenize", "done"),
        ]
        assert any(stage.state == "running" for status in seen for stage in status.stages)
        assert await iris.look_up(name) == Found(iris.job_id(name), "succeeded")

        collected = await iris.collect(iris.job_id(name), gate, name, head)
        assert isinstance(collected, str)
        report = json.loads(collected)
        assert (report["iris_job_id"], report["status"], report["commit_sha"]) == (f"/gate/{name}", "succeeded", head)
        assert set(report["stage_wall_seconds"]) == {"download", "normalize", "tokenize"}
        assert 0 < sum(report["stage_wall_seconds"].values()) < report["wall_seconds_total"]
        assert (report["cached_steps"], report["tree_job_count"], report["warnings"]) == ([], 7, [])

        # The code that ran was the pinned commit's: launcher and workers imported zephyr from the bundle.
        said = (await status_file.read(iris.status_path(name))).fields
        pinned = zephyr_digest(demo_repository.zephyr_sources(head))
        assert Path(said["zephyr_file"]).is_relative_to(iris_cluster.temporary)
        assert Path(said["zephyr_file"]).parts[-5:] == ("lib", "zephyr", "src", "zephyr", "__init__.py")
        assert said["zephyr_digest"] == pinned
        assert said["worker_zephyr_digests"] == [pinned]
        assert pinned != zephyr_digest(demo_repository.zephyr_sources(demo_repository.main_sha))


async def test_a_ferry_shows_how_far_it_is_while_it_runs(
    iris_cluster: LocalCluster, demo_repository: DemoRepository, tmp_path: Path, scratch_home: Path
) -> None:
    gate, name = demo_gate(), job_name(41, 5199, demo_repository.main_sha, 3, 1, 1)
    tree = tree_of(demo_repository, demo_repository.main_sha, tmp_path / "tree")
    known = usual({"download": 10.0, "normalize": 10.0, "tokenize": 10.0}, 34.0, [])
    limits = Limits(stall=60.0, wall=120.0, baseline=known.stages if known else {})
    vitals, looks, told, clock = Vitals(), list[Look](), list[Outlook](), SystemClock()
    async with Iris.open(cluster_settings(iris_cluster, scratch_home), now, open_cage) as iris:
        submitted = await iris.submit(gate, name, tree)
        assert isinstance(submitted, Submitted)
        async with asyncio.timeout(240):
            while not looks or looks[-1].state != "succeeded":
                seen = await iris.look(submitted.job_id, gate.expected_steps, lambda look: look.workers > 0)
                assert isinstance(seen, Seen)
                assert seen.look.state not in ("failed", "killed"), seen.status.error
                looks.append(seen.look)
                if not seen.status.terminal:
                    vitals = examine(vitals, seen.look, limits, now())
                    expected = outlook(seen.look.steps, known, seen.look.started_at, now())
                    told += [expected] if expected else []
                await clock.wait(asyncio.Event(), clock.now() + timedelta(seconds=1))
    # Percent of the baseline's stage times never falls, and an end is expected from the first look on.
    shown = [one.percent for one in told]
    assert shown == sorted(shown)
    assert len(set(shown)) > 3
    assert all(one.earliest <= one.end <= one.latest for one in told)
    # What the smoke check wants to see: a coordinator and its workers, their shards, the machine, the threads at work.
    assert {one.coordinators for one in looks} == {0, 1}
    assert max(one.workers for one in looks) == 1
    assert any(shards.total == 2 for one in looks for shards in one.shards)
    assert {machine.zone for one in looks for machine in one.machines} == {""}
    dumps = [one.threads for one in looks if one.threads is not None]
    assert any(dump.waits_for_stage for dump in dumps)
    # Dumps that are taken all the time also catch coordinators between two pipelines, which is no trouble.
    assert vitals.troubles == ()


async def test_a_stopped_ferry_and_the_command_line_that_sees_the_same(
    iris_cluster: LocalCluster, demo_repository: DemoRepository, tmp_path: Path, scratch_home: Path
) -> None:
    gate, name = demo_gate(), job_name(41, 5199, demo_repository.main_sha, 2, 1, 1)
    tree = tree_of(demo_repository, demo_repository.main_sha, tmp_path / "tree")
    over_http = cluster_settings(iris_cluster, scratch_home)
    config = manual_config(iris_cluster, tmp_path / "cluster.yaml")
    by_command = cluster_settings(iris_cluster, scratch_home, controller_url=None, config=config)
    async with Iris.open(over_http, now, open_cage) as iris, Iris.open(by_command, now, open_cage) as program:
        assert await program.look_up(name) == Absent(program.job_id(name))
        assert await program.submit(gate, name, tree) == Submitted(program.job_id(name))
        found = await program.look_up(name)
        assert isinstance(found, Found)
        assert await iris.stop(found.job_id)
        (last,) = (await watch_to_end(iris, found.job_id))[-1:]
        assert (last.state, last.succeeded, last.error) == ("killed", False, "Terminated by user")
        assert await program.look_up(name) == Found(found.job_id, "killed")
        assert await program.stop(found.job_id)
        assert not await program.stop("/gate/nobody")

        at_once, slowly = [await one.look(found.job_id, (), no_threads) for one in (iris, program)]
        assert at_once == slowly
        reports = [await one.collect(found.job_id, gate, name, "c" * 40) for one in (iris, program)]
        same = [{k: v for k, v in json.loads(str(r)).items() if k != "collected_at_utc"} for r in reports]
        assert same[0] == same[1]
        assert same[0]["status"] == "killed"
        assert iris_cluster.submissions().count(found.job_id) == 1


async def test_refusals_of_a_real_cluster_are_values(
    iris_cluster: LocalCluster, demo_repository: DemoRepository, tmp_path: Path, scratch_home: Path
) -> None:
    tree, gate = tree_of(demo_repository, demo_repository.main_sha, tmp_path / "tree"), demo_gate()
    async with Iris.open(cluster_settings(iris_cluster, scratch_home), now, open_cage) as iris:
        elsewhere = gate.model_copy(update={"flags": IrisFlags(region="mars-1")})
        refused = await iris.submit(elsewhere, "no-such-region", tree)
        assert refused == Refused("Job /gate/no-such-region is unschedulable: no groups in region mars-1")
        urgent = gate.model_copy(update={"flags": IrisFlags(priority="production")})
        refused = await iris.submit(urgent, "too-urgent", tree)
        assert isinstance(refused, Refused)
        assert refused.reason.startswith("User gate cannot submit production jobs (max band: interactive).")
        large = gate.model_copy(update={"flags": IrisFlags(memory="64G")})
        refused = await iris.submit(large, "too-large", tree)
        assert isinstance(refused, Refused)
        assert refused.reason.startswith("--memory 64G (>= 4 GB) requires --enable-extra-resources.")
        assert isinstance(await iris.look_up("too-urgent"), Absent)


def manual_config(cluster: LocalCluster, path: Path) -> Path:
    """A cluster YAML that leads to the running controller, as a client of a real cluster has one."""
    host, _, port = cluster.url.rpartition(":")
    config = {
        "name": "manual",
        "platform": {"manual": {}},
        "controller": {"image": "unused", "manual": {"host": host, "port": int(port)}},
        "worker_provider": {},
        "storage": {"remote_state_dir": f"file://{cluster.scratch}/state"},
        "defaults": {"worker": {"docker_image": "unused", "runtime": "docker"}},
        "scale_groups": {},
    }
    path.write_text(json.dumps(config))  # JSON is YAML too
    return path
