"""The check run on the head commit: what it shows, and that nobody may by button what they may not by word."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import CONFIG, FILES, SHUFFLE, World, golden, world

WORSE = FILES[SHUFFLE].replace("1024", "9")
WITHOUT = "checks = false\n" + CONFIG


def conclusions(w: World) -> list[tuple[str, str | None]]:
    return [(run.status, run.conclusion) for run in w.checks()]


async def test_it_asks_runs_and_tells_the_verdict(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        golden("check_run/1_waiting", w.check())
        await w.presses("rev", "go")
        assert "watching the ferry" in w.canonical()
        golden("check_run/2_measuring", w.check())
        await w.ferry_ends()
        golden("check_run/3_pass", w.check())
        assert "✅ pass" in w.canonical()
        # What asked stays answered: a completed check run never runs again, so the run has one of its own.
        assert conclusions(w) == [("completed", "action_required"), ("completed", "success")]
        assert len({run.external_id for run in w.checks()}) == 2
        assert {run.suite.head_sha for run in w.checks()} == {w.pull.head_sha}
        assert w.says_nothing()


async def test_the_ends_and_what_they_mean_for_the_commit(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1100.0)
        golden("check_run/fail", w.check())
        for said, conclusion in (("skip because of the test", "skipped"), ("stop", "cancelled")):
            await w.says("rev", "@perf-gate assess")
            assert conclusions(w)[-1] == ("completed", "action_required")
            await w.says("rev", f"@perf-gate {said}")
            assert conclusions(w)[-1] == ("completed", conclusion)
            w.new_comments()


async def test_a_red_preflight_is_a_red_check_and_no_baseline_needs_somebody(tmp_path: Path) -> None:
    async with world(tmp_path, change="BROKEN = 4096\n") as w:
        await w.to_question()
        await w.says("rev", "go")
        golden("check_run/halted", w.check())
        w.canonical()
        await w.push(WORSE)
        w.reply()
        assert conclusions(w)[-1] == ("completed", "action_required")
        assert w.checks()[-1].suite.head_sha == w.pull.head_sha
        await w.says("rev", "go")
        golden("check_run/stuck", w.check())
        w.canonical()


async def test_out_of_scope_is_skipped_and_a_forced_run_is_not(tmp_path: Path) -> None:
    async with world(tmp_path, files={"docs/index.md": "# M\n"}) as w:
        await w.says("rev", "@perf-gate")
        golden("check_run/out_of_scope", w.check())
        w.canonical()


async def test_continue_after_a_warning_and_the_next_gate_has_a_check_of_its_own(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends(normalize=970.0)
        golden("check_run/warned", w.check())
        await w.presses("rev", "continue")
        assert conclusions(w)[-1] == ("in_progress", None)
        await w.ferry_ends()
        assert conclusions(w)[-1] == ("completed", "success")
        assert w.iris.submissions == 2
        w.canonical()


async def test_a_button_is_asked_for_its_permission_like_a_comment(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        w.sim.account("eve")
        await w.presses("eve", "go")
        golden("check_run/denied", w.reply_without_marker())
        await w.presses("ada", "skip")
        golden("check_run/author_skips", w.reply_without_marker())
        assert (await w.run()).state is RunState.awaiting_reviewer
        await w.presses("rev", "skip")
        assert (await w.run()).state is RunState.waived
        assert (await w.run()).approved_by == "rev"
        golden("check_run/waived", w.check())
        w.canonical()


async def test_an_author_under_another_name_is_the_author_all_the_same(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        # No delivery about the pull request itself tells of the new name.
        await w.sim.rename_account("ada", "lovelace")
        await w.presses("lovelace", "skip")
        assert "the author of a pull request cannot weaken its gate" in w.reply()
        assert (await w.run()).state is RunState.awaiting_reviewer
        # The name that is free again is somebody else's, who may not.
        w.sim.account("ada")
        await w.presses("ada", "skip")
        assert "needs `write` access" in w.reply()
        assert (await w.run()).state is RunState.awaiting_reviewer
        w.canonical()


async def test_a_button_of_before_does_nothing_and_a_push_is_named(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        asked = w.checks()[0]
        await w.push(WORSE)
        await w.presses("rev", "go")
        stale, question = w.new_comments()[-2:]
        golden("check_run/stale_go", stale.rpartition("\n\n")[0])
        assert w.pull.head_sha[:10] in question
        assert conclusions(w) == [("completed", "cancelled"), ("completed", "action_required")]
        assert asked.actions == []
        # A press of just before arrives after it.
        asked.actions = [{"label": "Go", "identifier": "go", "description": "Run"}]
        await w.sim.press(asked, "go", by="rev")
        await w.settle()
        golden("check_run/button_of_before", w.reply_without_marker())
        assert w.iris.submissions == 0
        w.canonical()


async def test_re_run_is_retry_and_the_suite_is_done_again_whatever_came_of_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends()
        await w.sim.rerequest(w.checks()[-1], by="rev")
        await w.settle()
        assert "Proposed max_gate" in w.reply()
        assert (await w.run()).ordinal == 2
        assert w.checks()[-1].suite.status == "completed"
        # Whoever may not is told so, and what GitHub queued is done again.
        w.sim.account("eve")
        await w.sim.rerequest(w.checks()[-1], by="eve")
        await w.settle()
        golden("check_run/re_run_denied", w.reply_without_marker())
        assert w.checks()[-1].suite.status == "completed"
        w.canonical()


async def test_re_run_all_checks_is_retry_on_a_fork_too(tmp_path: Path) -> None:
    async with world(tmp_path, fork_owner="ada") as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends()
        await w.sim.rerequest_suite(w.checks()[-1].suite, by="rev")
        await w.settle()
        assert "Proposed max_gate" in w.reply()
        assert (await w.run()).ordinal == 2
        assert w.checks()[-1].suite.status == "completed"
        w.canonical()


async def test_a_fork_has_it_too(tmp_path: Path) -> None:
    async with world(tmp_path, fork_owner="ada") as w:
        await w.scheduled_run()
        await w.to_question()
        await w.presses("rev", "go")
        assert "watching the ferry" in w.canonical()
        await w.ferry_ends()
        assert conclusions(w)[-1] == ("completed", "success")
        w.canonical()


async def test_a_repository_that_wants_none_has_none(tmp_path: Path) -> None:
    async with world(tmp_path, config=WITHOUT) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        assert w.checks() == []
        assert not [one for one in w.sim.requests() if "check-runs" in one.path]


async def test_one_that_was_made_though_its_answer_got_lost_is_found_again(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.fault("drop_after", method="POST", path="*/check-runs", times=1)
        await w.to_question()
        await w.live_through(timedelta(minutes=1))
        assert conclusions(w) == [("completed", "action_required")]
        await w.presses("rev", "skip")
        assert conclusions(w) == [("completed", "skipped")]
        w.canonical()


async def test_one_whose_answer_got_lost_does_not_run_for_ever(tmp_path: Path) -> None:
    async with world(tmp_path, change="BROKEN = 4096\n") as w:
        await w.to_question()
        w.sim.fault("drop_after", method="POST", path="*/check-runs", times=1)
        # It halts before the bot comes to ask what became of the check run that showed it under way.
        await w.says("rev", "go")
        await w.live_through(timedelta(minutes=1))
        assert conclusions(w) == [("completed", "action_required"), ("completed", "failure")]
        w.canonical()


async def test_one_that_was_made_twice_is_settled_once_both_are_seen(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.sim.fault("drop_after", method="POST", path="*/check-runs", times=1)
        # GitHub's listing does not have the lost one yet when the bot looks for it.
        w.sim.fault("stale", method="GET", path="*/check-runs", times=3)
        await w.says("rev", "go")
        await w.live_through(timedelta(minutes=1))
        assert conclusions(w) == [("completed", "action_required"), ("completed", "cancelled"), ("in_progress", None)]
        await w.ferry_ends()
        assert conclusions(w)[-1] == ("completed", "success")
        w.canonical()


async def test_without_the_permission_the_comment_says_it_all(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        (installation,) = w.sim.world.installations.values()
        kept = dict(installation.permissions)
        await w.sim.grant(installation, {name: level for name, level in kept.items() if name != "checks"})
        await w.to_ferrying()
        assert w.checks() == []
        # An owner grants it: the next news shows it.
        await w.sim.grant(installation, kept)
        w.sim.world.tokens.clear()
        await w.ferry_ends()
        assert conclusions(w) == [("completed", "success")]
        assert "✅ pass" in w.canonical()


async def test_what_nobody_pressed_for_us_costs_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        before = w.asked_github()
        run = w.checks()[-1]
        run.external_id = "somebody-elses"
        await w.presses("rev", "go")
        await w.sim.rerequest(run, by="rev")
        await w.settle()
        assert w.asked_github() == before
        assert w.says_nothing()
