"""Up the ladder: gate by gate, each verdict kept in view, and two pull requests that want the same tier."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.world import CONFIG, golden, world

LADDER = CONFIG.replace("ladder = [1]", "ladder = [1, 2]") + (
    '\n[gates.2]\nfirst_check = "3m"\ncheck_every = "15m"\nexpected_steps = ["download", "normalize", "tokenize"]\n'
)


async def test_two_gates_pass_one_after_the_other(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends()
        golden("ladder/gate_2", w.canonical())
        assert w.iris.submissions == 2
        first, second = w.iris.jobs.values()
        assert first.environment["SMOKE_RUN_ID"] != second.environment["SMOKE_RUN_ID"]
        assert second.arguments[-1] == "experiments.ferries.datakit_tier2_skewed_ferry"
        await w.ferry_ends()
        golden("ladder/both_pass", w.canonical())
        assert (await w.run()).state is RunState.passed
        assert list((tmp_path / "state" / "perf-gate-trees").iterdir()) == []


async def test_a_ceiling_of_one_ends_after_gate_one(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "max_gate=1 because it is late")
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert w.iris.submissions == 1


async def test_a_warning_stops_and_asks_and_continue_climbs_on(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends(normalize=970.0)
        golden("ladder/warned_at_gate_1", w.canonical())
        assert (await w.run()).state is RunState.awaiting_escalation
        assert w.iris.submissions == 1
        await w.says("rev", "@perf-gate continue")
        assert "Gate 2" in w.canonical().splitlines()[1]
        assert "**Before:** ⚠ warn at gate 1, and `rev` let it climb on" in w.canonical()
        await w.ferry_ends()
        golden("ladder/warned_then_passed", w.canonical())
        assert w.iris.submissions == 2


async def test_a_warning_that_nobody_answers_stands_after_a_week(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=970.0)
        await w.live_through(timedelta(days=8))
        assert (await w.run()).state is RunState.warned
        assert "⚠ warn" in w.canonical()
        assert w.iris.submissions == 1


async def test_a_warning_at_a_closed_pull_request_keeps_its_numbers(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=970.0)
        await w.sim.close(w.repository, w.pull.number, by="ada")
        await w.settle()
        assert (await w.run()).state is RunState.warned
        assert "16m 10s" in w.canonical()


async def test_a_failure_climbs_no_further(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends(normalize=1100.0)
        assert (await w.run()).state is RunState.failed
        assert "❌ fail" in w.canonical()
        assert w.iris.submissions == 1


async def test_no_baseline_for_gate_two_is_said_under_the_first_ones_verdict(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends()
        golden("ladder/no_second_baseline", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 1


async def test_a_run_after_a_run_keeps_the_comment_and_takes_a_new_name(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1100.0)
        comment = w.canonical_id()
        await w.says("rev", "@perf-gate retry")
        # The answer was for this commit, so nobody is asked again.
        assert w.says_nothing()
        await w.ferry_ends()
        golden("ladder/second_run", w.canonical())
        assert w.canonical_id() == comment
        assert len(w.iris.jobs) == w.iris.submissions == 2


async def test_two_pull_requests_take_turns_at_a_tier(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        second = await w.another_pull()
        await w.to_ferrying()
        await second.to_question()
        await second.says("rev", "go")
        golden("ladder/queued", second.canonical())
        assert w.iris.submissions == 1
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert "watching the ferry" in second.canonical()
        assert w.iris.submissions == 2
        await second.ferry_ends(normalize=1100.0)
        assert "❌ fail" in second.canonical()
        assert "✅ pass" in w.canonical()


async def test_who_waits_for_a_tier_can_leave_the_queue(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        second = await w.another_pull()
        third = await w.another_pull(head="third")
        await w.to_ferrying()
        for waiting in (second, third):
            await waiting.to_question()
            await waiting.says("rev", "go")
            assert "waiting for the tier's slot" in waiting.canonical()
        await second.says("rev", "@perf-gate stop")
        assert "stopped by rev" in second.canonical()
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert "watching the ferry" in third.canonical()
        assert w.iris.submissions == 2


async def test_a_stuck_or_stopped_ferry_gives_its_tier_back(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        second = await w.another_pull()
        await w.to_ferrying()
        await second.to_question()
        await second.says("rev", "go")
        w.iris.vanish()
        await w.live_through(timedelta(minutes=5))
        assert "stuck" in w.canonical()
        assert "watching the ferry" in second.canonical()
