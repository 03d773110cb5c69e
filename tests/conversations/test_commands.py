"""What can be said to the bot, what is no command at all, and what it says to both."""

from __future__ import annotations

from pathlib import Path

from bot.gating.model import PullRequest
from bot.gating.states import RunState
from tests.conversations.world import CONFIG, golden, world


async def test_help_status_and_words_that_are_no_command(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.account("eve")
        for login, body, name in (
            ("eve", "@perf-gate help", "help"),
            ("eve", "@perf-gate status", "status_before"),
            ("rev", "@perf-gate statsu", "did_you_mean"),
            ("rev", "@perf-gate please be kind", "misunderstood"),
            ("rev", "@perf-gate max_gate=7", "max_gate_7"),
            ("rev", "@perf-gate go\n\n@perf-gate stop", "several"),
            ("rev", "@perf-gate stop", "nothing_to_stop"),
            ("rev", "@perf-gate continue", "nothing_to_continue"),
        ):
            await w.says(login, body)
            golden(f"commands/{name}", w.reply_without_marker())
        await w.to_question()
        await w.says("eve", "@perf-gate status")
        golden("commands/status_waiting", w.reply_without_marker())
        assert w.iris.submissions == 0


NOT_ADDRESSED = (
    "`@perf-gate go`",
    "```\n@perf-gate go\n```",
    "    @perf-gate go",
    "> @perf-gate go\n\nwhat does this do?",
    "# @perf-gate",
    "<!-- @perf-gate go -->",
    "<pre>@perf-gate go</pre>",
    "[@perf-gate go](https://example.org)",
    "me@perf-gate go",
    "@perf-gate-bot go",
    "@perf-gates go",
    "go",
    "max_gate=3",
    "LGTM",
)


async def test_what_does_not_address_the_bot_costs_no_request_and_leaves_no_trace(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        before = w.asked_github()
        for body in NOT_ADDRESSED:
            said = await w.says("rev", body)
            assert w.asked_github() == before, body
            assert w.reactions(said) == [], body
            assert w.says_nothing(), body
            assert await w.app.engine.read(w.key) in (None, PullRequest()), body


async def test_a_bare_go_counts_only_while_the_bot_waits_for_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        said = await w.says("rev", "  Go!  ")
        assert w.reactions(said) == ["eyes", "rocket"]
        assert "watching the ferry" in w.canonical()
        again = await w.says("rev", "go")
        assert w.reactions(again) == []
        assert w.says_nothing()
        assert w.iris.submissions == 1


async def test_the_reason_of_an_override_stands_verbatim_in_the_rationale(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "max_gate=1 because only *minhash* @sensitivity <b>matters</b>")
        run = await w.run()
        assert run.override == "reviewer override by rev: max_gate=1 — only *minhash* @sensitivity <b>matters</b>"
        golden("commands/override", w.canonical())


async def test_the_reason_given_with_the_first_mention_is_kept_too(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.says("rev", "@perf-gate go max_gate=1 — only minhash sensitivity matters")
        w.canonical()
        golden("commands/asked_with_a_ceiling", w.reply())
        await w.says("rev", "go")
        run = await w.run()
        assert run.override == "reviewer override by rev: max_gate=1 — only minhash sensitivity matters"
        assert run.max_gate == "1"
        w.canonical()


async def test_one_comment_may_say_the_same_thing_twice(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "@perf-gate go\n\nIn short: @perf-gate go")
        assert "watching the ferry" in w.canonical()
        assert w.iris.submissions == 1


async def test_a_comment_on_a_plain_issue_is_not_for_the_gate(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        issue = await w.sim.open_issue(w.repository, author="rev", title="Is Zephyr slow?")
        before = w.asked_github()
        await w.sim.comment(w.repository, issue.number, "rev", "@perf-gate go")
        await w.settle()
        assert w.asked_github() == before


async def test_stop_while_it_waits_ends_the_run_and_a_mention_begins_another(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.says("rev", "@perf-gate stop")
        golden("commands/stopped", w.canonical())
        await w.says("rev", "@perf-gate retry")
        assert (await w.run()).state is RunState.awaiting_reviewer
        golden("commands/asked_again", w.reply())
        assert "Earlier runs" in w.canonical()


async def test_a_closed_pull_request_starts_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.sim.close(w.repository, w.pull.number, by="ada")
        await w.settle()
        golden("commands/closed", w.canonical())
        await w.says("rev", "@perf-gate go")
        golden("commands/closed_reply", w.reply_without_marker())
        await w.sim.reopen(w.repository, w.pull.number, by="ada")
        await w.says("rev", "@perf-gate")
        assert "Proposed max_gate" in w.reply()


async def test_edits_are_not_run_and_that_is_said_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        comment = await w.says("rev", "LGTM")
        await w.edits(comment, "@perf-gate go max_gate=1")
        golden("commands/edited", w.reply_without_marker())
        await w.edits(comment, "@perf-gate stop")
        await w.edits(comment, "no more")
        assert w.says_nothing()
        assert w.reactions(comment) == []
        stored = await w.app.engine.read(w.key)
        assert stored is not None
        assert stored.run is None


async def test_a_typo_mended_beside_a_command_is_no_edit_of_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        comment = await w.says("rev", "Teh diff is fine.\n\n@perf-gate status")
        assert "There is no run" in w.reply()
        await w.edits(comment, "The diff is fine.\n\n@perf-gate status")
        assert w.says_nothing()
        await w.edits(comment, "The diff is fine.\n\n@perf-gate help")
        assert "Edits are not run" in w.reply()


async def test_a_bare_answer_edited_in_is_answered_only_while_the_bot_waits(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        early = await w.says("rev", "hm")
        await w.edits(early, "go")
        assert w.says_nothing()
        await w.to_question()
        await w.edits(await w.says("rev", "hmm"), "go")
        assert "Edits are not run" in w.reply()
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_every_command_is_acknowledged_and_then_told_apart(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        asked = await w.says("rev", "@perf-gate")
        w.new_comments()
        assert w.reactions(asked) == ["eyes", "rocket"]
        for body, sign in (
            ("@perf-gate help", "+1"),
            ("@perf-gate status", "+1"),
            ("@perf-gate gooo", "confused"),
            ("@perf-gate continue", "confused"),
        ):
            said = await w.says("rev", body)
            w.reply()
            assert w.reactions(said) == ["eyes", sign], body
        w.sim.account("eve")
        denied = await w.says("eve", "go")
        w.reply()
        assert w.reactions(denied) == ["eyes", "confused"]
        told = await w.says("rev", "go")
        assert w.reactions(told) == ["eyes", "rocket"]
        excluded = await w.says("rev", "@perf-gate exclude stage=download because the dump moved")
        w.reply()
        assert w.reactions(excluded) == ["eyes", "+1"]
        first = await w.says("rev", "@perf-gate stop")
        w.reply()
        assert w.reactions(first) == ["eyes", "confused"]
        second = await w.says("rev", "@perf-gate stop")
        assert w.reactions(second) == ["eyes", "rocket"]
        w.canonical()


async def test_help_names_the_roles_of_the_default_branch(tmp_path: Path) -> None:
    strict = CONFIG + '\n[permissions]\ngo = "triage"\noverride = "maintain"\nskip = "admin"\n'
    async with world(tmp_path, config=strict) as w:
        await w.says("eve", "@perf-gate help")
        golden("commands/help_by_roles", w.reply_without_marker())
        await w.says("rev", "@perf-gate go max_gate=1")
        golden("commands/denied_for_want_of_maintain", w.reply_without_marker())


async def test_another_name_is_used_in_every_answer(tmp_path: Path) -> None:
    async with world(tmp_path, mention="gatekeeper") as w:
        await w.says("rev", "@perf-gate help")
        assert w.says_nothing()
        await w.says("rev", "@gatekeeper help")
        golden("commands/help_by_another_name", w.reply_without_marker())
        await w.says("rev", "@GateKeeper")
        said = w.new_comments()
        assert "`@gatekeeper go`" in said[0]
        await w.says("rev", "@gatekeeper gooo")
        assert "`@gatekeeper help` shows what can be said" in w.reply()
        assert not [body for body in said if "`@perf-gate" in body]
