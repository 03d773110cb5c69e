"""A process that runs an engine up to a point, says so on its standard output, and stands still to be killed there.

    python -m tests.engine.doomed SHELL FOLDER POINT

Its performer's act is a line in FOLDER/ledger, so that the test sees what was done how often.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from bot.engine.port import Effect, EffectContext, Engine, Outcome, Transition
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Alarm, Do, Noted, Script, delivery
from tests.engine.shells import SHELLS
from tests.engine.stage import LANES, MINUTE, Hands, policies

SEVERAL = 12
"""Orders of the `several` point; each announces itself before and after its act."""


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


class Ledger(Hands):
    """Acts by writing a line; announces or stops around it."""

    def __init__(self, folder: Path, point: str) -> None:
        super().__init__()
        self._ledger = folder / "ledger"
        self._point = point
        self.acted = asyncio.Event()

    async def __call__(self, effect: Effect, context: EffectContext[Noted]) -> Outcome[Do]:
        await self._at("before-act")
        with self._ledger.open("a") as ledger:
            ledger.write(f"{effect.id}\n")
        self.acted.set()
        await self._at("after-act")
        if self._point == "revoked":
            await context.revoked.wait()
            await stand_still("revoked")
        return Outcome(Do(f"{effect.id} done"))

    async def _at(self, point: str) -> None:
        if self._point == "several":
            say(point)
        elif self._point == point:
            await stand_still(point)


class StoppingScript(Script):
    """Stands still inside the transaction."""

    def step(self, state: Noted, event: Do, now: datetime) -> Transition[Noted, Do]:
        transition = super().step(state, event, now)
        if event.label == "second":
            say("in-step")
            threading.Event().wait()
        return transition


async def stand_still(point: str) -> NoReturn:
    say(point)
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


async def play_one(engine: Engine[Noted, Do], ledger: Ledger, point: str) -> None:
    effects = (Act("x", scope="run1"),)
    timers = (Alarm("t", 5 * MINUTE, Do("expired")),)
    await engine.accept(delivery("g1", ("a", Do("first", effects=effects, timers=timers))))
    if point == "accepted":
        await stand_still(point)
    running = asyncio.create_task(engine.run())
    if point == "in-step":
        await engine.idle()
        await engine.accept(delivery("g2", ("a", Do("before")), ("a", Do("second"))))
    if point == "revoked":
        await ledger.acted.wait()
        await engine.advance("a", Do("stop", revoke=("run1",)), cause="test")
    if point == "completed":
        await engine.idle()
        await stand_still(point)
    await running


async def play_several(engine: Engine[Noted, Do]) -> None:
    running = asyncio.create_task(engine.run())
    for number in range(SEVERAL):
        key = f"k{number}"
        await engine.accept(delivery(key, (key, Do("placed", effects=(Act(f"x{number}"), Act(f"y{number}"))))))
        say(f"accepted {key}")
    await engine.idle()
    say("end")
    await running


async def main(name: str, folder: Path, point: str) -> None:
    machine = StoppingScript() if point == "in-step" else Script()
    ledger = Ledger(folder, point)
    async with SHELLS[name](folder)(machine, policies(ledger), LANES, ManualClock()) as engine:
        await (play_several(engine) if point == "several" else play_one(engine, ledger, point))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
