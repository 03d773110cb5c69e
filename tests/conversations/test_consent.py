"""An explicit max_gate in the first mention is an answer given ahead, for a head that cannot have moved since."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.test_ladder import LADDER
from tests.conversations.test_scope import DOCS, FRAY
from tests.conversations.world import FILES, SHUFFLE, golden, world

LATER = timedelta(minutes=1)
WORSE = FILES[SHUFFLE].replace("1024", "9")


async def test_a_first_mention_that_names_the_gate_runs_it_unasked(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.live_through(LATER)
        said = await w.says("rev", "@perf-gate go max_gate=1 — only minhash sensitivity matters")
        golden("consent/run_unasked", w.canonical())
        assert w.reactions(said) == ["eyes", "rocket"]
        run = await w.run()
        assert run.override == "reviewer override by rev: max_gate=1 — only minhash sensitivity matters"
        assert run.approved_by == "rev"
        assert w.iris.submissions == 1


async def test_a_skip_in_the_first_mention_waives(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.live_through(LATER)
        await w.says("rev", "@perf-gate skip because it is measured elsewhere")
        golden("consent/waived_unasked", w.canonical())
        assert (await w.run()).state is RunState.waived


async def test_the_author_is_asked_about_less_than_the_diff_wants(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.live_through(LATER)
        for body in ("@perf-gate go max_gate=1", "@perf-gate skip"):
            await w.says("ada", body)
            assert (await w.run()).state is RunState.awaiting_reviewer
            assert "a person other than the author must say so" in next(
                said for said in w.new_comments() if "Proposed max_gate" in said
            )
            await w.says("rev", "@perf-gate stop")


async def test_a_push_since_the_comment_is_asked_about(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.live_through(LATER)
        w.sim.hold_deliveries()
        await w.sim.comment(w.repository, w.pull.number, "rev", "@perf-gate go max_gate=3")
        w.clock.advance(timedelta(seconds=5))
        await w.sim.push(w.repository, w.pull.number, {SHUFFLE: WORSE})
        await w.sim.release_deliveries()
        await w.settle()
        golden("consent/pushed_since", w.new_comments()[-1])
        assert (await w.run()).state is RunState.awaiting_reviewer
        assert w.iris.submissions == 0


async def test_a_review_names_the_commit_it_is_about(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        # In the very second of the push: only the commit that the review names tells that it came after.
        await w.sim.review(w.repository, w.pull.number, "rev", "@perf-gate go max_gate=3")
        await w.settle()
        assert "I heard what your review says" in next(body for body in w.new_comments() if "review" in body)
        assert "watching the ferry" in w.canonical()


async def test_an_out_of_scope_pull_request_is_run_by_naming_a_gate(tmp_path: Path) -> None:
    async with world(tmp_path, files=DOCS) as w:
        await w.scheduled_run()
        await w.live_through(LATER)
        await w.says("rev", "@perf-gate")
        assert (await w.run()).state is RunState.out_of_scope
        w.canonical()
        await w.says("rev", "@perf-gate go")
        assert (await w.run()).state is RunState.out_of_scope
        await w.says("rev", "@perf-gate go max_gate=1 because the tests write shards")
        golden("consent/out_of_scope_forced", w.canonical())
        assert (await w.run()).override == "reviewer override by rev: max_gate=1 — the tests write shards"
        assert w.iris.submissions == 1


async def test_fray_alone_is_asked_about_unless_a_gate_is_named(tmp_path: Path) -> None:
    async with world(tmp_path, files=FRAY) as w:
        await w.scheduled_run()
        await w.live_through(LATER)
        await w.says("rev", "@perf-gate")
        assert (await w.run()).state is RunState.awaiting_reviewer
        w.new_comments()
        await w.says("rev", "@perf-gate stop")
        await w.says("rev", "@perf-gate go max_gate=1")
        assert "watching the ferry" in w.canonical()


async def test_a_fork_is_always_asked_about_since_its_question_warns(tmp_path: Path) -> None:
    async with world(tmp_path, fork_owner="ada") as w:
        await w.scheduled_run()
        await w.live_through(LATER)
        await w.says("rev", "@perf-gate go max_gate=3")
        assert "This is a fork" in w.new_comments()[-1]
        assert (await w.run()).state is RunState.awaiting_reviewer
