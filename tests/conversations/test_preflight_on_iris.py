"""A repository whose preflight runs as small jobs on the cluster."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.gating.happenings import Closed
from bot.gating.states import RunState
from tests.conversations.test_preflight import LADDER
from tests.conversations.world import World, golden, world

CONFIG = (
    LADDER
    + """
[preflight]
runner = "iris"
job = { cpu = 1, disk = "5GB", region = "us-central1", enable_extra_resources = true }
check_every = "1m"

[[preflight.commands]]
run = ["./infra/pre-commit.py", "lib/zephyr/"]
timeout = "10m"
memory_mb = 2048

[[preflight.commands]]
run = ["uv", "run", "pytest", "lib/zephyr/tests/"]
timeout = "20m"
"""
)
LOOK = timedelta(minutes=1, seconds=5)


async def begun(w: World) -> None:
    await w.scheduled_run()
    assert "`go` runs lint, types and tests of that commit as jobs on the cluster, then" in await w.to_question()
    await w.says("rev", "go")
    assert "running lint, types and tests as jobs on the cluster" in w.canonical()
    assert w.iris.submissions == 1


async def test_commands_run_one_after_the_other_and_then_comes_the_ferry(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        line = w.iris.last.arguments
        assert line[line.index("--") + 1 :] == ["./infra/pre-commit.py", "lib/zephyr/"]
        assert {"--memory=2048MB", "--cpu=1", "--disk=5GB", "--region=us-central1", "--timeout"} <= set(line)
        w.iris.command_is("RUNNING", "linting")
        await w.live_through(LOOK)
        assert w.iris.submissions == 1
        w.iris.command_is("SUCCEEDED", "all fine")
        await w.live_through(LOOK)
        assert w.iris.submissions == 2
        assert "pytest" in w.iris.last.arguments
        w.iris.command_is("SUCCEEDED", "41 passed")
        await w.live_through(LOOK)
        assert "watching the ferry" in w.canonical()
        assert w.iris.submissions == 3


async def test_a_failing_command_halts_with_what_it_printed(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        w.iris.command_is("FAILED", "shuffle.py:1: E501", "1 file to mend", error="Exit code 1")
        await w.live_through(LOOK)
        golden("preflight/iris_failed", w.canonical())
        assert (await w.run()).state is RunState.halted
        assert w.iris.submissions == 1


async def test_a_command_beyond_its_time_is_ended_and_is_no_failed_test(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        job = w.iris.last.id
        # Waiting for a machine costs no time of the command's own.
        w.iris.waits("no capacity")
        await w.live_through(timedelta(hours=1))
        assert w.iris.terminated == []
        w.iris.command_is("RUNNING", "linting file 1", "linting file 2")
        await w.live_through(timedelta(minutes=12))
        golden("preflight/iris_timeout", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert job in w.iris.terminated


async def test_a_job_that_somebody_ended_says_nothing_about_the_code(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        w.iris.command_is("KILLED", error="Terminated by user")
        await w.live_through(LOOK)
        golden("preflight/iris_killed", w.canonical())
        assert (await w.run()).state is RunState.stuck


async def test_a_refusal_of_the_cluster_is_stuck_with_its_words(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        w.iris.refuse = "Error: Job /perf-gate/x is unschedulable: no groups in region us-central1"
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "go")
        golden("preflight/iris_refused", w.canonical())


async def test_an_answer_that_was_lost_makes_no_second_job(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        w.iris.lose_answers = 1
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "go")
        await w.live_through(timedelta(minutes=10))
        assert "running lint" in w.canonical()
        assert (w.iris.submissions, len(w.iris.jobs)) == (1, 1)


async def test_stop_ends_the_job_too(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        w.iris.command_is("RUNNING")
        await w.says("rev", "@perf-gate stop")
        assert "stopped by rev" in w.canonical()
        assert w.iris.terminated == [w.iris.last.id]


async def test_a_controller_that_is_away_is_waited_for(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        w.iris.command_is("RUNNING", "linting")
        w.iris.silent = True
        await w.live_through(timedelta(minutes=8))
        assert "running lint" in w.canonical()
        w.iris.silent = False
        w.iris.command_is("SUCCEEDED", "all fine")
        await w.live_through(LOOK)
        assert w.iris.submissions == 2


async def closes(w: World) -> None:
    """The pull request is closed: nothing of its run is wanted any more."""
    place = (await w.app.engine.read(w.key)).place  # type: ignore[union-attr]
    assert place is not None
    await w.app.engine.advance(w.key, Closed(place, merged=False), cause="test")


async def test_nothing_is_submitted_for_a_run_that_ended_while_the_cluster_was_asked(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.before["GetJobState"] = lambda: closes(w)
        await w.says("rev", "go")
        await w.live_through(LOOK)
        assert "closed" in w.canonical()
        assert w.iris.submissions == 0


async def test_a_command_that_was_being_submitted_when_its_run_ended_is_stopped(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await w.scheduled_run()
        await w.to_question()

        async def ends_and_is_cleaned_up() -> None:
            await closes(w)
            for _ in range(2):
                await w.iris.asked_to_stop.get()

        w.iris.before["submit"] = ends_and_is_cleaned_up
        await w.says("rev", "go")
        await w.live_through(LOOK)
        assert "closed" in w.canonical()
        assert w.iris.submissions == 1
        assert w.iris.terminated == [w.iris.last.id]


async def test_commands_of_an_ended_run_are_stopped_also_when_another_run_took_its_place(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        first = w.iris.last.id
        w.iris.command_is("RUNNING")
        w.iris.stops_lost = 1
        await w.says("rev", "@perf-gate stop")
        await w.says("rev", "@perf-gate retry")
        assert "running lint" in w.canonical()
        await w.live_through(LOOK)
        assert w.iris.submissions == 2
        assert w.iris.terminated == [first]


async def test_a_clean_up_that_an_earlier_release_asked_for_stops_the_job_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        w.iris.command_is("RUNNING")
        monkeypatch.setattr("bot.gating.leaving.left_by", lambda run: {})
        await w.says("rev", "@perf-gate stop")
        assert "stopped by rev" in w.canonical()
        assert w.iris.terminated == [w.iris.last.id]


async def test_a_command_that_finds_no_machine_for_hours_is_given_up_with_the_reason(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG) as w:
        await begun(w)
        w.iris.waits("Insufficient CPU in us-central1")
        await w.live_through(timedelta(hours=5))
        assert "running lint" in w.canonical()
        await w.live_through(timedelta(hours=1, minutes=5))
        golden("preflight/iris_never_started", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert w.iris.last.id in w.iris.terminated
