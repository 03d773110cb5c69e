"""In a rush accepting goes before handling: for a while, and never for ever."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from bot.engine.port import Delivery
from bot.engine.rush import CROWD, LONG_PAUSE, LONGEST, MANY, MOST_AT_ONCE, PAUSE, WINDOW, Rush
from bot.engine.sqlite.database import Database
from bot.engine.tables.inbox import Arrived
from bot.engine.telling import known
from bot.engine.transaction import Tx
from tests.engine.clock import START
from tests.engine.script import Do, delivery
from tests.engine.stage import Shell, playing

A_WINDOW = 1.1 * WINDOW
"""And a little, as times are not exact."""


@dataclass
class Watch:
    """Seconds that the test moves."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds

    def pass_(self, seconds: float) -> None:
        self.seconds += seconds


def crowd(rush: Rush, deliveries: int) -> None:
    for _ in range(deliveries):
        rush.came()


def test_few_deliveries_are_no_rush() -> None:
    watch = Watch()
    rush = Rush(watch)
    for _ in range(100):
        crowd(rush, MANY - 1)
        assert not rush.on
        watch.pass_(A_WINDOW)


def test_rush_is_over_soon_after_the_last_of_many() -> None:
    watch = Watch()
    rush = Rush(watch)
    crowd(rush, MANY)
    assert rush.on
    watch.pass_(A_WINDOW)
    assert rush.on, "what was counted just before still tells of it"
    watch.pass_(A_WINDOW)
    assert not rush.on


def test_rush_that_lasts_holds_up_handling_no_longer() -> None:
    watch = Watch()
    rush = Rush(watch)
    lasted = 0.0
    crowd(rush, MANY)
    while rush.on:
        crowd(rush, MANY)
        watch.pass_(A_WINDOW)
        lasted += A_WINDOW
        assert lasted < 2 * LONGEST
    assert lasted >= LONGEST
    watch.pass_(10 * WINDOW)
    assert not rush.on
    crowd(rush, MANY)
    assert rush.on, "the next one is another"


async def test_handling_goes_on_in_a_rush_one_at_a_time() -> None:
    rush = Rush(Watch())
    assert await rush.give_way() == MOST_AT_ONCE
    crowd(rush, MANY)
    assert await rush.give_way() == 1


class Wait:
    """Moves the watch; with a rush, `more` deliveries come in each step."""

    def __init__(self, watch: Watch, more: int = 0) -> None:
        self.watch, self.more, self.waited = watch, more, 0.0
        self.rush: Rush | None = None

    async def __call__(self, seconds: float) -> None:
        assert seconds <= PAUSE
        self.waited += seconds
        self.watch.pass_(seconds)
        if self.rush is not None:
            crowd(self.rush, self.more)


@pytest.mark.parametrize(
    ("deliveries", "more", "pause"), [(MANY, MANY, PAUSE), (CROWD - 1, 0, PAUSE), (CROWD, CROWD, LONG_PAUSE)]
)
async def test_the_more_come_the_longer_handling_waits(deliveries: int, more: int, pause: float) -> None:
    """Where accepting takes all there is, each item that is handled holds up many: then it is few a minute."""
    watch = Watch()
    wait = Wait(watch, more)
    rush = wait.rush = Rush(watch, wait)
    crowd(rush, deliveries)
    assert await rush.give_way() == 1
    assert pause <= wait.waited < pause + 2 * PAUSE


async def test_who_speaks_at_the_end_of_a_crowd_does_not_wait_as_long_as_one_within_it() -> None:
    watch = Watch()
    wait = Wait(watch)
    rush = Rush(watch, wait)
    crowd(rush, 10 * CROWD)
    assert await rush.give_way() == MOST_AT_ONCE
    assert wait.waited <= 4 * WINDOW < LONG_PAUSE


async def test_deliveries_that_come_together_are_all_stored_and_handled_once(shell: Shell) -> None:
    """Some known before, some twice among them, some of which only the GUID is kept."""
    async with playing(shell) as stage:
        assert await stage.engine.accept(delivery("g3", ("a", Do("3"))))
        crowd = [delivery(f"g{number}", ("a", Do(str(number)))) for number in range(3 * MANY)]
        quiet = [Delivery(f"q{number}", "push", None) for number in range(5)]
        twice = [crowd[7], quiet[2]]
        new = await asyncio.gather(*(stage.engine.accept(one) for one in [*crowd, *quiet, *twice]))
        assert [one for one, is_new in zip([*crowd, *quiet, *twice], new, strict=True) if not is_new] == [
            crowd[3],
            *twice,
        ]
        await stage.engine.idle()
        heard = await stage.labels("a")
        assert sorted(heard, key=int) == [str(number) for number in range(3 * MANY)]
        assert await stage.engine.unheard([one.guid for one in [*crowd, *quiet]]) == frozenset()


async def test_one_that_cannot_be_stored_does_not_take_the_others_with_it(shell: Shell) -> None:
    async with playing(shell) as stage:
        # No database takes half a surrogate pair for text.
        bad = Delivery("\ud800", "push", None)
        good = [Delivery(f"g{number}", "push", None) for number in range(5)]
        results = await asyncio.gather(*(stage.engine.accept(one) for one in [*good, bad]), return_exceptions=True)
        assert results[:5] == [True] * 5
        assert isinstance(results[5], UnicodeEncodeError)


async def test_what_comes_is_committed_before_what_else_waits(tmp_path: Path) -> None:
    database = Database(tmp_path / "engine.db", state_schema=1)
    order: list[str] = []
    busy, gate = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def occupy(tx: Tx) -> None:
        loop.call_soon_threadsafe(busy.set)
        gate.wait()

    async def open_gate() -> None:
        # After what comes in this turn of the loop was handed over.
        loop.call_soon(gate.set)

    async def other(name: str) -> None:
        await database.write(lambda tx: None, rouses=False)
        order.append(name)

    async def coming(guid: str) -> None:
        assert await known(partial(database.take_in, Arrived(Delivery(guid, "push", None), START), rouses=False))
        order.append(guid)

    occupied = asyncio.create_task(database.write(occupy))
    await busy.wait()
    await asyncio.gather(other("moved"), other("settled"), coming("a"), coming("b"), open_gate())
    await occupied
    await database.close()
    assert order == ["a", "b", "moved", "settled"]
