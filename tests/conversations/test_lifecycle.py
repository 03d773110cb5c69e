"""What becomes of a run when its pull request, its comments or its App change: told for the states it can be in.

A golden file each holds the same event met in every state: the state after it, the top of the canonical comment, and
whatever else was said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.gating.states import RunState
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import FILES, SHUFFLE, World, golden, world

WORSE = FILES[SHUFFLE].replace("1024", "9")
STATES = (
    RunState.awaiting_reviewer,
    RunState.queued,
    RunState.ferrying,
    RunState.awaiting_escalation,
    RunState.passed,
    RunState.out_of_scope,
)


async def come_to(w: World, state: RunState) -> World:
    """The pull request whose run is in this state: the first one, or a second that waits for the first one's tier."""
    if state is RunState.out_of_scope:
        other = await w.another_pull(files={"docs/index.md": "# M\n"})
        await other.says("rev", "@perf-gate")
        return other
    await w.to_question()
    if state is RunState.awaiting_reviewer:
        return w
    await w.says("rev", "max_gate=1 because" if state is RunState.passed else "go")
    if state is RunState.queued:
        other = await w.another_pull()
        await other.to_question()
        await other.says("rev", "go")
        return other
    if state is not RunState.ferrying:
        await w.ferry_ends(normalize=970.0 if state is RunState.awaiting_escalation else 900.0)
    return w


def looked_at(w: World) -> None:
    for number in w.repository.issues:
        w._seen.update(comment.id for comment in w.sim.comments(w.repository, number))


async def told(w: World, state: RunState) -> str:
    """The run, the top of the canonical comment, and what else was said since."""
    top = w.canonical().split("\n\n")
    banner = [part for part in top[1:3] if part.startswith("> ")]
    said = [body.rpartition("\n\n")[0].split("\n")[0] for body in w.new_comments()]
    notices = [notice for notice in w.notices() if "trouble" not in notice]
    check = w.checks()[-1] if w.checks() else None
    run = await w.run()
    lines = [f"# {state} → {run.state}", "", top[0], *banner]
    lines += [f"said: {line}" for line in said] + [f"notice: {line}" for line in notices]
    if check is not None:
        lines.append(f"check run: {check.status} {check.conclusion or ''}, buttons {len(check.actions)}".strip())
    return "\n".join(lines)


async def push(w: World) -> None:
    await w.push(WORSE)


async def close(w: World) -> None:
    await w.sim.close(w.repository, w.pull.number, by="ada")


async def merge(w: World) -> None:
    await w.sim.merge(w.repository, w.pull.number, by="rev")


async def close_and_reopen(w: World) -> None:
    await close(w)
    await w.settle()
    await w.sim.reopen(w.repository, w.pull.number, by="ada")


async def change_base(w: World) -> None:
    await w.sim.commit(w.repository, "release", {"docs/release.md": "1\n"})
    await w.sim.edit_pull(w.repository, w.pull.number, by="ada", base="release")


async def delete_comments(w: World) -> None:
    """Somebody tidies up: all that the bot wrote goes."""
    for comment in w.comments():
        await w.sim.delete_comment(comment, by="ada")


async def edit_comment(w: World) -> None:
    await w.sim.edit_comment(w.canonical_id(), "<!-- zephyr-perf-gate -->\nAll is well.", by="ada")


EVENTS: dict[str, Callable[[World], Awaitable[None]]] = {
    "push": push,
    "close": close,
    "merge": merge,
    "close_and_reopen": close_and_reopen,
    "change_base": change_base,
    "delete_comments": delete_comments,
    "edit_comment": edit_comment,
}


@pytest.mark.parametrize("name", EVENTS)
async def test_in_every_state(tmp_path: Path, name: str) -> None:
    found = []
    for state in STATES:
        async with world(tmp_path / state, config=LADDER) as first:
            await first.scheduled_run()
            await first.scheduled_run(2)
            w = await come_to(first, state)
            assert (await w.run()).state is state
            looked_at(w)
            submissions = w.iris.submissions
            await EVENTS[name](w)
            await w.settle()
            found.append(await told(w, state))
            assert w.iris.submissions == submissions
            looked_at(w)
            looked_at(first)
    golden(f"lifecycle/{name}", "\n\n\n".join(found))


async def test_a_draft_a_title_and_a_description_are_nobodys_affair(tmp_path: Path) -> None:
    async with world(tmp_path, draft=True) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        before, state = w.asked_github(), await w.run()
        await w.sim.set_draft(w.repository, w.pull.number, False, by="ada")
        await w.sim.set_draft(w.repository, w.pull.number, True, by="ada")
        await w.sim.edit_pull(w.repository, w.pull.number, by="ada", title="@perf-gate stop", body="@perf-gate stop")
        await w.settle()
        assert (w.asked_github(), await w.run()) == (before, state)
        assert w.says_nothing()


