"""A reviewer leaves a stage out of a verdict, before it is there and after, and has stored reports judged again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.effects import compare
from bot.gating.states import RunState
from bot.verdict.judge import judge
from bot.verdict.model import Judgement
from tests.conversations.test_ladder import LADDER
from tests.conversations.world import CONFIG, golden, world


async def test_a_stage_excluded_while_the_ferry_is_out_does_not_count_in_its_verdict(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.says("rev", "@perf-gate exclude stage=normalize — its *input* moved to another region")
        golden("exclusions/ahead", w.reply_without_marker())
        await w.ferry_ends(normalize=1300.0)
        assert (await w.run()).state is RunState.passed
        golden("exclusions/passed_without_it", w.canonical())


async def test_a_failed_run_is_judged_again_without_a_stage_and_the_failure_stays_in_view(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1300.0)
        before = w.canonical()
        await w.says("rev", '@perf-gate exclude stage="normalize" because the bucket moved; see #12')
        golden("exclusions/no_longer_fails", w.reply_without_marker())
        golden("exclusions/judged_again", w.canonical())
        assert (await w.run()).state is RunState.passed
        await w.says("ada", "@perf-gate include stage=normalize")
        golden("exclusions/fails_again", w.reply_without_marker())
        assert (await w.run()).state is RunState.failed
        assert before.partition("### Run summary")[2] == w.canonical().partition("### Run summary")[2]
        assert w.iris.submissions == 1


async def test_names_and_people_that_cannot_exclude(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.account("eve")
        await w.says("rev", "@perf-gate exclude stage=normalize")
        golden("exclusions/no_run", w.reply_without_marker())
        await w.says("rev", "@perf-gate reanalyse")
        golden("exclusions/no_run", w.reply_without_marker())
        await w.scheduled_run()
        await w.to_ferrying()
        await w.says("rev", "@perf-gate reanalyze")
        golden("exclusions/nothing_to_judge", w.reply_without_marker())
        await w.ferry_ends(normalize=1300.0)
        w.canonical()
        for login, name, answer in (
            ("eve", "normalize", "stranger"),
            ("ada", "normalize", "author"),
            ("rev", "normalise", "did_you_mean"),
            ("rev", '"@octocat <b>x</b> | `y`"', "name_in_code"),
            ("rev", '"@octocat <b>x</b> #1 https://evil.example"', "hostile_name"),
        ):
            await w.says(login, f"@perf-gate exclude stage={name}")
            golden(f"exclusions/{answer}", w.reply_without_marker())
        assert (await w.run()).state is RunState.failed
        assert (await w.run()).exclusions == ()


async def test_whoever_may_not_override_may_not_exclude(tmp_path: Path) -> None:
    async with world(tmp_path, config=CONFIG + '\n[permissions]\noverride = "maintain"\n') as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.says("rev", "@perf-gate exclude stage=normalize")
        golden("permission/denied_maintain", w.reply_without_marker())
        assert (await w.run()).exclusions == ()
        await w.ferry_ends()
        await w.says("rev", "@perf-gate reanalyse")
        golden("exclusions/nothing_changed", w.reply_without_marker())
        w.canonical()


async def test_a_run_that_ended_at_gate_one_climbs_nowhere_when_its_failure_vanishes(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends(normalize=1300.0)
        await w.says("rev", "@perf-gate exclude stage=normalize")
        golden("exclusions/not_climbed", w.reply_without_marker())
        golden("exclusions/ended_below_the_ceiling", w.canonical())
        assert (await w.run()).state is RunState.warned
        assert w.iris.submissions == 1
        await w.says("rev", "@perf-gate retry")
        assert (await w.run()).state is RunState.ferrying
        assert (await w.run()).exclusions == ()
        w.canonical()


async def test_a_warning_that_vanishes_while_it_is_asked_about_lets_the_run_climb(tmp_path: Path) -> None:
    async with world(tmp_path, config=LADDER) as w:
        await w.scheduled_run()
        await w.scheduled_run(2)
        await w.to_ferrying()
        await w.ferry_ends(normalize=970.0)
        assert (await w.run()).state is RunState.awaiting_escalation
        await w.says("rev", "@perf-gate exclude stage=normalize because it waits for the disk")
        golden("exclusions/climbs_on", w.reply_without_marker())
        assert w.iris.submissions == 2
        await w.ferry_ends(normalize=1300.0)
        golden("exclusions/holds_at_gate_2", w.canonical())
        assert (await w.run()).state is RunState.passed


async def test_a_closed_pull_requests_verdict_can_still_be_read_again(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1300.0)
        await w.sim.close(w.repository, w.pull.number, by="ada")
        await w.settle()
        await w.says("rev", "@perf-gate exclude stage=normalize")
        assert "**pass** now" in w.reply_without_marker()
        assert "✅ pass" in w.canonical()


async def test_reports_judged_by_an_older_rule_are_judged_by_the_one_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_yesterday(*reports: object, **options: object) -> Judgement:
        return replace(judge(*reports, **options), verdict="fail", reasons=("A rule of yesterday.",))  # type: ignore[arg-type]

    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        with monkeypatch.context() as yesterday:
            yesterday.setattr(compare, "judge", of_yesterday)
            await w.ferry_ends()
        assert "❌ fail" in w.canonical()
        await w.says("ada", "@perf-gate reanalyse")
        golden("exclusions/reanalysed_reply", w.reply_without_marker())
        golden("exclusions/reanalysed", w.canonical())
        assert (await w.run()).state is RunState.passed
        assert w.iris.submissions == 1


async def test_reports_that_cannot_be_judged_again_leave_the_verdict_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*reports: object, **options: object) -> Judgement:
        raise ArithmeticError("a mistake of ours")

    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends()
        before = w.canonical()
        monkeypatch.setattr(compare, "judge", broken)
        await w.says("rev", "@perf-gate reanalyse")
        golden("exclusions/cannot_rejudge", w.reply_without_marker())
        assert w.canonical() == before
