"""A ferry on its way: what the comment says of trouble, of progress and of the queue, and whom it calls how often."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.effects.ferry import LOOK_WITHIN
from bot.gating.states import RunState
from bot.watching.vitals import Health
from tests.conversations.iris_rows import machine
from tests.conversations.world import CONFIG, World, golden, world

TEN_MINUTES = timedelta(minutes=10)
LONG = (
    CONFIG.replace("ladder = [1]", "ladder = [1]\n")
    + "\n[thresholds]\nstage = { warn_percent = 4000, fail_percent = 5000 }\n"
)


async def health(w: World) -> Health:
    attempt = (await w.run()).attempt
    assert attempt is not None
    return attempt.vitals.health


async def looks(w: World, how_many: int) -> None:
    """Let so many of the gate's intervals pass."""
    for _ in range(how_many):
        await w.live_through(TEN_MINUTES)


async def edits(w: World) -> int:
    """How often the canonical comment was written so far."""
    return sum(one.method == "PATCH" and "/issues/comments/" in one.path for one in w.sim.requests())


async def test_a_calm_ferry_shows_its_progress_and_when_it_may_end(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.machines = [machine("n2-cpu", zone="us-central1-a")]
        w.iris.at_work("normalize", {"download": 300.0}, done=8, queued=54)
        await looks(w, 1)
        golden("watch/progress", w.canonical())
        assert await health(w) is Health.progressing
        assert "@rev" not in w.canonical()


async def test_no_edit_where_nothing_changed_that_a_reader_cares_about(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=1)
        await looks(w, 6)
        before = await edits(w)
        for done in range(2, 5):
            w.iris.at_work("normalize", done=done)
            await looks(w, 1)
        # Long past its usual time a stage is as far as it was, and only its end moves: at most once in these looks.
        assert await edits(w) - before <= 1
        w.canonical()


async def test_a_stall_is_shown_calls_once_and_goes(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=7, queued=55)
        await looks(w, 5)
        assert await health(w) is Health.stalled
        stalled = w.canonical()
        golden("watch/stalled", stalled)
        assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]
        w.iris.at_work("normalize", done=8, queued=54)
        await looks(w, 1)
        golden("watch/stalled_is_over", w.canonical())
        assert await health(w) is Health.progressing
        # The same kind once more in this run is shown, but nobody is called again.
        await looks(w, 4)
        assert await health(w) is Health.stalled
        assert "**Trouble:** ⚠ stalled" in w.canonical()
        assert "@rev" not in w.canonical()
        await w.ferry_ends()
        golden("watch/stalled_then_passed", w.canonical())
        assert w.iris.terminated == []


async def test_stragglers_are_told_and_call_nobody(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=62, queued=0)
        await looks(w, 2)
        assert await health(w) is Health.straggling
        said = w.canonical()
        golden("watch/straggling", said)
        assert "@rev" not in said


async def test_a_zombie_coordinator_is_known_by_its_threads(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=64, in_flight=0, queued=0, workers=0, zombie=True)
        await looks(w, 3)
        assert await health(w) is Health.zombie
        said = w.canonical()
        golden("watch/zombie", said)
        assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]
        assert w.iris.terminated == []


async def test_workers_that_fail_with_one_error_are_quoted(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        errors = tuple(f"Exit code: 1. stderr: ValueError: bad shard payload {n}\n@everyone see #1" for n in range(4))
        w.iris.at_work("normalize", {"download": 300.0}, done=3, errors=errors)
        await looks(w, 1)
        assert await health(w) is Health.workers_failing
        said = w.canonical()
        golden("watch/workers_failing", said)
        assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]


async def test_terminated_by_user_is_nobodys_error(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=3, errors=("Terminated by user",) * 5)
        await looks(w, 1)
        assert await health(w) is Health.progressing
        assert "Terminated" not in w.canonical()


@pytest.mark.parametrize("mark", ["quota_exceeded", "resource_exhausted", "slice couldn't schedule", "tier_blocked"])
async def test_a_cluster_without_room_is_trouble_of_its_own(tmp_path: Path, mark: str) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.waits(f"Waiting for scale-up of cpu-eu: {mark} in europe-west4")
        await looks(w, 1)
        assert await health(w) is Health.resource_exhausted
        said = w.canonical()
        if mark == "quota_exceeded":
            golden("watch/resource_exhausted", said)
        assert f"{mark} in europe-west4" in said
        assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]


async def test_waiting_for_capacity_is_no_perf_signal_and_noted_after_half_an_hour(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.waits("Waiting for scale-up of cpu-eu")
        await looks(w, 1)
        assert await health(w) is Health.queued
        assert "more than 30 min" not in w.canonical()
        await looks(w, 6)
        said = w.canonical()
        golden("watch/capacity", said)
        assert await health(w) is Health.queued
        assert "@rev" not in said


async def test_workers_that_wait_for_capacity_do_not_stall(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=0, waiting="Waiting for scale-up of cpu-eu")
        await looks(w, 6)
        assert await health(w) is Health.queued
        golden("watch/workers_wait", w.canonical())


async def test_a_controller_that_is_silent_for_an_hour_is_noted_and_nothing_more(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=1)
        await looks(w, 1)
        w.iris.silent = True
        await w.live_through(timedelta(hours=1))
        assert await health(w) is Health.unreachable
        said = w.canonical()
        golden("watch/unreachable", said)
        assert "@rev" not in said
        w.iris.silent = False
        w.iris.at_work("normalize", done=40)
        await looks(w, 1)
        assert await health(w) is Health.progressing
        assert "has not answered" not in w.canonical()
        await w.ferry_ends()
        assert (await w.run()).state is RunState.passed
        w.canonical()


async def test_a_controller_that_never_ends_an_answer_is_as_silent_as_one_that_gives_none(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.hangs = 4
        for _ in range(4):
            await w.app.engine.idle()
            due = await w.app.engine.next_due()
            assert due is not None
            w.clock.move_to(due)
            await w.iris.hanging.wait()
            w.iris.hanging.clear()
            w.clock.advance(LOOK_WITHIN)
        await w.settle()
        attempt = (await w.run()).attempt
        assert attempt is not None
        assert attempt.vitals.unseen_since is not None
        w.canonical()


async def test_a_stage_beyond_its_limit_is_said_before_the_ferry_ends(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.at_work("normalize", {"download": 300.0}, done=1)
        for done in (2, 3):
            await looks(w, 1)
            w.iris.at_work("normalize", done=done)
        await looks(w, 1)
        said = w.canonical()
        golden("watch/slow_stage", said)
        assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]
        assert w.iris.terminated == []


async def test_past_twice_the_wall_time_is_trouble_and_watched_on(tmp_path: Path) -> None:
    async with world(tmp_path, config=LONG) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        for done in range(1, 15):
            w.iris.at_work("download", done=done)
            await looks(w, 1)
        said = w.canonical()
        golden("watch/overdue", said)
        assert [notice.split(":")[0] for notice in w.notices()] == ["@rev"]
        assert (await w.run()).state is RunState.ferrying
        assert w.iris.terminated == []


async def test_the_queue_of_a_tier_is_shown_with_its_expected_start(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        second, third = await w.another_pull(), await w.another_pull(head="third")
        await w.to_ferrying()
        for waiting in (second, third):
            await waiting.to_question()
            await waiting.says("rev", "go")
        golden("watch/queue_next", second.canonical())
        golden("watch/queue_third", third.canonical())
        w.iris.at_work("normalize", {"download": 300.0}, done=8, queued=54)
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert "watching the ferry" in second.canonical()
        assert "next in line" in third.canonical()