async def test_a_push_while_the_diff_is_read_is_read_too(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        held = w.sim.fault("hold", method="GET", path="/repos/marin-community/marin")
        await w.sim.comment(w.repository, w.pull.number, "rev", "@perf-gate")
        await w.sim.wait_for(lambda: held.hits > 0)
        # The commit of before was read already.
        await w.sim.push(w.repository, w.pull.number, {SHUFFLE: WORSE})
        await w.sim.settled()
        w.sim.release_fault(held)
        await w.settle()
        await w.live_through(timedelta(minutes=1))
        assert w.pull.head_sha[:10] in w.reply()
        assert (await w.run()).head_sha == w.pull.head_sha
        assert "The head has moved" not in w.canonical()


async def test_answers_after_the_base_changed_ask_anew(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        await change_base(w)
        await w.settle()
        assert "The base is `release` now" in w.canonical()
        assert "The base is `release` now" in w.question().body
        await w.says("rev", "go")
        refusal, question = w.new_comments()
        assert "but the base is now `release`" in refusal
        assert "Proposed max_gate" in question
        assert "The base is" not in w.canonical()
        await w.says("rev", "go")
        assert "watching the ferry" in w.canonical()


async def installation_of(w: World) -> int:
    return next(iter(w.sim.world.installations))


@pytest.mark.parametrize("state", [RunState.awaiting_reviewer, RunState.queued, RunState.ferrying])
async def test_an_uninstalled_app_starts_nothing_and_ends_what_runs(tmp_path: Path, state: RunState) -> None:
    async with world(tmp_path, config=LADDER) as first:
        await first.scheduled_run()
        await first.scheduled_run(2)
        w = await come_to(first, state)
        looked_at(w)
        before, submissions = w.canonical(), w.iris.submissions
        await w.sim.uninstall(await installation_of(w))
        await w.says("rev", "@perf-gate go")
        assert w.canonical() == before
        assert w.iris.submissions == submissions
        looked_at(first)


async def test_installed_again_it_goes_on_by_itself(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.sim.uninstall(await installation_of(w))
        w.iris.start(download=300.0)
        await w.live_through(timedelta(minutes=20))
        (app,) = w.sim.world.apps.values()
        await w.sim.install(app, w.repository)
        await w.app.rounds.make()
        await w.settle()
        await w.ferry_ends()
        await w.live_through(timedelta(minutes=10))
        assert "✅ pass" in w.canonical()


async def test_suspended_it_waits_and_unsuspended_it_says_what_it_has_to(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        before = w.canonical()
        await w.sim.suspend(await installation_of(w))
        await w.ferry_ends()
        await w.live_through(timedelta(hours=2))
        assert (await w.run()).state is RunState.passed
        assert w.canonical() == before
        await w.sim.unsuspend(await installation_of(w))
        await w.live_through(timedelta(minutes=10))
        assert "✅ pass" in w.canonical()


async def test_a_repository_that_is_taken_from_it_hears_no_more_and_its_ferry_ends_well(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        before = w.canonical()
        await w.sim.remove_repository(await installation_of(w), w.repository)
        await w.ferry_ends()
        assert (await w.run()).state is RunState.passed
        assert w.canonical() == before
        await w.live_through(timedelta(days=2))
        silent = w.asked_github()
        await w.live_through(timedelta(days=2))
        assert w.asked_github() == silent


async def test_without_the_permission_to_write_comments_the_ferry_ends_and_the_comment_comes_with_it(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        (installation,) = w.sim.world.installations.values()
        kept = dict(installation.permissions)
        await w.sim.grant(installation, kept | {"issues": "read", "pull_requests": "read"})
        before = w.canonical()
        await w.ferry_ends()
        assert (await w.run()).state is RunState.passed
        assert w.canonical() == before
        # The check run needs another permission: it tells the verdict all the same.
        assert (w.checks()[-1].status, w.checks()[-1].conclusion) == ("completed", "success")
        await w.sim.grant(installation, kept)
        await w.live_through(timedelta(minutes=20))
        assert "✅ pass" in w.canonical()


async def test_a_transferred_repository_goes_on_where_the_operator_serves_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        before = w.canonical()
        await w.sim.transfer_repository(w.repository, "elsewhere")
        await w.ferry_ends()
        assert (await w.run()).state is RunState.passed
        assert w.canonical() == before
        # Its new name is none that this operator serves: nothing of it is heard.
        (app,) = w.sim.world.apps.values()
        await w.sim.install(app, w.repository)
        await w.says("rev", "@perf-gate retry")
        assert (await w.run()).ordinal == 1
        assert w.says_nothing()
