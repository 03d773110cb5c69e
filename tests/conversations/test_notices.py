"""Whom the bot calls, for what, how often; and what becomes of questions and notices once they call nobody any more."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import FILES, SHUFFLE, World, golden, world

WORSE = FILES[SHUFFLE].replace("1024", "9")


def question(w: World) -> str:
    asked = w.question()
    return f"{'hidden' if asked.minimized else 'shown'}: {asked.minimized}\n\n{w.readable(asked.body)}"


async def test_a_verdict_calls_whoever_said_go_and_a_new_run_folds_that_away(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.sim.collaborator(w.repository, "mae", "write")
        await w.to_question()
        assert w.notices() == []
        await w.says("mae", "go")
        assert w.notices() == []
        await w.ferry_ends()
        golden("notices/pass", "\n".join(w.notices()))
        await w.says("rev", "@perf-gate retry")
        assert w.notices() == []
        assert len(w.notices(hidden=True)) == 1
        await w.says("rev", "go")
        await w.ferry_ends(normalize=1100.0)
        golden("notices/fail", "\n".join(w.notices()))
        w.canonical()
        w.new_comments()


async def test_a_halt_calls_reviewer_and_author(tmp_path: Path) -> None:
    async with world(tmp_path, change="BROKEN = 4096\n") as w:
        await w.to_question()
        await w.says("rev", "go")
        golden("notices/halted", "\n".join(w.notices()))
        await w.push(WORSE)
        assert (w.notices(), len(w.notices(hidden=True))) == ([], 1)
        w.canonical()
        w.reply()


async def test_a_notice_whose_answer_got_lost_is_folded_away_like_any_other(tmp_path: Path) -> None:
    async with world(tmp_path, change="BROKEN = 4096\n") as w:
        await w.to_question()
        w.sim.fault("drop_after", method="POST", path="*/issues/*/comments", times=1)
        await w.says("rev", "go")
        # Another run begins before the bot comes to look what became of it.
        await w.sim.push(w.repository, w.pull.number, {SHUFFLE: WORSE})
        await w.settle()
        await w.live_through(timedelta(minutes=1))
        assert (w.notices(), len(w.notices(hidden=True))) == ([], 1)
        w.canonical()
        w.reply()


async def test_a_question_whose_answer_got_lost_is_settled_like_any_other(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        held = w.sim.fault("hold", method="GET", path="/repos/marin-community/marin")
        await w.sim.comment(w.repository, w.pull.number, "rev", "@perf-gate")
        await w.sim.wait_for(lambda: held.hits > 0 and bool(w.comments()))
        w.sim.fault("drop_after", method="POST", path="*/issues/*/comments", times=1)
        w.sim.release_fault(held)
        await w.settle()
        await w.says("rev", "@perf-gate stop")
        await w.live_through(timedelta(minutes=1))
        assert question(w).startswith("hidden: resolved\n\n> **Settled.**")
        w.canonical()
        w.new_comments()


async def test_stuck_calls_the_reviewer(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.says("rev", "go")
        golden("notices/stuck", "\n".join(w.notices()))
        assert "@rev" not in w.canonical()


async def test_a_warning_that_waits_calls_once_and_its_expiry_does_not(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=970.0)
        golden("notices/continue", "\n".join(w.notices()))
        await w.live_through(timedelta(days=8))
        assert (await w.run()).state is RunState.warned
        assert len(w.notices()) == 1
        w.canonical()


async def test_trouble_calls_once_however_much_there_is(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.iris.start(download=300.0)
        await w.live_through(timedelta(hours=3))
        assert "**Trouble:**" in w.canonical()
        golden("notices/trouble", "\n".join(w.notices()))
        await w.live_through(timedelta(hours=4))
        assert len(w.notices()) == 1
        await w.ferry_ends()
        assert len(w.notices()) == 2
        w.canonical()


async def test_what_is_no_news_calls_nobody(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "@perf-gate skip because of the test")
        await w.says("rev", "@perf-gate retry")
        await w.says("rev", "@perf-gate stop")
        await w.says("rev", "@perf-gate retry")
        await w.push(WORSE)
        await w.sim.close(w.repository, w.pull.number, by="ada")
        await w.settle()
        assert w.notices() == w.notices(hidden=True) == []
        w.canonical()
        w.new_comments()


async def test_a_notice_whose_answer_got_lost_is_said_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.sim.fault("drop_after", method="POST", path="*/issues/*/comments", times=1)
        await w.ferry_ends()
        await w.live_through(timedelta(minutes=1))
        assert len(w.notices()) == 1
        assert "✅ pass" in w.canonical()


async def test_a_question_is_edited_through_its_life_and_folded_away_when_it_is_settled(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        assert question(w).startswith("shown")
        await w.push(WORSE)
        golden("notices/question_of_before", question(w))
        await w.says("rev", "go")
        first = next(one for one in w.comments() if "perf-gate:question" in one.body)
        assert (first.minimized, first.body.splitlines()[0]) == (
            "resolved",
            "> **Settled.** No answer is needed any more: it is asked anew.",
        )
        await w.says("rev", "max_gate=1 because it is late")
        golden("notices/question_answered", question(w))
        w.canonical()
        w.new_comments()


async def test_how_questions_are_settled_without_a_go(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        first_lines = []
        for said in ("skip because of the test", "stop", None):
            await w.says("rev", "@perf-gate retry")
            if said:
                await w.says("rev", f"@perf-gate {said}")
            else:
                await w.live_through(timedelta(days=15))
            first_lines.append(question(w).splitlines()[2])
        golden("notices/questions_settled", "\n".join(first_lines))
        w.canonical()
        w.new_comments()


async def test_where_nothing_can_be_hidden_only_tidiness_is_lost(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        asked = w.question()
        w.sim.fault("status", method="POST", path="/graphql", status=403, message="Forbidden", times=None)
        await w.says("rev", "go")
        assert asked.body.startswith("> **Settled.** `rev` answered")
        assert asked.minimized == ""
        w.sim.clear_faults()
        asked.minimized = "resolved"
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
