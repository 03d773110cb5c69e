"""Who may command, and what a stranger, the author and a machine are told."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.heard import BOT, SENTINEL
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import CONFIG, golden, world

MAINTAINERS = CONFIG + '\n[permissions]\ngo = "maintain"\nskip = "admin"\n'


async def test_a_stranger_is_thanked_and_nothing_runs(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        for login, role in (("eve", None), ("reader", "read"), ("sorter", "triage")):
            w.sim.account(login)
            if role:
                await w.sim.collaborator(w.repository, login, role)
            await w.says(login, "@perf-gate go max_gate=3")
            golden("permission/denied", w.reply_without_marker())
        assert await w.app.engine.read(w.key) is not None
        assert not any(comment.body.startswith(SENTINEL) for comment in w.comments())
        assert w.iris.submissions == 0
        asked = {one.operation for one in w.sim.requests()}
        assert "GET /repos/{owner}/{repo}/pulls/{pull_number}" not in asked


async def test_a_strangers_bare_go_does_not_answer_for_the_reviewer(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        w.sim.account("eve")
        await w.says("eve", "go")
        golden("permission/denied", w.reply_without_marker())
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_a_repository_can_leave_the_answer_to_its_maintainers(tmp_path: Path) -> None:
    async with world(tmp_path, config=MAINTAINERS) as w:
        await w.scheduled_run()
        await w.sim.collaborator(w.repository, "mae", "maintain")
        await w.to_question()
        await w.says("rev", "go")
        golden("permission/denied_maintain", w.reply_without_marker())
        await w.says("mae", "@perf-gate skip because it is late")
        golden("permission/denied_admin", w.reply_without_marker())
        await w.says("mae", "go")
        assert "watching the ferry" in w.canonical()
        assert w.iris.submissions == 1


async def test_a_custom_role_counts_as_what_it_stands_for(tmp_path: Path) -> None:
    async with world(tmp_path, config=MAINTAINERS) as w:
        await w.sim.collaborator(w.repository, "cus", "write", role_name="maintainer-ish")
        await w.to_question()
        await w.says("cus", "go")
        golden("permission/denied_maintain", w.reply_without_marker())


async def test_no_machine_commands_and_the_app_does_not_talk_to_itself(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.account("dependabot[bot]", "Bot")
        before = w.asked_github()
        await w.says("dependabot[bot]", "@perf-gate go max_gate=1")
        await w.says(BOT, "@perf-gate go")
        # What a machine said is looked at here, since the harness counts the App's own words as the bot's.
        assert w.new_comments() == ["@perf-gate go"]
        assert w.asked_github() == before
        assert await w.app.engine.read(w.key) is None


async def test_the_author_cannot_waive_or_lower_and_another_can(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.to_question()
        await w.says("ada", "@perf-gate skip because it is only a number")
        golden("permission/author_skips", w.reply_without_marker())
        await w.says("ADA", "max_gate=1 it is small")
        golden("permission/author_lowers", w.reply_without_marker())
        assert (await w.run()).state is RunState.awaiting_reviewer
        await w.says("rev", "@perf-gate skip because it is only a number")
        waived = w.canonical()
        golden("permission/waived", waived)
        assert len(waived.strip().splitlines()) == 2
        assert w.iris.submissions == 0


async def test_the_author_may_run_what_was_proposed_or_more(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("ada", "go")
        assert "watching the ferry" in w.canonical()


async def test_the_author_cannot_lower_by_asking_first_and_answering_bare(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.says("ada", "@perf-gate max_gate=1 because it is small")
        w.canonical()
        golden("permission/author_asks_for_less", w.reply())
        await w.says("ada", "go")
        golden("permission/author_lowers", w.reply_without_marker())
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_nothing_is_run_for_somebody_who_lost_access_between_question_and_go(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.sim.collaborator(w.repository, "rev", "read")
        # What somebody may do is believed for a minute.
        await w.live_through(timedelta(minutes=1))
        await w.says("rev", "@perf-gate go")
        golden("permission/denied", w.reply_without_marker())
        assert w.iris.submissions == 0
