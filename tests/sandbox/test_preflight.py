"""The preflight: in order, resumable, and exact about whose fault an end is."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.config.schema import PreflightCommand
from bot.sandbox import preflight
from bot.sandbox.cage import Cage
from bot.sandbox.preflight import CageFault, Failed, Finished, Passed, TimedOut, Verdict

SHA = "a" * 40


def command(script: str, timeout: timedelta = timedelta(minutes=1)) -> PreflightCommand:
    return PreflightCommand(run=("sh", "-c", script), timeout=timeout, memory_mb=512)


async def run(tree: Path, *commands: PreflightCommand, cage: Cage | None = None, sha: str = SHA) -> Verdict:
    return await preflight.run(cage or Cage(), commands, tree=tree, sha=sha, results=tree.parent / "results")


async def test_commands_run_in_order_and_their_ends_are_kept(tree: Path) -> None:
    verdict = await run(tree, command("echo one > file"), command("cat file"))
    assert verdict == Passed((Finished("sh -c 'echo one > file'", 0, ""), Finished("sh -c 'cat file'", 0, "one")))


async def test_the_first_failure_stops_it(tree: Path) -> None:
    verdict = await run(tree, command("echo bad; exit 4"), command("touch never"))
    assert verdict == Failed("sh -c 'echo bad; exit 4'", 4, "bad")
    assert not (tree / "never").exists()


async def test_a_resumed_run_skips_what_has_finished(tree: Path) -> None:
    """The process died after the first command; the second then stands for "it is back"."""
    counted = command("echo x >> count")
    await run(tree, counted, command("tail -f /dev/null", timedelta(seconds=0.5)))
    verdict = await run(tree, counted, command("cat count"))
    assert isinstance(verdict, Passed)
    assert verdict.results[1].tail == "x"


async def test_a_failed_command_is_remembered_for_its_commit_alone(tree: Path) -> None:
    flaky = command("test -e fixed")
    assert isinstance(await run(tree, flaky), Failed)
    (tree / "fixed").touch()
    assert isinstance(await run(tree, flaky), Failed)
    assert isinstance(await run(tree, flaky, sha="b" * 40), Passed)


async def test_other_limits_are_another_command(tree: Path) -> None:
    assert isinstance(await run(tree, command("test -e fixed")), Failed)
    (tree / "fixed").touch()
    assert isinstance(await run(tree, command("test -e fixed", timedelta(minutes=2))), Passed)


async def test_a_time_out_is_no_failed_test_and_is_tried_again(tree: Path) -> None:
    slow = command("echo started; test -e fixed || tail -f /dev/null", timedelta(seconds=1))
    verdict = await run(tree, slow)
    assert verdict == TimedOut("sh -c 'echo started; test -e fixed || tail -f /dev/null'", 1.0, "started")
    (tree / "fixed").touch()
    assert isinstance(await run(tree, slow), Passed)


async def test_a_missing_tool_is_the_sandboxes_fault(tree: Path) -> None:
    verdict = await run(tree, PreflightCommand(run=("uv-that-is-not-here", "run", "pyrefly")))
    reason = "`uv-that-is-not-here` is not among the sandbox's tools"
    assert verdict == CageFault(f"uv-that-is-not-here run pyrefly: {reason}")


async def test_without_a_sound_cage_nothing_runs(tree: Path) -> None:
    verdict = await run(tree, command("touch ran"), cage=Cage(bwrap="no-bwrap-here"))
    assert isinstance(verdict, CageFault)
    assert "apt-get install bubblewrap" in verdict.reason
    assert not (tree / "ran").exists()


@pytest.mark.parametrize("damage", [b"", b"{", b'{"command": 1}'])
async def test_a_damaged_memory_is_no_memory(tree: Path, damage: bytes) -> None:
    await run(tree, command("echo x >> count"))
    for file in (tree.parent / "results" / SHA).glob("*.json"):
        file.write_bytes(damage)
    assert isinstance(await run(tree, command("echo x >> count")), Passed)
    assert (tree / "count").read_text() == "x\nx\n"
