"""The running engine: its marker of rest, its faults, its end, and what it does with bugs of machine and registry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.engine.port import Effect, EffectContext, Outcome
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Alarm, Do, Noted, Poisoned, Script, Wish, delivery
from tests.engine.shells import sqlite_shell
from tests.engine.stage import LANES, MINUTE, Flaky, Hands, Shell, playing, policies


async def test_an_idle_engine_says_so_at_once_and_has_nothing_due(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.engine.idle()
        assert await stage.engine.next_due() is None
        assert not await stage.clock.advance_to_next(stage.engine)
        assert await stage.engine.read("a") is None


async def test_advance_raises_what_the_step_raised_and_keeps_nothing(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("bad")
        with pytest.raises(Poisoned):
            await stage.engine.advance("a", Do("bad"), cause="test")
        assert await stage.engine.read("a") is None
        assert await stage.engine.log("a") == ()


async def test_a_machine_whose_events_never_end_is_stopped(shell: Shell) -> None:
    async with playing(shell) as stage:
        hydra = Do("placed", acquire=tuple(Wish("oven", f"{n}", Do("baking", release=(f"{n}",))) for n in range(1001)))
        with pytest.raises(RuntimeError, match="1000 events in one transaction"):
            await stage.engine.advance("a", hydra, cause="test")
        assert await stage.engine.read("a") is None


async def test_an_effect_nobody_can_perform_is_the_machines_bug(shell: Shell) -> None:
    async with playing(shell) as stage:
        with pytest.raises(LookupError, match="unheard"):
            await stage.engine.advance("a", Do("placed", effects=(Act("x", kind="unheard of"),)), cause="test")
        assert await stage.engine.read("a") is None


def unspeakable(effect: Effect, error: BaseException) -> Do:
    raise Poisoned(effect.id)


def undecided(error: BaseException) -> bool:
    raise Poisoned("who knows")


async def test_a_failure_that_cannot_be_put_into_words_leaves_the_effect_dead_until_revived(shell: Shell) -> None:
    hands, clock = Hands(), ManualClock()
    hands.errors["x"] = [KeyError()]
    async with playing(
        shell, clock=clock, registry=[replace(policy, failed=unspeakable) for policy in policies(hands)]
    ) as stage:
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        overview = await stage.engine.overview()
        assert [(effect.status, effect.last_error) for effect in overview.effects] == [("dead", "Poisoned: x")]
        assert overview.dead == 1
    async with playing(shell, clock=clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed",)
        await stage.engine.revive()
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "x done")
        assert (await stage.engine.overview()).dead == 0


async def test_what_nobody_can_classify_is_not_tried_again(shell: Shell) -> None:
    hands = Hands()
    hands.errors["x"] = [Flaky()]
    async with playing(shell, registry=[replace(policy, retryable=undecided) for policy in policies(hands)]) as stage:
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        assert await stage.labels("a") == ("placed", "x failed: Flaky")


async def test_dead_deliveries_and_events_are_handled_once_revived(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison |= {"bad", "expired"}
        await stage.engine.accept(delivery("g1", ("a", Do("bad"))))
        await stage.do("b", Do("placed", timers=(Alarm("t", MINUTE, Do("expired")),)))
        while await stage.clock.advance_to_next(stage.engine):
            pass
        assert (await stage.engine.overview()).dead == 2
        stage.machine.poison.clear()
        await stage.engine.revive()
        await stage.engine.idle()
        assert await stage.labels("a") == ("bad",)
        assert await stage.labels("b") == ("placed", "expired")
        assert (await stage.engine.overview()).dead == 0


async def test_an_older_state_is_read_by_the_newer_machine(shell: Shell) -> None:
    class Newer(Script):
        def load_state(self, schema: int, data: bytes) -> Noted:
            labels = super().load_state(schema, data).labels
            return Noted((*labels, "upcast") if schema == 1 else labels)

    async with playing(shell) as stage:
        await stage.do("a", Do("placed"))
    async with playing(shell, machine=Newer(schema=2)) as stage:
        await stage.do("a", Do("more"))
        assert await stage.labels("a") == ("placed", "upcast", "more")


async def test_an_engine_runs_once_at_a_time_and_again_after_it_was_stopped(shell: Shell) -> None:
    hands = Hands()
    async with shell(Script(), policies(hands), LANES, ManualClock()) as engine:
        for turn in ("x", "y"):
            running = asyncio.create_task(engine.run())
            await engine.advance("a", Do(turn, effects=(Act(turn),)), cause="test")
            await engine.idle()
            with pytest.raises(RuntimeError, match="runs already"):
                await engine.run()
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        assert hands.performed == ["x", "y"]


async def test_a_performer_that_finishes_in_spite_of_being_stopped_is_not_repeated(shell: Shell) -> None:
    class Stubborn(Hands):
        async def __call__(self, effect: Effect, context: EffectContext[Noted]) -> Outcome[Do]:
            try:
                return await super().__call__(effect, context)
            except asyncio.CancelledError:
                return Outcome(Do("acted all the same"))

    hands = Stubborn()
    async with playing(shell, hands=hands) as stage:
        held = hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x"),)), cause="test")
        await held.reached.wait()
    async with playing(shell, clock=stage.clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "acted all the same")
        assert stage.hands.performed == []


async def test_payloads_of_ended_effects_are_dropped_but_their_ids_stay(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        stage.clock.advance(timedelta(days=8))
        await stage.engine.sweep()
        await stage.do("a", Do("again", effects=(Act("x"), Act("y"))))
        assert stage.hands.performed == ["x", "y"]


async def test_a_cancellation_that_a_library_lost_ends_the_run_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `asyncio.wait_for` loses it until Python 3.12, in psycopg and its pool: the process would never stop."""
    reached = asyncio.Event()

    @asynccontextmanager
    async def losing() -> AsyncIterator[None]:
        with suppress(asyncio.CancelledError):
            reached.set()
            await asyncio.Event().wait()
        yield

    monkeypatch.setattr("bot.engine.sqlite.engine.nullcontext", losing)
    async with sqlite_shell(tmp_path)(Script(), policies(Hands()), LANES, ManualClock()) as engine:
        running = asyncio.create_task(engine.run())
        await reached.wait()
        running.cancel()
        async with asyncio.timeout(10):
            with pytest.raises(asyncio.CancelledError):
                await asyncio.shield(running)
        assert running.cancelled()
        assert not engine.running
