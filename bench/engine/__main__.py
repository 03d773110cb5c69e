"""The two shells side by side: `python -m bench.engine` prints a table.

Both keep what they acknowledge (SQLite with synchronous=FULL, PostgreSQL with fsync on, on a socket of this machine),
in the same folder; rounds are interleaved and the table shows medians. The disk's own fsync stands beside them.
"""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import uvloop

from bot.engine.clock import SystemClock
from bot.engine.port import Delivery
from bot.engine.postgres import Pulse
from tests.engine import postgres_server
from tests.engine.script import Act, Alarm, Do, Script, delivery
from tests.engine.shells import FORGET, SHELLS, postgres_shell
from tests.engine.stage import LANES, Hands, Shell, policies

ROUNDS = 5
ACCEPTS = 400
AT_ONCE = 32
BODY = b"[]".ljust(25 * 1024)
"""About nobody."""
PARKED = 1000
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Round:
    """Seconds, except `rate`, in deliveries a second."""

    accept_p50: float
    accept_p99: float
    rate: float
    wake: float
    effect: float


@dataclass(frozen=True)
class Parked:
    """With 1,000 runs parked: seconds to open the store and come to rest, and share of one core while at rest."""

    restart: float
    core: float


async def accepting(shell: Shell) -> Round:
    hands = Hands()
    async with shell(Script(), policies(hands), LANES, SystemClock()) as engine:
        # Stored, but with nobody running: the door alone.
        took = []
        for number in range(ACCEPTS):
            began = time.perf_counter()
            await engine.accept(Delivery(f"one {number}", "order", BODY))
            took.append(time.perf_counter() - began)
        began = time.perf_counter()
        places = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with places:
                await engine.accept(Delivery(f"many {number}", "order", BODY))

        await asyncio.gather(*(one(number) for number in range(ACCEPTS)))
        rate = ACCEPTS / (time.perf_counter() - began)
    took.sort()
    wake, effect = await commanding(shell)
    return Round(statistics.median(took), took[int(len(took) * 0.99)], rate, wake, effect)


async def commanding(shell: Shell) -> tuple[float, float]:
    """From a delivery to the state it moved, and to the end of the effect it caused; medians."""
    hands = Hands()
    wakes, effects = [], []
    async with shell(Script(), policies(hands), LANES, SystemClock()) as engine:
        running = asyncio.create_task(engine.run())
        await engine.advance("warm", Do("up", effects=(Act("warm"),)), cause="bench")
        await engine.idle()
        for number in range(50):
            key = f"k{number}"
            held = hands.hold(key)
            began = time.perf_counter()
            await engine.accept(delivery(f"d{number}", (key, Do("placed", effects=(Act(key),)))))
            await held.reached.wait()
            wakes.append(time.perf_counter() - began)
            held.go.set()
            while (state := await engine.read(key)) is None or len(state.labels) < 2:
                pass
            effects.append(time.perf_counter() - began)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    return statistics.median(wakes), statistics.median(effects)


async def park(shell: Shell) -> None:
    async with shell(Script(), policies(Hands()), LANES, SystemClock()) as engine:
        for number in range(PARKED):
            later = Do(
                "parked",
                effects=(Act(f"later {number}", after=DAY, scope="run"),),
                timers=(Alarm("expiry", 14 * DAY, Do("expired")),),
            )
            await engine.advance(f"p{number}", later, cause="bench")


async def restart(shell: Shell) -> Parked:
    began = time.perf_counter()
    async with shell(Script(), policies(Hands()), LANES, SystemClock()) as engine:
        running = asyncio.create_task(engine.run())
        await engine.advance("woken", Do(f"at {began}"), cause="bench")
        await engine.idle()
        took = time.perf_counter() - began
        before, began = time.process_time(), time.perf_counter()
        await asyncio.sleep(5)
        core = (time.process_time() - before) / (time.perf_counter() - began)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    return Parked(took, core)


def fsync(folder: Path) -> float:
    """The disk's own median time to make 4 KB durable."""
    took = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(100):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    return statistics.median(took)


def ms(seconds: Iterable[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.2f} ms"


def percent(shares: Iterable[float]) -> str:
    return f"{statistics.median(shares) * 100:.2f} %"


def main() -> None:
    os.environ[postgres_server.DURABLE] = "1"
    names = sorted(SHELLS, reverse=True)
    rounds: dict[str, list[Round]] = {name: [] for name in names}
    parked: dict[str, list[Parked]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for number in range(ROUNDS):
            for name in names:
                place = folder / f"{name}-{number}"
                place.mkdir()
                rounds[name].append(uvloop.run(accepting(measured(name, place))))
                FORGET[name](place)
        for name in names:
            place = folder / f"{name}-parked"
            place.mkdir()
            uvloop.run(park(measured(name, place)))
            parked[name] = [uvloop.run(restart(measured(name, place))) for _ in range(ROUNDS)]
        show(names, rounds, parked, fsync(folder))


def measured(name: str, folder: Path) -> Shell:
    """With the pulse of a deployment, not of the tests."""
    return SHELLS[name](folder) if name == "sqlite" else postgres_shell(folder, Pulse())


def show(names: Sequence[str], rounds: dict[str, list[Round]], parked: dict[str, list[Parked]], disk: float) -> None:
    rows: list[tuple[str, list[str]]] = [
        ("accept, one at a time, p50", [ms(r.accept_p50 for r in rounds[n]) for n in names]),
        ("accept, one at a time, p99", [ms(r.accept_p99 for r in rounds[n]) for n in names]),
        (f"accepts/s, {AT_ONCE} at once", [f"{statistics.median([r.rate for r in rounds[n]]):.0f}" for n in names]),
        ("delivery to its performer, p50", [ms(r.wake for r in rounds[n]) for n in names]),
        ("delivery to its effect's outcome, p50", [ms(r.effect for r in rounds[n]) for n in names]),
        (f"restart with {PARKED:,} parked runs", [ms(p.restart for p in parked[n]) for n in names]),
        (
            f"core while {PARKED:,} are parked",
            [f"{100 * statistics.median([p.core for p in parked[n]]):.2f} %" for n in names],
        ),
    ]
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}; fsync {disk * 1000:.2f} ms"
    )
    print(f"{ROUNDS} rounds, interleaved, medians; bodies of {len(BODY) // 1024} KB\n")
    print(f"{'':38}" + "".join(f"{name:>12}" for name in names))
    for title, cells in rows:
        print(f"{title:38}" + "".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    main()
