"""Deliveries: accepted once, routed once, kept when they cannot be handled."""

from __future__ import annotations

from datetime import timedelta

from bot.engine.port import Delivery
from tests.engine.script import Act, Do, delivery
from tests.engine.stage import Shell, playing


async def test_a_delivery_moves_every_aggregate_it_is_about(shell: Shell) -> None:
    async with playing(shell) as stage:
        assert await stage.engine.accept(delivery("g1", ("a", Do("placed")), ("b", Do("noticed"))))
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed",)
        assert await stage.labels("b") == ("noticed",)
        assert await stage.labels("c") == ()
        (entry,) = await stage.engine.log("a")
        assert (entry.kind, entry.cause, entry.reason) == ("placed", "delivery:g1", "because placed")


async def test_the_same_guid_is_accepted_once_also_after_a_restart(shell: Shell) -> None:
    async with playing(shell) as stage:
        assert await stage.engine.accept(delivery("g1", ("a", Do("placed"))))
        assert not await stage.engine.accept(delivery("g1", ("a", Do("placed"))))
        await stage.engine.idle()
    async with playing(shell, clock=stage.clock) as stage:
        assert not await stage.engine.accept(delivery("g1", ("a", Do("placed"))))
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed",)


async def test_a_delivery_of_which_only_the_guid_is_kept_is_never_routed(shell: Shell) -> None:
    async with playing(shell) as stage:
        assert await stage.engine.accept(Delivery("g1", "push", None))
        assert not await stage.engine.accept(Delivery("g1", "push", None))
        await stage.engine.idle()
        assert (await stage.engine.overview()).deliveries == ()


async def test_what_was_accepted_before_the_engine_ran_is_handled_when_it_runs(shell: Shell) -> None:
    async with playing(shell) as stage:
        pass
    async with shell(stage.machine, (), (), stage.clock) as engine:
        await engine.accept(delivery("g1", ("a", Do("placed"))))
    async with playing(shell, clock=stage.clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed",)


async def test_a_poisonous_delivery_is_tried_a_few_times_then_left_dead_and_visible(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("bad")
        await stage.engine.accept(delivery("g1", ("a", Do("good", effects=(Act("x"),))), ("a", Do("bad"))))
        await stage.engine.accept(delivery("g2", ("b", Do("placed"))))
        await stage.engine.idle()
        assert await stage.labels("b") == ("placed",), "others go on"
        tries = 1
        while await stage.clock.advance_to_next(stage.engine):
            tries += 1
        assert tries == 5
        assert await stage.labels("a") == (), "all of a delivery or nothing"
        assert stage.hands.performed == []
        overview = await stage.engine.overview()
        (dead,) = overview.deliveries
        assert (dead.guid, dead.dead, dead.attempts, dead.error) == ("g1", True, 5, "Poisoned: bad")
        assert overview.dead == 1
        assert not await stage.engine.accept(delivery("g1", ("a", Do("good"))))


async def test_of_a_dead_delivery_the_machine_hears_once(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("bad")
        stage.machine.mourners = ("a",)
        await stage.engine.accept(delivery("g1", ("a", Do("bad"))))
        await stage.engine.idle()
        assert await stage.labels("a") == ()
        while await stage.clock.advance_to_next(stage.engine):
            pass
        assert await stage.labels("a") == ("unheard g1",)
        assert [entry.cause for entry in await stage.engine.log("a")] == ["dead delivery:g1"]
        assert (await stage.engine.overview()).dead == 1


async def test_a_machine_that_cannot_even_hear_of_a_dead_delivery_goes_on(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison |= {"bad", "unheard g1"}
        stage.machine.mourners = ("a",)
        await stage.engine.accept(delivery("g1", ("a", Do("bad"))))
        while await stage.clock.advance_to_next(stage.engine):
            pass
        await stage.do("a", Do("next"))
        assert await stage.labels("a") == ("next",)
        assert (await stage.engine.overview()).dead == 1


async def test_a_delivery_succeeds_once_the_bug_is_gone(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("bad")
        await stage.engine.accept(delivery("g1", ("a", Do("bad"))))
        await stage.engine.idle()
    async with playing(shell, clock=stage.clock) as stage:
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.labels("a") == ("bad",)
        assert (await stage.engine.overview()).deliveries == ()


async def test_a_body_that_cannot_be_routed_is_kept_as_failed(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.engine.accept(Delivery("g1", "order", b"{not json"))
        await stage.engine.idle()
        (kept,) = (await stage.engine.overview()).deliveries
        assert not kept.dead
        assert kept.error is not None
        assert kept.error.startswith("ValidationError")
        assert (await stage.engine.overview()).oldest_waiting == stage.clock.now()


async def test_guids_are_forgotten_after_seven_days_the_log_is_not(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.engine.accept(delivery("g1", ("a", Do("placed"))))
        await stage.engine.idle()
        stage.clock.advance(timedelta(days=7))
        await stage.engine.sweep()
        assert not await stage.engine.accept(delivery("g1", ("a", Do("placed"))))
        stage.clock.advance(timedelta(seconds=1))
        await stage.engine.sweep()
        assert await stage.engine.accept(delivery("g1", ("a", Do("placed"))))
        await stage.engine.idle()
        assert [entry.kind for entry in await stage.engine.log("a")] == ["placed", "placed"]
