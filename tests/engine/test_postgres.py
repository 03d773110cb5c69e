"""What only the PostgreSQL shell promises: several engines on one database do everything once, and one at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.engine.port import StoreError, Transition
from bot.engine.postgres.database import Database, prepared
from bot.engine.postgres.sharing import ManyProcesses
from bot.engine.runner import STORE_RETRY
from bot.engine.transaction import Tx
from tests.engine import postgres_server
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Alarm, Do, Noted, Script, Wish, delivery
from tests.engine.shells import postgres_shell
from tests.engine.stage import LANES, MINUTE, Flaky, Hands, Shell, playing, policies

PATIENCE = 60
"""Seconds after which what another process should have done is missed."""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    yield postgres_shell(tmp_path)
    postgres_server.drop(tmp_path)


def ask(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(postgres_server.address(folder), autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


class Narrow(Script):
    """Counts who is inside `step` for one aggregate; the event `slow` stays there until it may go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.reached = threading.Event()
        self.go = threading.Event()

    def step(self, state: Noted, event: Do, now: datetime) -> Transition[Noted, Do]:
        self.inside.append(event.label)
        if event.label == "slow":
            self.reached.set()
            assert self.go.wait(PATIENCE)
        return super().step(state, event, now)


async def test_two_engines_never_move_one_aggregate_at_the_same_time(shell: Shell, tmp_path: Path) -> None:
    machine = Narrow()
    async with playing(shell, machine=machine) as one, playing(shell, machine=machine) as other:
        slow = asyncio.create_task(one.engine.advance("a", Do("slow"), cause="test"))
        await asyncio.to_thread(machine.reached.wait, PATIENCE)
        behind = asyncio.create_task(other.engine.advance("a", Do("behind"), cause="test"))
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        async with asyncio.timeout(PATIENCE):
            while not await asyncio.to_thread(ask, tmp_path, waiting):
                pass
        assert machine.inside == ["slow"], "the other waits at the door"
        machine.go.set()
        await asyncio.gather(slow, behind)
        assert await one.labels("a") == ("slow", "behind")


async def test_what_reaches_two_engines_is_handled_and_performed_once(shell: Shell) -> None:
    hands, clock = Hands(), ManualClock()
    async with playing(shell, hands=hands, clock=clock) as one, playing(shell, hands=hands, clock=clock) as other:
        deliveries = [
            delivery(f"g{n}", (f"k{n % 5}", Do(f"placed {n}", effects=(Act(f"x{n}"), Act(f"y{n}", kind="narrow")))))
            for n in range(30)
        ]
        accepted = await asyncio.gather(*(stage.engine.accept(each) for each in deliveries for stage in (one, other)))
        assert sum(accepted) == 30
        await asyncio.gather(one.engine.idle(), other.engine.idle())
        labels = [label for key in range(5) for label in (await one.labels(f"k{key}"))]
        assert sorted(labels) == sorted(
            label for n in range(30) for label in (f"placed {n}", f"x{n} done", f"y{n} done")
        )
        assert sorted(hands.performed) == sorted(f"{letter}{n}" for letter in "xy" for n in range(30))


async def test_a_lanes_limit_holds_for_both_together(shell: Shell) -> None:
    hands, clock = Hands(), ManualClock()
    async with playing(shell, hands=hands, clock=clock) as one, playing(shell, hands=hands, clock=clock) as other:
        for number, stage in enumerate((one, other) * 5):
            event = Do("placed", effects=(Act(f"x{number}", kind="narrow"),))
            await stage.engine.advance(f"k{number}", event, cause="test")
        await one.engine.idle()
        assert len(hands.performed) == 10
        assert hands.busiest == 1


async def test_what_coalesces_is_single_flight_whoever_performs_it(shell: Shell, tmp_path: Path) -> None:
    hands, clock = Hands(), ManualClock()
    held = hands.hold("p1")
    async with playing(shell, hands=hands, clock=clock) as one, playing(shell, hands=hands, clock=clock) as other:
        await one.engine.advance("a", Do("one", effects=(Act("p1", coalesce="publish"),)), cause="test")
        await held.reached.wait()
        await other.engine.advance("a", Do("two", effects=(Act("p2", coalesce="publish"), Act("free"))), cause="test")
        async with asyncio.timeout(PATIENCE):
            while "free" not in hands.performed:
                await other.engine.overview()
        assert hands.performed == ["p1", "free"]
        locks = ask(tmp_path, "SELECT lock, status::text FROM procrastinate_jobs WHERE lock IS NOT NULL ORDER BY id")
        assert locks == [("a publish", "doing"), ("a publish", "todo")]
        held.go.set()
        await one.engine.idle()
        assert hands.performed == ["p1", "free", "p2"]


async def test_a_performer_is_told_of_its_revocation_by_another_process(shell: Shell) -> None:
    async with playing(shell) as one:
        held = one.hands.hold("x")
        await one.engine.advance("a", Do("placed", effects=(Act("x", scope="run1"),)), cause="test")
        assert not await held.is_revoked()
        async with shell(Script(), policies(Hands()), LANES, one.clock) as other:
            await other.advance("a", Do("stop", revoke=("run1",)), cause="test")
        assert held.context is not None
        async with asyncio.timeout(PATIENCE):
            await held.context.revoked.wait()
        held.go.set()
        await one.engine.idle()
        assert await one.labels("a") == ("placed", "stop", "x done")


