"""Any question about a run answered by any id of it: the whole way, from the delivery to the last revision."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from simulator.state import Comment
from tests.cli.test_runs import golden
from tests.conversations.heard import BOT
from tests.conversations.world import REPOSITORY, SHUFFLE, World, world
from tests.engine import postgres_server


@pytest.fixture(autouse=True)
def environment(beside_the_bot: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return beside_the_bot


async def asked(*words: str) -> Result:
    """In a thread: the bot goes on beside it."""
    return await asyncio.to_thread(CliRunner().invoke, main, ["trace", *words])


async def traced(*words: str) -> dict[str, Any]:
    result = await asked(*words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output)
    return found


def readable(scene: World, text: str) -> str:
    """Without what differs from run to run: ids of deliveries and jobs, SHAs, digests, durations."""
    text = scene.readable(text)
    text = re.sub(r"perf-gate-1-[0-9a-f]{8}-1-g1-a1-[0-9a-f]{12}", "<job>", text)
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<guid>", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", "<sha>", text)
    text = re.sub(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])([0-9a-f]{10}|[0-9a-f]{12})\b", "<hex>", text)
    text = re.sub(r"\b\d+\.\d{3} s", "<time>", text)
    text = re.sub(r"logs/\S+\.log", "<log>", text)
    text = re.sub(r"/1#\d+:", "/1#<n>:", text)
    text = re.sub(r"fetched: \d+ times", "fetched: <n> times", text)
    text = re.sub(r"\(\d+ of them\)", "(<n> of them)", text)
    text = re.sub(r"files: \S+", "files: <folder>", text)
    return re.sub(r"\b\d{10,}\b", "<id>", text)


@asynccontextmanager
async def judged(tmp_path: Path, database_url: str | None = None) -> AsyncIterator[tuple[World, list[Comment]]]:
    """A run that came to its verdict, and the two comments that asked for it."""
    async with world(tmp_path, database_url=database_url) as scene:
        await scene.scheduled_run()
        comments = [await scene.says("rev", "@perf-gate"), await scene.says("rev", "@perf-gate go")]
        await scene.ferry_ends()
        scene.new_comments()
        scene.canonical()
        yield scene, comments


# Comment, check run and reactions are written beside everything else: where they stand is not the same in every run.
BESIDE = r"revision|Published|Checked|Noticed|:(publish|check|react|settle|notify) "


async def test_the_whole_way_of_a_run_is_told_in_order(tmp_path: Path) -> None:
    async with judged(tmp_path) as (scene, _):
        result = await asked((await scene.run()).id)
        assert result.exit_code == 0, result.output
        lines = readable(scene, result.output).splitlines(keepends=True)
        golden("trace", "".join(line for line in lines if not re.search(BESIDE, line)))
        revisions = re.findall(r"comment +\d+ revision (\d+) of the canonical comment", result.output)
        assert revisions == [str(count) for count in range(1, len(revisions) + 1)]
        assert len(revisions) > 5


async def test_quiet_looks_at_a_ferry_are_one_line_until_all_are_asked_for(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.scheduled_run()
        await scene.to_ferrying()
        await scene.live_through(timedelta(hours=2))
        scene.new_comments()
        shown, full = await asked("#1"), await asked("#1", "--full")
        assert re.search(
            r"effect +\S+:watch \d+ looks without news until 2026-06-20 \d\d:\d\d:\d\d; --full", shown.output
        )
        assert full.output.count("CheckDue") > 10
        assert shown.output.count("CheckDue") < 3


HOPS = ["delivery", "command", "decision", "effect", "comment", "iris"]


NAMES = ("guid", "comment", "comment address", "canonical", "pull", "full", "address", "run", "holder", "effect")


@pytest.mark.parametrize("name", [*NAMES, "ferry", "job", "child job", "sha"])
async def test_any_id_leads_to_the_whole_way(tmp_path: Path, name: str) -> None:
    async with judged(tmp_path) as (scene, comments):
        run, number = await scene.run(), scene.pull.number
        assert run.attempt is not None
        way = (await traced(run.id))["hops"]
        delivery = next(hop for hop in way if hop["what"] == "delivery")
        effect = next(hop for hop in way if hop["kind"] == "submit")
        ids = {
            "guid": delivery["id"],
            "comment": str(comments[1].id),
            "comment address": f"https://github.com/{REPOSITORY}/pull/{number}#issuecomment-{comments[0].id}",
            "canonical": str(scene.canonical_id()),
            "pull": f"#{number}",
            "full": f"{REPOSITORY}#{number}",
            "address": f"https://github.com/{REPOSITORY}/pull/{number}",
            "run": run.id,
            "holder": f"{run.id}/g1/a1",
            "effect": effect["id"],
            "ferry": run.attempt.job_id.rpartition("/")[2],
            "job": run.attempt.job_id,
            "child job": f"{run.attempt.job_id}/zephyr-download",
            "sha": run.head_sha[:8],
        }
        found = await traced(ids[name])
        assert found["pull_request"] == f"{REPOSITORY}#{number}"
        assert {hop["what"] for hop in found["hops"]} == set(HOPS)
        assert [hop["at"] for hop in found["hops"]] == sorted(hop["at"] for hop in found["hops"])
        marked = {hop["id"] for hop in found["hops"] if hop["asked"]}
        assert marked <= {ids[name], str(comments[0].id), str(comments[1].id), run.attempt.job_id}
        assert bool(marked) == (name in {"guid", "comment", "comment address", "canonical", "effect"} | JOBS)


async def test_whatever_github_numbered_is_found_by_its_address(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        asked_again = await scene.says("rev", "@perf-gate goo")
        review = await scene.sim.review(scene.repository, scene.pull.number, "ada", "@perf-gate status")
        line = await scene.sim.review_comment(
            scene.repository, scene.pull.number, "ada", "@perf-gate help", path=SHUFFLE, in_reply_to=None
        )
        await scene.settle()
        scene.new_comments()
        answer = next(one for one in scene.said() if "did you mean" in one.body)
        (in_thread,) = scene.sim.review_comments(scene.repository, scene.pull.number, by=BOT)
        page = f"https://github.com/{REPOSITORY}/pull/{scene.pull.number}"
        run, check = await scene.run(), scene.checks()[-1].id
        ways = {
            str(answer.id): ":reply",
            f"{page}#issuecomment-{answer.id}": ":reply",
            f"{page}#discussion_r{in_thread.id}": ":help",
            f"{page}#issuecomment-{asked_again.id}": str(asked_again.id),
            f"{page}#pullrequestreview-{review.id}": str(review.id),
            f"{page}#discussion_r{line.id}": str(line.id),
            f"{page}/checks?check_run_id={check}": "log:",
            f"https://github.com/{REPOSITORY}/runs/{check}": "log:",
            f"https://gate.example.org/runs/{run.id}": "",
        }
        for asked_for, known_by in ways.items():
            marked = [hop["id"] for hop in (await traced(asked_for))["hops"] if hop["asked"]]
            assert bool(marked) == bool(known_by), asked_for
            assert all(known_by in one for one in marked), asked_for
        effects = [hop for hop in (await traced(str(answer.id)))["hops"] if hop["asked"]]
        assert effects[0]["text"].endswith(f", wrote comment {answer.id}")
        for stranger, told in {
            "#pullrequestreview-77": "review 77",
            "#discussion_r77": "comment on the diff 77",
        }.items():
            unknown = await asked(f"{page}{stranger}")
            assert unknown.exit_code == 2
            assert unknown.output == f"{told} is not known: it said nothing to the bot, nor is it the bot's\n"


async def test_a_guid_may_be_typed_in_capitals(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        guid = next(one.guid for one in scene.sim.delivery_log() if one.event == "issue_comment")
        assert (await traced(guid.upper()))["hops"]


JOBS = {"ferry", "job", "child job"}


async def test_an_effect_stands_with_its_attempts_and_the_processes_it_started(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        scene.sim.fault("status", method="GET", path="*/collaborators/*", status=502, times=4)
        await scene.says("rev", "@perf-gate")
        while not [body for body in scene.new_comments() if "Proposed max_gate" in body]:
            due = await scene.app.engine.next_due()
            assert due is not None
            await scene.live_through(due - scene.clock.now())
        effects = {hop["kind"]: hop for hop in (await traced(scene.key))["hops"] if hop["what"] == "effect"}
        tries = effects["authorise"]["attempts"]
        assert [one["ended_as"] for one in tries] == ["broke"] * (len(tries) - 1) + ["done"]
        assert len(tries) > 1
        assert "502" in tries[0]["error"]
        (only,) = effects["assess"]["attempts"]
        commands = [process["command"] for process in only["processes"]]
        assert commands[0].startswith("git init")
        assert "python -m bot.assessment" in commands
        assert {process["exit_code"] for process in only["processes"] if "fetch" in process["command"]} == {0}


async def test_a_red_preflight_shows_its_exit_code_and_the_log_it_left(tmp_path: Path) -> None:
    async with world(tmp_path, change="BUFFER = 'BROKEN'\n") as scene:
        await scene.to_question()
        await scene.says("rev", "@perf-gate go")
        assert "halted" in scene.canonical().lower() or "exit" in scene.canonical()
        found = await traced((await scene.run()).id)
        (preflight,) = [hop for hop in found["hops"] if hop["kind"] == "preflight"]
        (process,) = [one for one in preflight["attempts"][0]["processes"] if "sandbox" in one["command"]]
        assert process["exit_code"] == 1
        assert {"diff.patch", "assessment.json", "config.json", "question.md"} <= set(found["files"])
        assert "+BUFFER = 'BROKEN'" in (Path(found["folder"]) / "diff.patch").read_text()


async def test_a_delivery_that_led_to_nothing_says_so(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.says("ada", "what a fine day, @perf-gate")
        scene.new_comments()
        guid = next(one.guid for one in scene.sim.delivery_log() if one.event == "ping")
        (only,) = (await traced(guid))["hops"]
        assert (only["what"], only["text"]) == ("delivery", "ping, handled")
        unknown = await asked("00000000-0000-4000-8000-000000000000")
        assert unknown.exit_code == 2
        assert "it never came here" in unknown.output


async def test_an_unknown_id_gets_a_near_one(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        result = await asked(run.id + "7")
        assert (result.exit_code, result.output) == (2, f"there is no run {run.id}7; did you mean {run.id}?\n")


async def test_the_same_is_told_of_a_state_in_postgresql(tmp_path: Path, environment: pytest.MonkeyPatch) -> None:
    address = postgres_server.empty(tmp_path)
    environment.setenv("PERF_GATE_DATABASE_URL", address)
    async with judged(tmp_path, address) as (scene, _):
        found = await traced((await scene.run()).id)
        assert {hop["what"] for hop in found["hops"]} == set(HOPS)
        assert all(hop["attempts"] for hop in found["hops"] if hop["what"] == "effect" and "done" in hop["text"])
    postgres_server.drop(tmp_path)


async def test_a_state_of_an_older_release_asks_for_one_start_of_this_one(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
    with closing(sqlite3.connect(tmp_path / "state" / "perf-gate.db")) as connection, connection:
        connection.execute("UPDATE meta SET value = 1 WHERE name = 'format'")
    result = await asked("#1")
    assert result.exit_code == 2
    assert "start this release's perf-gate serve with it once" in result.output
