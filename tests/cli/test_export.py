"""A run in one archive: judged again where no bot ever ran, with the same result."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from tests.conversations.world import World, world


@pytest.fixture(autouse=True)
def environment(beside_the_bot: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return beside_the_bot


def perf_gate(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


async def to_a_fail(scene: World) -> None:
    await scene.scheduled_run()
    await scene.to_ferrying()
    await scene.ferry_ends(normalize=9000.0)
    scene.new_comments()
    assert "❌" in scene.canonical()


async def test_an_exported_run_is_judged_the_same_where_nothing_else_is(
    tmp_path: Path, environment: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.tar.gz"
    async with world(tmp_path) as scene:
        await to_a_fail(scene)
        run = (await scene.run()).id
        exported = perf_gate("export", "#1", "--to", file)
        assert exported.exit_code == 0, exported.output
        assert exported.output.startswith(f"{file}: ")
        assert "1 judged gate, " in exported.output
    environment.delenv("PERF_GATE_STATE_DIR")
    (gate,) = json.loads(perf_gate("reanalyse", file, "--json").output)["gates"]
    assert (gate["gate"], gate["attempt"], gate["was"], gate["verdict"]) == (1, 1, "fail", "fail")
    told = perf_gate("reanalyse", file).output
    assert f"run {run} of marin-community/marin#1, head " in told
    assert "gate 1, attempt 1 (as was told)\nVerdict: fail\n" in told
    compared = perf_gate("compare", file)
    assert compared.exit_code == 0, compared.output
    assert compared.output.strip() in told
    excluded = json.loads(perf_gate("compare", file, "--json", "--exclude", "normalize", "--exclude", "total").output)
    assert excluded["verdict"] != "fail"


async def test_the_archive_holds_what_went_in_and_what_came_out(tmp_path: Path) -> None:
    file = tmp_path / "run.tar.gz"
    async with world(tmp_path) as scene:
        await to_a_fail(scene)
        run = (await scene.run()).id
        perf_gate("export", run, "--to", file)
    with tarfile.open(file) as opened:
        names = {member.name.removeprefix(f"perf-gate-run-{run}/") for member in opened}
    assert names >= {
        *("case.json", "trace.json", "trace.txt", "diff.patch", "config.json", "assessment.json", "question.md"),
        *("gate-1/baseline.json", "gate-1/attempt-1/report.json", "gate-1/attempt-1/judgement.json"),
        "comments/0001.md",
    }
    assert any(name.startswith("logs/") and "iris-job-run" in name for name in names)


async def test_a_run_that_was_replaced_is_exported_from_the_log(tmp_path: Path) -> None:
    file = tmp_path / "run.tar.gz"
    async with world(tmp_path) as scene:
        await to_a_fail(scene)
        first = (await scene.run()).id
        await scene.says("rev", "@perf-gate retry")
        scene.new_comments()
        assert (await scene.run()).id != first
        exported = perf_gate("export", first, "--to", file)
        assert exported.exit_code == 0, exported.output
    (gate,) = json.loads(perf_gate("reanalyse", file, "--json").output)["gates"]
    assert (gate["was"], gate["verdict"]) == ("fail", "fail")


async def test_a_run_without_a_verdict_says_so(tmp_path: Path) -> None:
    file = tmp_path / "run.tar.gz"
    async with world(tmp_path) as scene:
        await scene.to_question()
        assert "0 judged gates" in perf_gate("export", "#1", "--to", file).output
    result = perf_gate("reanalyse", file)
    assert result.exit_code == 2
    assert "without a verdict on two reports" in result.output


def packed(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as opened:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        opened.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"no archive at all", "is no archive of perf-gate export"),
        (packed("run/other.json", b"{}"), "holds no case.json"),
        (packed("run/case.json", b"{"), "case.json cannot be read"),
        (packed("run/case.json", b'{"run": 3}'), "case.json cannot be read"),
        (packed("run/case.json", b"{}")[:60], "is no archive of perf-gate export"),
    ],
    # The time stands in an archive, and every process that takes part must find the same tests.
    ids=("no archive", "nothing of ours", "half an object", "no run", "cut off"),
)
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "file").write_bytes(data)
    result = perf_gate("reanalyse", tmp_path / "file")
    assert (result.exit_code, said in result.output) == (2, True), result.output
