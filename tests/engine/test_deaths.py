"""An effect that a process died with is performed again, less and less eagerly where it may be the cause."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from bot.engine.port import Effect
from tests.engine import postgres_server
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Do, Poisoned
from tests.engine.stage import MINUTE, Flaky, Hands, Shell, playing, policies

Died = Callable[[int], None]


@pytest.fixture
def died(shell_name: str, tmp_path: Path) -> Died:
    """Leave every waiting effect as a process does that dies with its n-th attempt."""

    def dying(attempts: int) -> None:
        statement = f"UPDATE effects SET status = 'claimed', attempts = {attempts:d}"  # noqa: S608  # a number
        if shell_name == "sqlite":
            with closing(sqlite3.connect(tmp_path / "engine.db", isolation_level=None)) as file:
                file.execute(statement)
        else:
            with psycopg.connect(postgres_server.address(tmp_path), autocommit=True) as server:
                # Without a job in the queue, as where its worker was struck off.
                server.execute(f"{statement}, job = NULL".encode())

    return dying


async def after_a_death(shell: Shell, died: Died, attempts: int, kind: str = "act") -> ManualClock:
    """The clock, at the time of the last life's death."""
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("x", kind=kind, after=MINUTE),)))
    died(attempts)
    return stage.clock


async def test_the_first_time_it_is_performed_again_at_once(shell: Shell, died: Died) -> None:
    clock = await after_a_death(shell, died, 1)
    async with playing(shell, clock=clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "x done")


async def test_later_it_waits_so_that_others_are_served_between_two_deaths(shell: Shell, died: Died) -> None:
    clock = await after_a_death(shell, died, 4)
    async with playing(shell, clock=clock) as stage:
        await stage.do("b", Do("placed", effects=(Act("y"),)))
        assert stage.hands.performed == ["y"]
        await stage.clock.pass_time(stage.engine, 4 * MINUTE)
        assert stage.hands.performed == ["y", "x"]


async def test_what_kills_one_process_after_the_other_fails(shell: Shell, died: Died) -> None:
    clock = await after_a_death(shell, died, 5)
    async with playing(shell, clock=clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "x failed: Lethal")
        assert stage.hands.performed == []


async def test_one_death_after_many_failures_is_no_proof_that_it_kills(shell: Shell, died: Died) -> None:
    hands = Hands()
    patient = [replace(policy, patience=timedelta(days=1)) for policy in policies(hands)]
    async with playing(shell, hands=hands, registry=patient) as stage:
        hands.errors["x"] = [Flaky() for _ in range(7)]
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, 100 * MINUTE)
        assert len(hands.performed) == 7
        clock = stage.clock
    died(8)
    async with playing(shell, clock=clock, hands=hands, registry=patient) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "x done")


def unspeakable(effect: Effect, error: BaseException) -> Do:
    raise Poisoned(effect.id)


async def test_failures_before_it_was_revived_excuse_no_death_after(shell: Shell, died: Died) -> None:
    hands = Hands()
    unsaid = [replace(policy, failed=unspeakable) for policy in policies(hands)]
    async with playing(shell, hands=hands, registry=unsaid) as stage:
        hands.errors["x"] = [Flaky() for _ in range(3)]
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, 10 * MINUTE)
        assert (await stage.engine.overview()).dead == 1
        held = hands.hold("x")
        await stage.engine.revive()
        await held.reached.wait()
    died(1)
    held.reached.clear()
    async with playing(shell, clock=stage.clock, hands=hands):
        await held.reached.wait()
    for deaths in (2, 3, 4, 5):
        died(deaths)
        async with playing(shell, clock=stage.clock) as stage:
            await stage.engine.idle()
            assert (await stage.labels("a"))[1:] == (("x failed: Lethal",) if deaths == 5 else ())


async def test_what_must_never_be_given_up_is_only_put_off(shell: Shell, died: Died) -> None:
    clock = await after_a_death(shell, died, 50, "patient")
    async with playing(shell, clock=clock) as stage:
        await stage.engine.idle()
        assert stage.hands.performed == []
        await stage.clock.pass_time(stage.engine, 60 * MINUTE)
        assert await stage.labels("a") == ("placed", "x done")
