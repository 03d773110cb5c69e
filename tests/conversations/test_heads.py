"""The commit that was shown is the commit that runs: pushes, forks, and a main that went on."""

from __future__ import annotations

from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.world import CONFIG, FILES, SHUFFLE, golden, world

WORSE = FILES[SHUFFLE].replace("1024", "9")


async def test_a_push_between_question_and_go_is_named_and_asked_about(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.push(WORSE)
        golden("heads/moved_while_asked", w.canonical())
        assert w.says_nothing()
        await w.says("rev", "@perf-gate go")
        refusal, question = w.new_comments()
        golden("heads/stale_go", refusal.rpartition("\n\n")[0])
        golden("heads/fresh_question", question)
        assert w.iris.submissions == 0
        await w.says("rev", "go")
        assert "watching the ferry" in w.canonical()
        assert (await w.run()).head_sha == w.pull.head_sha


async def test_a_push_during_the_ferry_only_raises_a_banner(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        measured = w.pull.head_sha
        await w.push(WORSE)
        golden("heads/banner", w.canonical())
        await w.ferry_ends()
        verdict = w.canonical()
        golden("heads/verdict_under_a_banner", verdict)
        assert (await w.run()).head_sha == measured
        assert w.iris.submissions == 1


async def test_a_verdict_says_when_the_head_is_no_longer_what_it_judged(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends()
        judged = w.pull.head_sha
        await w.push(WORSE)
        golden("heads/verdict_of_an_older_head", w.canonical())
        await w.sim.move_branch(w.repository, "feature", judged, by="ada")
        await w.settle()
        assert "The head has moved" not in w.canonical()


async def test_pushes_told_in_the_wrong_order_are_told_right(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        w.sim.hold_deliveries()
        for buffer in ("2", "3"):
            await w.sim.push(w.repository, w.pull.number, {SHUFFLE: FILES[SHUFFLE].replace("1024", buffer)})
        await w.sim.release_deliveries(reverse=True)
        await w.settle()
        assert f"The head has moved to `{w.pull.head_sha[:10]}`" in w.canonical()
        await w.sim.move_branch(w.repository, "feature", (await w.run()).head_sha, by="ada")
        await w.settle()
        assert "The head has moved" not in w.canonical()


async def test_a_fix_pushed_to_a_halted_run_is_asked_about_unasked(tmp_path: Path) -> None:
    async with world(tmp_path, change="BROKEN = 4096\n") as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "go")
        assert (await w.run()).state is RunState.halted
        w.canonical()
        await w.push(WORSE)
        golden("heads/after_a_halt", w.reply())
        await w.says("rev", "go")
        assert "watching the ferry" in w.canonical()


async def test_what_main_did_after_the_branch_point_is_not_in_the_question(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.sim.commit(
            w.repository, "main", {"lib/zephyr/src/zephyr/plan.py": "PLAN = 1\n", SHUFFLE: FILES[SHUFFLE] + "# main\n"}
        )
        question = await w.to_question()
        golden("heads/main_went_on", question)
        assert "plan.py" not in question


async def test_main_merged_into_the_branch_is_no_change_of_the_pull_request(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        main = await w.sim.commit(w.repository, "main", {"lib/zephyr/src/zephyr/plan.py": "PLAN = 1\n"})
        assert w.pull.head_sha is not None
        git = w.repository.git
        merged = await git.merge(
            w.pull.head_sha, main, message="Merge main", identity=w.sim.world.identity(w.sim.account("ada"))
        )
        assert merged is not None
        await w.sim.move_branch(w.repository, "feature", merged, by="ada")
        await w.settle()
        question = await w.to_question()
        assert "shuffle.py" in question
        assert "plan.py" not in question


async def test_a_force_push_that_drops_the_shown_commit_is_a_push_like_any_other(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        base = await w.repository.git.resolve("refs/heads/main")
        assert base is not None
        await w.sim.commit(w.repository, "other", {SHUFFLE: WORSE}, author="ada")
        other = await w.repository.git.resolve("refs/heads/other")
        assert other is not None
        await w.sim.move_branch(w.repository, "feature", other, by="ada")
        await w.settle()
        await w.says("rev", "go")
        refusal, question = w.new_comments()
        assert other[:10] in refusal
        assert other[:10] in question
        assert (await w.run()).merge_base == base


async def test_a_fork_is_asked_about_with_a_warning_and_runs(tmp_path: Path) -> None:
    async with world(tmp_path, fork_owner="ada") as w:
        await w.scheduled_run()
        golden("heads/fork_question", await w.to_question())
        await w.says("rev", "go")
        assert "watching the ferry" in w.canonical()
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()


async def test_a_deleted_fork_changes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, fork_owner="ada") as w:
        await w.scheduled_run()
        await w.sim.delete_fork(w.repository, w.pull.number)
        assert "This is a fork" in await w.to_question()
        await w.says("rev", "go")
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()


async def test_the_configuration_of_the_head_is_not_read(tmp_path: Path) -> None:
    lax = CONFIG.replace("[[preflight.commands]]", "[permissions]\ngo = 'triage'\n\n[[preflight.commands]]")
    files = {SHUFFLE: WORSE, ".github/perf-gate.toml": lax.replace("ladder = [1]", "ladder = [3]")}
    async with world(tmp_path, files=files) as w:
        await w.sim.collaborator(w.repository, "sorter", "triage")
        await w.to_question()
        run = await w.run()
        assert [plan.number for plan in run.plan] == [1]
        await w.says("sorter", "go")
        golden("permission/denied", w.reply_without_marker())
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_a_pull_request_to_another_branch_is_compared_with_that_branch(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.sim.commit(w.repository, "release", {SHUFFLE: FILES[SHUFFLE] + "# release\n"}, author="ada")
        await w.sim.commit(w.repository, "backport", {"docs/index.md": "# M\n"}, author="ada")
        release = await w.repository.git.resolve("refs/heads/release")
        assert release is not None
        await w.repository.git.update_ref("refs/heads/backport", release)
        other = await w.another_pull(head="backport", base="release", files={SHUFFLE: WORSE})
        question = await other.to_question()
        assert "BUFFER" in question
        assert (await other.run()).merge_base == release
        assert (await other.run()).base_ref == "release"
