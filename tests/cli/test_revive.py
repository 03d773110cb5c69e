"""What was given up is tried again: through the running bot, or in its absence; never behind its back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from bot.engine.sqlite import SqliteEngine
from bot.gating.machine import GateMachine
from tests.engine import postgres_server
from tests.engine.clock import ManualClock
from tests.engine.stage import seeded

DATABASE = "perf-gate.db"
# The engine alone, as serve runs it: it answers when it runs, and ends when its standard input does.
SERVING = """
import asyncio, sys
from pathlib import Path
from bot.serving import reviving
from bot.engine.clock import SystemClock
from bot.engine.sqlite import SqliteEngine
from bot.gating.machine import GateMachine
from random import Random

async def main():
    machine = GateMachine("perf-gate", ())
    async with SqliteEngine.open(Path(sys.argv[1]), machine, (), (), SystemClock(), Random(1)) as engine:
        async with reviving(engine):
            print("running", flush=True)
            await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in list(os.environ):
        if name.startswith("PERF_GATE_") and name != postgres_server.SERVER:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PERF_GATE_STATE_DIR", str(tmp_path))
    return tmp_path


def revive() -> Result:
    return CliRunner().invoke(main, ["revive"])


async def give_up_a_delivery(path: Path) -> None:
    """Leave a dead delivery in the database, as a release with a bug would."""
    async with SqliteEngine.open(path, GateMachine("perf-gate", ()), (), (), ManualClock(), seeded(1)) as engine:
        await engine._store.write(
            lambda tx: tx.execute(
                "INSERT INTO deliveries (guid, event, body, received_at, status, due) "
                "VALUES ('a guid', 'issue_comment', x'7b7d', 0, 'dead', 0)"
            )
        )


@contextmanager
def serving(database: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVING, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        assert process.stdout.readline() == "running\n"
        yield process
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


async def test_nobody_runs_and_it_is_done_at_once(state: Path) -> None:
    await give_up_a_delivery(state / DATABASE)
    assert revive().output == "1 will be tried again\n"
    assert revive().output == "nothing was given up\n"
    async with SqliteEngine.open(state / DATABASE, GateMachine("x", ()), (), (), ManualClock(), seeded(1)) as engine:
        assert (await engine.counts()).dead == 0
        assert (await engine.overview()).deliveries[0].attempts == 0


async def test_the_process_that_owns_the_file_does_it(state: Path) -> None:
    await give_up_a_delivery(state / DATABASE)
    with serving(state / DATABASE) as process:
        assert revive().output == f"1 are tried again by process {process.pid}\n"


async def test_a_process_that_does_not_obey_is_told(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await give_up_a_delivery(state / DATABASE)
    monkeypatch.setattr("bot.cli.revive._PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("bot.engine.sqlite.reviving.REVIVE_SIGNAL", signal.SIGWINCH)
    with serving(state / DATABASE) as process:
        result = revive()
    assert result.exit_code == 1
    assert f"process {process.pid} was asked, but nothing is tried again yet" in result.output


def test_without_state_there_is_nothing_to_revive() -> None:
    result = revive()
    assert result.exit_code == 2
    assert "there is no state at" in result.output
