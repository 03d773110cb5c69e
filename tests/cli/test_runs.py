"""Where is my run: the operator asks beside the running bot, and after its crash, by whatever name is at hand."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

import bot.cli.runs as runs_command
from bot.cli import main
from bot.cli.checks.host import stored
from bot.cli.runs.screen import show_table
from bot.config.environment import load_state_settings
from bot.runs.facts import Line, Table
from tests.conversations.world import REPOSITORY, World, world
from tests.engine import postgres_server

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def environment(beside_the_bot: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    beside_the_bot.setenv("COLUMNS", "150")
    return beside_the_bot


def runs(*words: str) -> Result:
    return CliRunner().invoke(main, ["runs", *words])


def shown(scene: World, environment: pytest.MonkeyPatch, *words: str) -> str:
    """The screen at this moment of the story, without what differs from run to run: SHAs, ports and counts."""
    environment.setattr(runs_command, "CLOCK", scene.clock)
    result = runs(*words)
    assert result.exit_code == 0, result.output
    text = scene.readable(result.output)
    sha = scene.pull.head_sha
    text = text.replace(sha, "<head sha>").replace(sha[:10], "<head sha>")
    text = re.sub(r"perf-gate-1-[0-9a-f]{8}-1-g1-a1-[0-9a-f]{12}", "<job name>", text)
    text = re.sub(r"(\d+/1)#\d+:", r"\1#<n>:", text)
    text = re.sub(r"last (\d+) of \d+", r"last \1 of <n>", text)
    text = re.sub(r"request [0-9A-F-]{36}", "request <id>", text)
    text = re.sub(r"delivery:[0-9a-f-]{36}", "delivery:<guid>", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def golden(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


async def asked_json(*words: str) -> dict[str, Any]:
    result = runs(*words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


async def test_a_run_on_one_screen_while_its_ferry_is_out(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        await scene.live_through(timedelta(minutes=2))
        screen = shown(scene, environment, str(scene.pull.number))
        golden("ferrying", screen)
        assert len(screen.splitlines()) <= 30
        golden("table", shown(scene, environment))
        await scene.ferry_ends()
        scene.canonical()
        golden("passed", shown(scene, environment, f"{REPOSITORY}#{scene.pull.number}"))


async def test_one_that_queues_says_who_holds_the_slot(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as first:
        await first.scheduled_run()
        await first.to_ferrying()
        second = await first.another_pull()
        await second.says("rev", "@perf-gate")
        second.reply()
        await second.says("rev", "@perf-gate go")
        assert "waiting for the tier's slot" in second.canonical()
        waiting = await asked_json(str(second.pull.number))
        (holding,) = [one for one in (await asked_json())["runs"] if one["state"] == "ferrying"]
        assert waiting["seats"] == [{"slot": "tier-1", "place": 1, "holder": f"{holding['run']}/g1/a1"}]
        assert waiting["line"]["waits_for"] == f"tier-1, held by {holding['run']}/g1/a1, place 1 in its queue"


async def test_an_effect_that_fails_shows_its_attempts_its_error_and_its_next_try(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        scene.sim.fault("status", method="GET", path="*/collaborators/*", status=502, times=None)
        await scene.says("rev", "@perf-gate")
        golden("failing", shown(scene, environment, scene.key))
        found = await asked_json(scene.key)
        (effect,) = [one for one in found["effects"] if one["kind"] == "authorise"]
        assert effect["attempts"] >= 1
        assert "502" in effect["last_error"]


@pytest.mark.parametrize("name", ["id", "pull", "number", "hash", "sha", "job", "address"])
async def test_a_run_is_found_by_any_of_its_names(tmp_path: Path, name: str) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        scene.new_comments()
        run, number = await scene.run(), scene.pull.number
        assert run.attempt is not None
        names = {
            "id": run.id,
            "pull": f"{REPOSITORY.upper()}#{number}",
            "number": str(number),
            "hash": f"#{number}",
            "sha": run.head_sha[:7],
            "job": run.attempt.job_id,
            "address": f"https://github.com/{REPOSITORY}/pull/{number}#issuecomment-1",
        }
        assert (await asked_json(names[name]))["line"]["run"] == run.id


async def test_an_unknown_name_gets_a_near_one(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        result = runs(run.id + "1")
        assert result.exit_code == 2
        assert result.output == f"there is no run {run.id}1; did you mean {run.id}?\n"
        assert "--all lists them" in runs("nowhere/near#999999").output


async def test_it_reads_what_a_crash_left(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        # What SIGKILL leaves: the file and its write-ahead log, no index of it, no lock.
        left = tmp_path / "left"
        left.mkdir()
        for name in ("perf-gate.db", "perf-gate.db-wal"):
            (left / name).write_bytes((tmp_path / "state" / name).read_bytes())
    assert (left / "perf-gate.db-wal").stat().st_size > 0
    environment.setenv("PERF_GATE_STATE_DIR", str(left))
    found = await asked_json(run.id)
    assert (found["line"]["state"], found["served"]) == ("awaiting_reviewer", False)
    assert "no perf-gate serve is seen at work on this state" in runs().output


async def test_what_a_killed_process_was_doing_is_done_by_nobody(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as scene:
        scene.sim.fault("hold", method="GET", path="*/collaborators/*", times=1)
        await scene.sim.comment(scene.repository, scene.pull.number, "rev", "@perf-gate")
        await scene.sim.world.wait_for(lambda: any("/collaborators/" in one.path for one in scene.sim.requests()))
        doing = await asked_json(scene.key)
        left = tmp_path / "left"
        left.mkdir()
        for name in ("perf-gate.db", "perf-gate.db-wal"):
            (left / name).write_bytes((tmp_path / "state" / name).read_bytes())
        environment.setenv("PERF_GATE_STATE_DIR", str(left))
        after = await asked_json(scene.key)
        scene.sim.clear_faults()
        await scene.settle()
        scene.canonical()
        scene.reply()
    states = [{one["status"] for one in found["effects"] if one["kind"] == "authorise"} for found in (doing, after)]
    assert (states, doing["served"], after["served"]) == ([{"claimed"}, {"interrupted"}], True, False)


async def test_a_halted_run_says_which_command_failed(tmp_path: Path) -> None:
    async with world(tmp_path, change="BROKEN = 1\n") as scene:
        await scene.to_question()
        await scene.says("rev", "@perf-gate go")
        assert "halted" in scene.canonical()
        scene.new_comments()
        assert (await asked_json(scene.key))["reason"].endswith("ended with exit code 1")


def test_a_long_wait_narrows_no_other_column(capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime(2026, 6, 20, tzinfo=UTC)
    line = Line(
        "1-2-3", f"{REPOSITORY}#5", "assessing", now, "rev", "a" * 40, 1, "again after: " + "x" * 500, now, False
    )
    show_table(Table((line,), 0, (), 0), now, 120)
    header, row = capsys.readouterr().out.splitlines()
    assert [word for word in ("pull request", "state", "since", "head", "gate", "until") if word not in header] == []
    assert len(row) <= 120
    assert (f"{REPOSITORY}#5" in row, "aaaaaaaaaa" in row, "…" in row) == (True, True, True)


async def test_it_reads_postgres_where_the_state_is_there(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    address = postgres_server.empty(tmp_path)
    environment.delenv("PERF_GATE_STATE_DIR")
    environment.setenv("PERF_GATE_DATABASE_URL", address)
    assert "no perf-gate serve has run with it" in runs().output
    assert [found.state for found in stored(load_state_settings())] == ["ok"], "doctor comes before the first start"
    environment.setenv("PERF_GATE_DATABASE_URL", urlsplit(address)._replace(path="/no_such_database").geturl())
    (gone,) = stored(load_state_settings())
    assert (gone.state, "a database that answers" in gone.fix) == ("wrong", True)
    environment.setenv("PERF_GATE_DATABASE_URL", address)
    try:
        async with world(tmp_path, database_url=address) as scene:
            await scene.to_question()
            run = await scene.run()
            found = await asked_json(run.id)
            assert (found["line"]["waits_for"], found["served"]) == ("a reviewer's answer", True)
        # The server lets go of a session's lock only a moment after the session has said farewell.
        async with asyncio.timeout(30):
            while (served := (await asked_json())["served"]) is True:
                pass
        assert served is False
    finally:
        postgres_server.drop(tmp_path)


def test_without_a_place_it_asks_for_one(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("PERF_GATE_STATE_DIR")
    result = runs()
    assert result.exit_code == 2
    assert "set PERF_GATE_STATE_DIR" in result.output


def test_a_folder_without_state_is_said(tmp_path: Path) -> None:
    result = runs()
    assert result.exit_code == 2
    assert "there is no state at" in result.output
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "perf-gate.db").write_text("not a database, but long enough to be looked at as one" * 9)
    result = runs()
    assert result.exit_code == 2
    assert "cannot be read: file is not a database" in result.output


async def test_state_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.settle()
    with closing(sqlite3.connect(tmp_path / "state" / "perf-gate.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'state_schema'")
    result = runs()
    assert result.exit_code == 2
    assert "newer release (state_schema 99" in result.output