async def test_a_slot_is_granted_across_processes(shell: Shell) -> None:
    async with playing(shell) as one, playing(shell) as other:
        await one.do("a", Do("ask", acquire=(Wish("oven", "a1", Do("baking")),)))
        await other.do("b", Do("ask", acquire=(Wish("oven", "b1", Do("baking")),)))
        assert await other.labels("b") == ("ask",)
        await one.do("a", Do("give back", release=("a1",)))
        assert await other.labels("b") == ("ask", "baking")


async def test_deliveries_about_the_same_aggregates_do_not_lock_each_other_out(shell: Shell) -> None:
    async with playing(shell) as one, playing(shell) as other:
        events = []
        for number in range(20):
            there = (("a", Do(f"{number}")), ("b", Do(f"{number}")))
            events.append(one.engine.accept(delivery(f"there {number}", *there)))
            events.append(other.engine.accept(delivery(f"back {number}", *reversed(there))))
        await asyncio.gather(*events)
        await asyncio.gather(one.engine.idle(), other.engine.idle())
        expected = sorted(str(number) for number in range(20) for _ in range(2))
        assert sorted(await one.labels("a")) == sorted(await one.labels("b")) == expected
        assert (await one.engine.overview()).dead == 0


async def test_of_two_transactions_that_wait_for_each_other_one_is_done_again(tmp_path: Path) -> None:
    sharing = ManyProcesses(PATIENCE)
    url = await prepared(postgres_server.address(tmp_path), 1)
    both_hold_one = threading.Barrier(2)
    tries: list[str] = []

    def lock(first: str, second: str, tx: Tx) -> None:
        tries.append(first)
        sharing.lock(tx, first)
        if tries.count(first) == 1:
            both_hold_one.wait(PATIENCE)
        sharing.lock(tx, second)

    one, other = Database(url, sharing), Database(url, sharing)
    try:
        await asyncio.gather(one.write(partial(lock, "a", "b")), other.write(partial(lock, "b", "a")))
        assert len(tries) == 3
    finally:
        await one.close()
        await other.close()
        postgres_server.drop(tmp_path)


async def test_every_open_effect_has_one_job_and_an_ended_one_has_none(shell: Shell, tmp_path: Path) -> None:
    jobs = "SELECT queue_name, task_name, args ->> 'effect', lock, status::text FROM procrastinate_jobs ORDER BY id"
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [Flaky()]
        later = Act("later", kind="pair", after=MINUTE, scope="run1")
        await stage.do("a", Do("placed", effects=(Act("x"), Act("y"), later, Act("p", coalesce="c", after=MINUTE))))
        assert sorted(ask(tmp_path, jobs)) == [
            ("pair", "pair", "later", None, "todo"),
            ("wide", "act", "p", "a c", "todo"),
            ("wide", "act", "x", None, "todo"),
        ]
        await stage.do("a", Do("stop", revoke=("run1",)))
        await stage.clock.pass_time(stage.engine, 5 * MINUTE)
        assert ask(tmp_path, jobs) == []
        assert sorted(stage.hands.performed) == ["p", "x", "x", "y"]


async def test_a_job_that_an_operator_cancelled_is_made_anew(shell: Shell, tmp_path: Path) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("x", after=MINUTE),)))
        ask(tmp_path, "SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs")
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.labels("a") == ("placed", "x done")


async def test_lost_connections_are_made_again(shell: Shell, tmp_path: Path) -> None:
    async with playing(shell) as stage:
        late = Alarm("t", 5 * MINUTE, Do("expired", effects=(Act("x"),)))
        await stage.do("a", Do("placed", effects=(Act("w"),), timers=(late,)))
        ask(
            tmp_path,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        assert await stage.engine.accept(delivery("g1", ("a", Do("heard"))))
        async with asyncio.timeout(PATIENCE):
            while "x done" not in await stage.labels("a"):
                stage.clock.advance(STORE_RETRY)
        assert await stage.labels("a") == ("placed", "w done", "heard", "expired", "x done")


async def test_text_that_postgresql_cannot_hold_is_held_all_the_same(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("nul \0 here"))
        assert await stage.labels("a") == ("nul \0 here",)
        (entry,) = await stage.engine.log("a")
        assert entry.kind == "nul \N{REPLACEMENT CHARACTER} here"


async def test_a_newer_release_beside_it_ends_the_older_one(shell: Shell) -> None:
    async with shell(Script(), policies(Hands()), LANES, ManualClock()) as older:
        running = asyncio.create_task(older.run())
        await older.advance("a", Do("placed"), cause="test")
        async with playing(shell, machine=Script(schema=2)) as newer:
            await newer.do("a", Do("more"))
            with pytest.raises(StoreError, match="newer release runs beside this one"):
                await older.read("a")
            with pytest.raises(StoreError, match="newer release runs beside this one"):
                await older.advance("a", Do("late"), cause="test")
            await older.accept(delivery("g1", ("a", Do("heard"))))
            await newer.engine.idle()
            assert await newer.labels("a") == ("placed", "more", "heard")
        running.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await running
