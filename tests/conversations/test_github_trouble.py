"""GitHub on a bad day: answers that get lost, limits, stale listings, and people who touch the bot's comments."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.heard import BOT, SENTINEL
from tests.conversations.world import World, world

COMMENTS = "*/issues/*/comments"
PULLS = "*/pulls/*"


def texts(w: World) -> tuple[int, int]:
    """How many canonical comments and how many questions of the bot there are."""
    bodies = [comment.body for comment in w.comments()]
    return sum(b.startswith(SENTINEL) for b in bodies), sum("Proposed max_gate" in b for b in bodies)


async def test_comments_whose_answers_get_lost_are_not_written_twice(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("drop_after", method="POST", path=COMMENTS, times=2)
        await w.says("rev", "@perf-gate")
        await w.live_through(timedelta(minutes=1))
        assert texts(w) == (1, 1)
        assert (await w.run()).question_id == next(c.id for c in w.comments() if "Proposed" in c.body)
        w.canonical()
        w.reply()


async def test_an_ambiguous_bad_gateway_and_a_listing_that_lags_behind_leave_one_comment(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("status_after", method="POST", path=COMMENTS, status=502, times=2)
        await w.says("rev", "@perf-gate")
        # What was just posted is not listed yet when the bot looks for it.
        w.sim.fault("stale", method="GET", path=COMMENTS, times=2)
        await w.live_through(timedelta(minutes=2))
        await w.says("rev", "@perf-gate stop")
        assert "stopped by rev" in w.canonical()
        assert texts(w) == (1, 1)
        w.new_comments()


async def test_a_reply_whose_answer_got_lost_is_said_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("drop_after", method="POST", path=COMMENTS)
        await w.says("rev", "@perf-gate help")
        await w.live_through(timedelta(minutes=1))
        assert "What can be said to me" in w.reply()


async def test_a_reply_that_was_being_written_when_the_bot_stopped_is_said_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("status_after", method="POST", path=COMMENTS)
        # It is not listed yet, neither before the first attempt nor before the second.
        w.sim.fault("stale", method="GET", path=COMMENTS, times=2)
        await w.says("rev", "@perf-gate help")
        with closing(sqlite3.connect(w.app.rooms.settings.database_file, isolation_level=None)) as store:
            # As where a stop in good order cut the attempt short: it does not count, and yet it has acted.
            store.execute("UPDATE effects SET attempts = attempts - 1 WHERE kind = 'help' AND status = 'pending'")
        await w.live_through(timedelta(minutes=1))
        assert sum("What can be said to me" in said for said in w.new_comments()) == 1


async def test_edits_whose_answers_get_lost_end_in_the_right_comment(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.sim.fault("drop_after", method="PATCH", times=3)
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert texts(w) == (1, 1)


async def test_bad_gateways_on_reads_are_waited_out(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        for status in (502, 503):
            w.sim.fault("status", method="GET", status=status, times=2)
        w.sim.fault("drop", method="GET", path=PULLS)
        await w.says("rev", "@perf-gate")
        await w.live_through(timedelta(minutes=2))
        assert texts(w) == (1, 1)
        w.canonical()
        w.reply()
        w.sim.fault("status", method="GET", path="*/actions/*", status=503, times=4)
        await w.says("rev", "go")
        await w.live_through(timedelta(minutes=2))
        assert w.iris.submissions == 1
        assert "watching the ferry" in w.canonical()


async def test_a_github_that_is_down_for_hours_is_said_once_it_is_back(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        down = w.sim.fault("status", status=503, times=None)
        await w.ferry_ends()
        await w.live_through(timedelta(hours=5))
        assert down.hits > 0
        w.sim.clear_faults()
        await w.live_through(timedelta(minutes=10))
        assert "✅ pass" in w.canonical()
        assert texts(w) == (1, 1)


async def test_the_secondary_limit_is_obeyed_to_the_second(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("secondary_limit", method="POST", path=COMMENTS, seconds=90)
        await w.says("rev", "@perf-gate")
        silent = w.asked_github()
        await w.live_through(timedelta(seconds=89))
        assert w.asked_github() == silent
        assert w.comments() == []
        await w.live_through(timedelta(minutes=3))
        assert texts(w) == (1, 1)
        w.canonical()
        w.reply()


async def test_a_limit_on_buying_tokens_is_obeyed_by_all_that_need_one(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("secondary_limit", method="POST", path="/app/installations/*", seconds=90)
        await w.says("rev", "@perf-gate")
        silent = w.asked_github()
        await w.live_through(timedelta(seconds=89))
        assert w.asked_github() == silent
        await w.live_through(timedelta(minutes=3))
        assert texts(w) == (1, 1)
        w.canonical()
        w.reply()


async def test_the_primary_limit_is_waited_out_until_its_reset(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("primary_limit", method="GET", path="*/permission")
        await w.says("rev", "@perf-gate")
        assert w.comments() == []
        await w.live_through(timedelta(minutes=59))
        assert w.comments() == []
        await w.live_through(timedelta(minutes=5))
        assert texts(w) == (1, 1)
        w.canonical()
        w.reply()


async def test_a_token_that_expired_overnight_is_renewed(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.live_through(timedelta(hours=26))
        await w.scheduled_run()
        await w.says("rev", "go")
        assert w.iris.submissions == 1
        assert "watching the ferry" in w.canonical()
        assert not any(one.status == 401 for one in w.sim.requests())


async def test_a_token_that_github_forgot_is_bought_anew(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.sim.world.tokens.clear()
        await w.says("rev", "go")
        assert "watching the ferry" in w.canonical()
        assert w.iris.submissions == 1


async def test_a_pull_request_that_is_404_right_after_its_webhook(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("status", method="GET", path=PULLS, status=404, message="Not Found", times=4)
        await w.says("rev", "@perf-gate")
        await w.live_through(timedelta(minutes=1))
        assert texts(w) == (1, 1)
        w.canonical()
        w.reply()


async def test_a_deleted_canonical_comment_comes_back_with_the_next_news(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        gone = w.canonical_id()
        await w.sim.delete_comment(gone, by="rev")
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert w.canonical_id() != gone


async def test_a_forged_sentinel_is_left_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        forged = f"{SENTINEL}\n🤖 ## Zephyr perf gate — Gate 1 (smoke)\n**Verdict:** ✅ pass"
        w.sim.account("other[bot]", "Bot")
        lies = [await w.sim.comment(w.repository, w.pull.number, who, forged) for who in ("ada", "other[bot]")]
        await w.settle()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1100.0)
        assert "❌ fail" in w.canonical()
        assert [lie.body for lie in lies] == [forged, forged]


async def test_a_comment_of_ours_that_somebody_edited_is_made_true_again(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.sim.edit_comment(w.canonical_id(), f"{SENTINEL}\nAll is well.", by="ada")
        await w.ferry_ends(normalize=1100.0)
        assert "❌ fail" in w.canonical()
        assert "All is well" not in w.canonical()


async def test_a_renamed_repository_is_the_same_one(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.sim.rename_repository(w.repository, "submarine")
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert texts(w) == (1, 1)


async def test_an_app_that_was_uninstalled_loses_the_comment_and_nothing_else(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        (app,) = w.sim.world.apps.values()
        (installation,) = [one for one in w.sim.world.installations.values() if one.app is app]
        await w.sim.uninstall(installation)
        await w.ferry_ends()
        assert (await w.run()).state is RunState.passed
        assert "watching the ferry" in w.canonical()
        assert all(comment.author.login == BOT for comment in w.comments())


async def test_an_app_that_was_uninstalled_asks_for_a_day_and_then_no_more(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        (installation,) = w.sim.world.installations
        await w.sim.uninstall(installation)
        await w.ferry_ends()
        await w.live_through(timedelta(hours=23))
        before = w.asked_github()
        await w.live_through(timedelta(hours=2))
        asked = w.asked_github()
        assert asked > before
        await w.live_through(timedelta(days=2))
        assert w.asked_github() == asked
        assert (await w.run()).state is RunState.passed
        w.canonical()


async def test_a_go_that_met_an_outage_of_hours_is_obeyed_when_it_is_over(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.sim.fault("status", status=503, times=None)
        await w.says("rev", "@perf-gate go")
        await w.live_through(timedelta(hours=3))
        w.sim.clear_faults()
        await w.live_through(timedelta(minutes=10))
        assert w.iris.submissions == 1
        assert "watching the ferry" in w.canonical()


async def test_an_answer_and_an_assessment_outlast_an_outage_of_hours(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("status", status=503, times=None)
        await w.says("rev", "@perf-gate flood")
        await w.says("rev", "@perf-gate")
        await w.live_through(timedelta(hours=3))
        w.sim.clear_faults()
        await w.live_through(timedelta(minutes=10))
        said = w.new_comments()
        assert sum("flood" in body for body in said) == 1
        assert texts(w) == (1, 1)
