"""Who commanded what: every command with who gave it, what GitHub said of their permission, and what came of it."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import bot.cli.audit as audit_command
from bot.cli import main
from tests.conversations.world import REPOSITORY, World, world


@pytest.fixture(autouse=True)
def environment(beside_the_bot: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return beside_the_bot


def audited(scene: World, environment: pytest.MonkeyPatch, *words: str) -> Result:
    environment.setattr(audit_command, "CLOCK", scene.clock)
    return CliRunner().invoke(main, ["audit", *words])


async def test_each_command_stands_with_its_permission_and_its_consequence(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.sim.collaborator(scene.repository, "eve", "triage")
        for login, words in (("eve", "go"), ("rev", ""), ("ada", "status"), ("rev", "max_gate=1 because small")):
            await scene.says(login, f"@perf-gate {words}")
        await scene.ferry_ends()
        scene.new_comments()
        result = audited(scene, environment, "--json")
        assert result.exit_code == 0, result.output
        eve, rev, ada, again = found = json.loads(result.output)
        assert [(one["who"], one["command"], one["allowed"], one["role"]) for one in found] == [
            ("eve", "go", False, "triage"),
            ("rev", "assess", True, "write"),
            ("ada", "status", None, ""),
            ("rev", "go max_gate=1 because small", True, "write"),
        ]
        assert eve["led_to"] == "refused: needs write"
        assert rev["led_to"] == f"run {(await scene.run()).id} begins, asked for by rev"
        assert (ada["led_to"], ada["run"]) == ("an answer", "")
        assert again["head_sha"] == scene.pull.head_sha
        assert again["now"] == "gate 1: pass"
        assert "pass" not in rev["now"], "the verdict is what the answer led to, not the question"
        assert {one["pull_request"] for one in found} == {f"{REPOSITORY}#{scene.pull.number}"}
        assert all(one["delivery"] for one in found)
        line = audited(scene, environment).output.splitlines()[-1]
        assert "rev: go max_gate=1 because small" in line
        assert line.endswith(f"run {again['run']}: gate 1: pass")


async def test_a_command_is_not_credited_with_what_a_later_one_led_to(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_question()
        for login, words in (("ada", "skip"), ("rev", "go"), ("rev", "stop"), ("rev", "stop")):
            await scene.says(login, f"@perf-gate {words}")
        await scene.live_through(timedelta(minutes=15))
        scene.new_comments()
        asked, waived, answered, stop, again = json.loads(audited(scene, environment, "--json").output)
        assert (waived["led_to"], waived["now"]) == ("a reply", ""), "refused: it changed nothing"
        assert "stopped" not in asked["now"] + answered["now"] + stop["now"]
        assert "answered" not in asked["now"]
        assert (again["led_to"], again["now"]) == ("rev stops the ferry", "ferrying → stopped")


async def test_a_permission_that_could_not_be_looked_up_is_not_told_as_one_that_anybody_has(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        scene.sim.fault("status", method="POST", path="*/reactions", status=404, times=1)
        await scene.says("rev", "@perf-gate")
        scene.sim.fault("status", method="GET", path="*/collaborators/*", status=502, times=None)
        await scene.says("ada", "@perf-gate skip")
        pending = audited(scene, environment).output.splitlines()[-1]
        assert "ada: skip  [permission not known yet]  its permission is being looked up" in pending
        # People are heard for six hours of GitHub's trouble.
        await scene.live_through(timedelta(hours=6, minutes=10))
        scene.new_comments()
        rev, ada = json.loads(audited(scene, environment, "--json").output)
        assert (rev["permission"], rev["allowed"], rev["role"]) == ("allowed", True, "write")
        assert (ada["permission"], ada["allowed"], ada["run"]) == ("not known", None, "")
        assert "[permission not known]  authorise was given up" in audited(scene, environment).output.splitlines()[-1]


async def test_a_reaction_that_was_given_up_hides_no_permission(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        scene.sim.fault("status", method="POST", path="*/reactions", status=422, times=None)
        scene.sim.fault("status", method="GET", path="*/collaborators/*", status=502, times=6)
        await scene.says("rev", "@perf-gate")
        await scene.live_through(timedelta(minutes=10))
        scene.new_comments()
        (rev,) = json.loads(audited(scene, environment, "--json").output)
        assert (rev["permission"], rev["role"]) == ("allowed", "write")


async def test_what_somebody_wrote_acts_on_no_terminal(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    hostile = "\x1b]0;title\x07 done\u202e\x1b[2K"
    async with world(tmp_path) as scene:
        await scene.says("eve", f"@perf-gate skip because {hostile}")
        scene.new_comments()
        environment.setattr(audit_command, "CLOCK", scene.clock)
        for words in (["audit"], ["trace", f"#{scene.pull.number}"]):
            # In a thread: looking is the same beside a bot that goes on.
            shown = await asyncio.to_thread(CliRunner().invoke, main, words, color=True)
            assert "done" in shown.output
            assert all(char.isprintable() or char == "\n" for char in shown.output), words


async def test_it_looks_back_no_further_than_it_is_asked(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        await scene.live_through(timedelta(days=3))
        await scene.says("ada", "@perf-gate status")
        scene.new_comments()

        def whom(since: str) -> list[Any]:
            return [one["who"] for one in json.loads(audited(scene, environment, "--since", since, "--json").output)]

        assert whom("2d") == ["ada"]
        assert whom("7d") == ["rev", "ada"]
        assert whom("2026-06-20T08:00") == ["rev", "ada"]
        assert whom("2026-06-21") == ["ada"]
        assert audited(scene, environment, "--since", "2026-07-01").output.startswith("nobody commanded anything since")
        assert whom("99999999999d") == ["rev", "ada"]
        wrong = audited(scene, environment, "--since", "yesterday")
        assert (wrong.exit_code, "neither a span" in wrong.output) == (2, True)


async def test_a_button_is_a_command_like_any_other(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_question()
        await scene.presses("rev", "go")
        scene.new_comments()
        *_, pressed = json.loads(audited(scene, environment, "--json").output)
        assert (pressed["who"], pressed["command"], pressed["allowed"]) == ("rev", "button go", True)
        assert (pressed["role"], pressed["head_sha"]) == ("write", scene.pull.head_sha)
        assert pressed["run"] == (await scene.run()).id
