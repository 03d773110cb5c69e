"""A process is killed at a chosen point with SIGKILL; the next one finds everything and loses or doubles nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.engine.clock import START, ManualClock
from tests.engine.doomed import SEVERAL
from tests.engine.script import Noted, Script
from tests.engine.stage import MINUTE, Shell, Stage, playing

ROOT = Path(__file__).parents[2]


def kill_after(name: str, folder: Path, point: str, lines: int = 1) -> list[str]:
    """Run the doomed process, read so many lines from it, kill it. Returns the lines."""
    argv = [sys.executable, "-m", "tests.engine.doomed", name, str(folder), point]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(lines)]
        assert process.poll() is None, "it must be alive to be killed"
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().splitlines()
        assert process.wait() == -signal.SIGKILL
    return said


def acts(folder: Path) -> list[str]:
    ledger = folder / "ledger"
    return ledger.read_text().split() if ledger.exists() else []


async def finish(stage: Stage) -> tuple[str, ...]:
    await stage.engine.idle()
    return await stage.labels("a")


async def test_a_delivery_acknowledged_before_the_kill_is_handled(
    shell: Shell, shell_name: str, tmp_path: Path
) -> None:
    assert kill_after(shell_name, tmp_path, "accepted") == ["accepted"]
    async with playing(shell) as stage:
        assert await finish(stage) == ("first", "x done")


async def test_a_transaction_cut_in_the_middle_never_happened_and_happens_again(
    shell: Shell, shell_name: str, tmp_path: Path
) -> None:
    kill_after(shell_name, tmp_path, "in-step")
    async with shell(Script(), (), (), ManualClock()) as engine:
        assert await engine.read("a") == Noted(("first", "x done"))
    async with playing(shell) as stage:
        assert await finish(stage) == ("first", "x done", "before", "second")


@pytest.mark.parametrize(("point", "acted"), [("before-act", 0), ("after-act", 1)])
async def test_a_claim_that_died_is_claimed_again(
    shell: Shell, shell_name: str, tmp_path: Path, point: str, acted: int
) -> None:
    kill_after(shell_name, tmp_path, point)
    assert len(acts(tmp_path)) == acted
    async with playing(shell) as stage:
        assert await finish(stage) == ("first", "x done")
        assert [call.attempt for call in stage.hands.calls] == [2], "the attempt that died counts"


async def test_what_was_complete_is_not_done_again(shell: Shell, shell_name: str, tmp_path: Path) -> None:
    kill_after(shell_name, tmp_path, "completed")
    async with playing(shell) as stage:
        assert await finish(stage) == ("first", "x done")
        assert stage.hands.performed == []
        assert acts(tmp_path) == ["x"]


async def test_an_effect_revoked_before_the_kill_is_told_but_not_performed_again(
    shell: Shell, shell_name: str, tmp_path: Path
) -> None:
    kill_after(shell_name, tmp_path, "revoked")
    async with playing(shell) as stage:
        assert await finish(stage) == ("first", "stop", "x failed: Revoked")
        assert stage.hands.performed == []


async def test_timers_keep_their_time_through_a_kill(shell: Shell, shell_name: str, tmp_path: Path) -> None:
    kill_after(shell_name, tmp_path, "completed")
    async with playing(shell, clock=ManualClock(START + MINUTE)) as stage:
        await stage.engine.idle()
        assert await stage.engine.next_due() == START + 5 * MINUTE


@pytest.mark.parametrize("lines", [1, 5, 9, 14, 20, 27, 35, 44])
async def test_killed_anywhere_nothing_accepted_is_lost_and_nothing_complete_is_doubled(
    shell: Shell, shell_name: str, tmp_path: Path, lines: int
) -> None:
    said = kill_after(shell_name, tmp_path, "several", lines)
    accepted = [line.split()[1] for line in said if line.startswith("accepted")]
    assert accepted
    async with playing(shell) as stage:
        await stage.engine.idle()
        for key in accepted:
            number = key[1:]
            labels = Counter(await stage.labels(key))
            assert labels == Counter(["placed", f"x{number} done", f"y{number} done"])
        heard = [key for key in (f"k{n}" for n in range(SEVERAL)) if await stage.labels(key)]
        done = Counter(acts(tmp_path)) + Counter(stage.hands.performed)
        assert set(done) == {f"{letter}{key[1:]}" for key in heard for letter in "xy"}
        assert max(done.values()) <= 2, "at most the act in flight is done again"
        overview = await stage.engine.overview()
        assert (overview.effects, overview.deliveries, overview.dead) == ((), (), 0)
