"""`retry` and `continue` as a reviewer lives through them: at the failed gate, on a live ferry, on another cluster."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.iris_rows import machine
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import CONFIG, golden, world
from tests.parity.test_parity import TIER1

WORKFLOW = ".github/workflows/marin-canary-datakit-tier1.yaml"


async def test_retry_takes_up_the_gate_that_failed_and_keeps_what_was_climbed(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends()
        await w.ferry_ends(normalize=1100.0)
        assert (await w.run()).state is RunState.failed
        await w.says("rev", "@perf-gate retry")
        golden("again/taken_up", w.canonical())
        await w.ferry_ends()
        golden("again/passed_from_gate_2", w.canonical())
        assert [job.arguments[-1].rpartition(".")[2] for job in w.iris.jobs.values()] == [
            "datakit_ferry",
            "datakit_tier2_skewed_ferry",
            "datakit_tier2_skewed_ferry",
        ]


async def test_continue_after_two_inconclusive_ferries_climbs_on(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        for _ in range(2):
            await w.ferry_ends(preemptions=2)
        golden("again/inconclusive_twice", w.canonical())
        await w.says("rev", "@perf-gate continue")
        await w.ferry_ends()
        golden("again/continued_and_passed", w.canonical())
        assert w.iris.submissions == 3


async def test_retry_on_a_live_ferry_asks_stops_waits_and_submits(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.start(download=300.0)
        await w.live_through(timedelta(minutes=20))
        await w.says("rev", "@perf-gate retry")
        golden("again/retry_live_asks", w.reply_without_marker())
        # The controller takes the stop, but the job needs a while to be gone.
        w.iris.stops_slowly = 2
        await w.says("rev", "@perf-gate retry")
        golden("again/retry_live_answer", w.reply_without_marker())
        assert "submitted again when it is gone" in w.canonical()
        assert w.iris.submissions == 1
        await w.live_through(timedelta(minutes=2))
        assert w.iris.submissions == 2
        first, second = w.iris.jobs.values()
        assert (first.state, second.state) == ("JOB_STATE_KILLED", "JOB_STATE_PENDING")
        await w.ferry_ends()
        golden("again/retried_live", w.canonical())


async def test_another_cluster_is_asked_about_and_its_report_is_not_judged(tmp_path: Path) -> None:
    async with world(tmp_path, clusters=("spare",)) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1100.0)
        w.canonical()
        await w.says("rev", "@perf-gate retry cluster=moon")
        golden("again/no_such_cluster", w.reply_without_marker())
        await w.says("rev", "@perf-gate retry cluster=spare")
        golden("again/another_cluster", w.reply_without_marker())
        assert w.iris.submissions == 1
        await w.says("rev", "@perf-gate retry cluster=spare")
        await w.ferry_ends()
        golden("again/not_comparable", w.canonical())
        assert (await w.run()).state is RunState.stuck


async def test_a_workflow_of_another_shape_stops_the_submit(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.sim.commit(w.repository, "main", {WORKFLOW: TIER1.replace("--memory=2G", "--memory=4G")})
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "go")
        golden("again/launched_otherwise", w.canonical())
        assert w.iris.submissions == 0
        # The configuration is mended, and the same commit is taken up without another question.
        mended = CONFIG.replace("expected_steps", 'flags = { memory = "4G" }\nexpected_steps', 1)
        await w.sim.commit(w.repository, "main", {".github/perf-gate.toml": mended})
        await w.says("rev", "@perf-gate retry")
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()


async def test_a_repository_can_have_differences_only_shown(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG + '\n[parity]\non_difference = "warn"\n') as w:
        await w.sim.commit(w.repository, "main", {WORKFLOW: TIER1.replace("--memory=2G", "--memory=4G")})
        await w.scheduled_run(iris_job_id="/runner/baseline")
        w.iris.plant("/runner/baseline", str(tmp_path / "baseline.json"))
        w.iris.finish({"download": 300.0, "normalize": 900.0, "tokenize": 1200.0})
        w.iris.machines = [machine("cpu-small", zone="us-central1-a")]
        await w.to_ferrying()
        await w.ferry_ends()
        golden("again/launched_otherwise_shown", w.canonical())
