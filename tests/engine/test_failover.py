"""One of two processes on a PostgreSQL database dies or stands still; the other goes on with what it was doing."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.engine.postgres import Pulse
from tests.engine import postgres_server
from tests.engine.clock import START, ManualClock
from tests.engine.script import Act, Do
from tests.engine.shells import postgres_shell
from tests.engine.stage import MINUTE, Stage, playing

ROOT = Path(__file__).parents[2]
PATIENCE = 60
"""Seconds after which a process that should have said something is given up."""

WATCHFUL = Pulse(beat=timedelta(milliseconds=50), silence=timedelta(seconds=1))
"""Takes a process for dead whose heart stands still for a second."""


@dataclass
class Doomed:
    """The other process, after it said that it reached its point; see `tests.engine.doomed`."""

    process: subprocess.Popen[str]

    def freeze(self) -> None:
        """It claims nothing more, and is no less alive for the others: its sessions stand."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        assert self.process.poll() is None, "it must be alive to be killed"
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    postgres_server.address(tmp_path)
    yield tmp_path
    postgres_server.drop(tmp_path)


@contextmanager
def doomed(folder: Path, point: str) -> Iterator[Doomed]:
    argv = [sys.executable, "-m", "tests.engine.doomed", "postgres", str(folder), point]
    with subprocess.Popen(
        argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == point
        try:
            yield Doomed(process)
        finally:
            process.kill()


def acts(folder: Path) -> list[str]:
    ledger = folder / "ledger"
    return ledger.read_text().split() if ledger.exists() else []


async def rest(stage: Stage) -> None:
    async with asyncio.timeout(PATIENCE):
        await stage.engine.idle()


async def live_beside(stage: Stage) -> None:
    """Do something from end to end, so that the survivor has looked at everything there is."""
    async with asyncio.timeout(PATIENCE):
        await stage.engine.advance("b", Do("placed", effects=(Act("of the survivor"),)), cause="test")
        while "of the survivor done" not in await stage.labels("b"):
            await stage.engine.overview()


@pytest.mark.parametrize(("point", "acted"), [("before-act", 0), ("after-act", 1)])
async def test_an_effect_whose_process_is_killed_is_performed_by_the_other(
    folder: Path, point: str, acted: int
) -> None:
    with doomed(folder, point) as other:
        other.freeze()
        async with playing(postgres_shell(folder)) as survivor:
            await live_beside(survivor)
            assert survivor.hands.performed == ["of the survivor"], "the other is not dead, its effect is its own"
            other.kill()
            await rest(survivor)
            assert [(call.id, call.attempt) for call in survivor.hands.calls[1:]] == [("x", 2)]
            assert await survivor.labels("a") == ("first", "x done")
            assert acts(folder) == ["x"] * acted


async def test_a_transition_whose_process_is_killed_is_made_by_the_other(folder: Path) -> None:
    with doomed(folder, "in-step") as other:
        other.freeze()
        async with playing(postgres_shell(folder)) as survivor:
            await live_beside(survivor)
            assert await survivor.labels("a") == ("first", "x done")
            other.kill()
            await rest(survivor)
            assert await survivor.labels("a") == ("first", "x done", "before", "second")


async def test_a_timer_of_a_killed_process_fires_once_at_its_original_time(folder: Path) -> None:
    with doomed(folder, "completed") as other:
        other.freeze()
        clock = ManualClock(START + MINUTE)
        async with playing(postgres_shell(folder), clock=clock) as survivor:
            await live_beside(survivor)
            other.kill()
            await rest(survivor)
            assert await survivor.engine.next_due() == START + 5 * MINUTE
            clock.move_to(START + 5 * MINUTE - timedelta(microseconds=1))
            await rest(survivor)
            assert await survivor.labels("a") == ("first", "x done")
            clock.move_to(START + 60 * MINUTE)
            await rest(survivor)
            assert await survivor.labels("a") == ("first", "x done", "expired")


async def test_a_revoked_effect_whose_process_is_killed_is_told_by_the_other(folder: Path) -> None:
    with doomed(folder, "revoked") as other:
        other.freeze()
        async with playing(postgres_shell(folder)) as survivor:
            await live_beside(survivor)
            other.kill()
            await rest(survivor)
            assert await survivor.labels("a") == ("first", "stop", "x failed: Revoked")
            assert survivor.hands.performed == ["of the survivor"]


async def test_a_process_that_stood_still_too_long_finds_itself_struck_off_and_ends(folder: Path) -> None:
    """As after a network partition: its session lives, its heart does not."""
    with doomed(folder, "after-act") as other:
        other.freeze()
        async with playing(postgres_shell(folder, WATCHFUL)) as survivor:
            await rest(survivor)
            assert await survivor.labels("a") == ("first", "x done")
            assert [(call.id, call.attempt) for call in survivor.hands.calls] == [("x", 2)]
            other.process.send_signal(signal.SIGCONT)
            _, errors = await asyncio.to_thread(other.process.communicate, timeout=PATIENCE)
            assert other.process.returncode == 1
            assert "another process took this one for dead and goes on with its work" in errors
            await rest(survivor)
            assert await survivor.labels("a") == ("first", "x done"), "what it had to tell is told already"
