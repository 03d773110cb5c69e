"""How a ferry can end, and how it can be hard to see: what the comment says in each case."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.gating.states import RunState
from bot.iris.names import job_id, job_name, status_path
from tests.conversations.reports import STAGES
from tests.conversations.world import CONFIG, golden, world

UNSCHEDULABLE = "Job perf-gate is unschedulable: no groups match region mars-north1 (constraints: [...])"
STOPPED_BY_A_STRANGER = "Terminated by user"


async def test_one_application_error_is_submitted_again_openly_and_the_same_twice_is_a_fail(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(state="FAILED", error="Exit code 1: ValueError: `bad` shard <3>")
        golden("ferry/submitted_again", w.canonical())
        first, second = w.iris.jobs
        assert first != second
        await w.ferry_ends(state="FAILED", error="Exit code 1: ValueError: `bad` shard <7>")
        golden("ferry/same_error_twice", w.canonical())
        assert (await w.run()).state is RunState.failed
        assert w.iris.submissions == 2


async def test_another_error_the_second_time_is_no_verdict(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(state="FAILED", error="Exit code 1: ValueError: bad shard")
        await w.ferry_ends(state="FAILED", error="Exit code 1: KeyError: 'normalize'")
        golden("ferry/two_errors", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 2


async def test_a_failure_that_does_not_come_again_leaves_the_second_ones_verdict(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(state="FAILED", error="Exit code 1: ConnectionError: reset by peer")
        await w.ferry_ends()
        golden("ferry/passed_the_second_time", w.canonical())
        assert (await w.run()).state is RunState.passed


async def test_workers_out_of_memory_fail_at_once_with_the_line(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        died = "Exit code 137: OOM killed (container exceeded memory limit)"
        w.iris.log = ["I20260620 zephyr.worker started", "E20260620 kernel: Out of memory: Killed process 71 (python)"]
        await w.ferry_ends(state="FAILED", error="zephyr-tokenize-train lost its workers", workers_died=died)
        said = w.canonical()
        golden("ferry/out_of_memory", said)
        assert "❌ fail" in said
        assert (await w.run()).state is RunState.failed


async def test_a_preempted_ferry_is_inconclusive_whatever_its_times_and_is_submitted_again_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(preemptions=1, normalize=1900.0)
        golden("ferry/preempted_once", w.canonical())
        assert w.iris.submissions == 2
        await w.ferry_ends(preemptions=2, normalize=2000.0)
        said = w.canonical()
        golden("ferry/preempted", said)
        assert "⚠ inconclusive" in said
        assert (await w.run()).state is RunState.inconclusive


async def test_a_ferry_that_somebody_killed_is_no_verdict(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(state="KILLED", error=STOPPED_BY_A_STRANGER)
        assert "**Attempt 2:**" in w.canonical()
        await w.ferry_ends(state="KILLED", error=STOPPED_BY_A_STRANGER)
        golden("ferry/killed", w.canonical())
        assert (await w.run()).state is RunState.stuck


async def test_iris_refusal_is_told_in_its_own_words(tmp_path: Path) -> None:
    config = CONFIG.replace("expected_steps", 'flags = { region = "mars-north1" }\nexpected_steps')
    async with world(tmp_path, config=config) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.refuse = UNSCHEDULABLE
        await w.says("rev", "go")
        said = w.canonical()
        golden("ferry/refused", said)
        assert "mars-north1" in said
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 1


async def test_a_submission_whose_answer_was_lost_is_adopted_not_repeated(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.lose_answers = 1
        await w.says("rev", "go")
        assert (await w.run()).state is RunState.submitting
        # By the time anybody looks again, it has even ended.
        w.iris.finish(STAGES)
        await w.live_through(timedelta(minutes=20))
        assert "✅ pass" in w.canonical()
        assert w.iris.submissions == 1


async def test_the_last_launch_is_looked_for_too_before_the_ferry_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.effects.submit.MOST_LAUNCHES", 1)
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.lose_answers = 1
        await w.says("rev", "go")
        await w.live_through(timedelta(minutes=1))
        assert "watching the ferry" in w.canonical()
        assert (w.iris.submissions, len(w.iris.jobs)) == (1, 1)


async def test_only_launches_count_and_after_the_last_the_run_is_stuck_without_a_ferry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.effects.submit.MOST_LAUNCHES", 4)
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.refuse, w.iris.silent = "upstream connect error", True
        await w.says("rev", "go")
        await w.live_through(timedelta(hours=1))
        w.iris.silent = False
        while w.iris.submissions < 3:
            assert await w.clock.advance_to_next(w.app.engine)
        golden("ferry/not_taken", w.canonical())
        await w.live_through(timedelta(minutes=1))
        golden("ferry/given_up", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert (w.iris.submissions, len(w.iris.jobs)) == (4, 0)


async def test_a_ferry_found_under_its_name_is_adopted_though_it_has_ended(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        run = await w.run()
        name = job_name(w.repository.id, w.pull.number, run.head_sha, run.ordinal, 1, 1)
        w.iris.plant(job_id("perf-gate", name), status_path(str(tmp_path / "status"), name))
        w.iris.finish(STAGES)
        await w.says("rev", "go")
        await w.live_through(timedelta(minutes=20))
        assert "✅ pass" in w.canonical()
        assert w.iris.submissions == 0


async def test_a_silent_controller_is_waited_for(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.silent = True
        await w.live_through(timedelta(hours=3))
        assert (await w.run()).state is RunState.ferrying
        w.iris.silent = False
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert w.iris.submissions == 1


async def test_nothing_is_submitted_while_the_controller_does_not_say_what_it_has(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.silent = True
        await w.says("rev", "go")
        await w.live_through(timedelta(hours=1))
        assert (await w.run()).state is RunState.submitting
        assert w.iris.submissions == 0
        w.iris.silent = False
        await w.live_through(timedelta(minutes=10))
        assert "watching the ferry" in w.canonical()
        assert w.iris.submissions == 1


async def test_a_job_that_vanished_is_said(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.vanish()
        await w.live_through(timedelta(minutes=5))
        golden("ferry/vanished", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 1


async def test_a_job_that_a_beginning_controller_does_not_show_at_once_is_watched_on(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        job = w.iris.last
        w.iris.vanish()
        await w.live_through(timedelta(minutes=3, seconds=1))
        w.iris.jobs[job.id] = job
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()


async def test_stop_asks_once_more_and_then_stops_that_one_job(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.start(download=300.0)
        await w.live_through(timedelta(minutes=20))
        await w.says("rev", "@perf-gate stop")
        golden("ferry/stop_once", w.reply_without_marker())
        assert w.iris.terminated == []
        await w.says("rev", "@perf-gate stop")
        golden("ferry/stopped", w.canonical())
        assert w.iris.terminated == [w.iris.last.id]
        assert (await w.run()).state is RunState.stopped


async def test_stop_past_the_wall_time_asks_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.start()
        await w.live_through(timedelta(hours=2))
        await w.says("rev", "@perf-gate stop")
        assert "stopped by rev" in w.canonical()
        assert w.iris.terminated == [w.iris.last.id]


@pytest.mark.parametrize("ended", ["KILLED", "SUCCEEDED"])
async def test_a_ferry_that_ends_while_it_is_being_stopped(tmp_path: Path, ended: str) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.live_through(timedelta(hours=2))
        # Iris does not take the stop for a while; the look at the ferry comes first once it answers again.
        w.iris.stops_lost = 100
        await w.says("rev", "@perf-gate stop")
        assert (await w.run()).state is RunState.ferrying
        await w.ferry_ends(state=ended)
        expected = RunState.stopped if ended == "KILLED" else RunState.passed
        assert (await w.run()).state is expected
        w.canonical()


async def test_a_closed_pull_request_lets_its_ferry_come_home(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.sim.merge(w.repository, w.pull.number, by="rev")
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert (await w.run()).state is RunState.passed


async def test_a_pull_request_closed_before_the_submit_is_not_submitted(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.iris.silent = True
        await w.says("rev", "go")
        await w.sim.close(w.repository, w.pull.number, by="ada")
        await w.settle()
        w.iris.silent = False
        await w.live_through(timedelta(minutes=20))
        golden("ferry/closed_before_the_submit", w.canonical())
        assert (await w.run()).state is RunState.stopped
        assert w.iris.submissions == 0
