"""Timers keep their time, slots keep their order."""

from __future__ import annotations

from datetime import timedelta

from tests.engine.script import Act, Alarm, Do, Wish
from tests.engine.stage import MINUTE, Shell, playing


def alarm(name: str, minutes: int, label: str) -> Alarm:
    return Alarm(name, minutes * MINUTE, Do(label))


async def test_a_timer_fires_once_at_its_time(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", timers=(alarm("expiry", 5, "expired"),)))
        stage.clock.advance(5 * MINUTE - timedelta(microseconds=1))
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed",)
        stage.clock.advance(timedelta(microseconds=1))
        await stage.engine.idle()
        await stage.clock.pass_time(stage.engine, 60 * MINUTE)
        assert await stage.labels("a") == ("placed", "expired")
        assert [entry.cause for entry in await stage.engine.log("a")] == ["test", "timer:expiry"]


async def test_a_timer_of_the_same_name_replaces_and_cancelling_an_absent_one_is_nothing(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("one", timers=(alarm("t", 1, "early"),), cancel=("absent",)))
        await stage.do("a", Do("two", timers=(alarm("t", 9, "late"), alarm("u", 2, "other"))))
        await stage.do("b", Do("three", timers=(alarm("t", 3, "b's own"),)))
        await stage.clock.pass_time(stage.engine, 5 * MINUTE)
        assert await stage.labels("a") == ("one", "two", "other")
        await stage.do("a", Do("four", cancel=("t",)))
        await stage.clock.pass_time(stage.engine, 60 * MINUTE)
        assert await stage.labels("a") == ("one", "two", "other", "four")
        assert await stage.labels("b") == ("three", "b's own")


async def test_a_timer_set_again_in_the_transition_that_cancels_it_stays_set(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("one", timers=(alarm("t", 1, "first"),)))
        await stage.do("a", Do("two", cancel=("t",), timers=(alarm("t", 2, "second"),)))
        await stage.clock.pass_time(stage.engine, 5 * MINUTE)
        assert await stage.labels("a") == ("one", "two", "second")


async def test_a_timer_keeps_its_original_time_across_restarts(shell: Shell) -> None:
    async with playing(shell) as stage:
        due = stage.clock.now() + 14 * MINUTE
        await stage.do("a", Do("placed", timers=(alarm("expiry", 14, "expired"),)))
    stage.clock.advance(10 * MINUTE)
    async with playing(shell, clock=stage.clock) as stage:
        await stage.engine.idle()
        assert await stage.engine.next_due() == due
    stage.clock.advance(10 * MINUTE)
    async with playing(shell, clock=stage.clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "expired"), "it came due while nobody was there"


async def test_timers_that_are_late_together_fire_in_order_and_see_each_other(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do(
            "a", Do("placed", timers=(Alarm("t1", MINUTE, Do("first", cancel=("t2",))), alarm("t2", 2, "no")))
        )
        await stage.do("a", Do("more", timers=(alarm("t3", 3, "third"), alarm("t4", 1, "second"))))
        stage.clock.advance(60 * MINUTE)
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "more", "first", "second", "third")


async def test_a_timer_whose_step_raises_is_kept_and_delivered_later(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("expired")
        await stage.do("a", Do("placed", timers=(alarm("expiry", 5, "expired"),)))
        await stage.clock.advance_to_next(stage.engine)
        (stalled,) = (await stage.engine.overview()).stalled
        assert (stalled.cause, stalled.attempts, stalled.dead) == ("timer:expiry", 1, False)
        stage.machine.poison.clear()
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.labels("a") == ("placed", "expired")


async def test_a_slot_goes_to_who_asked_first_then_to_who_waits_longest(shell: Shell) -> None:
    async with playing(shell) as stage:
        for key in "abc":
            await stage.do(key, Do("ask", acquire=(Wish("oven", f"{key}1", Do("baking")),)))
        assert [await stage.labels(key) for key in "abc"] == [("ask", "baking"), ("ask",), ("ask",)]
        slots = [(slot.holder, slot.granted) for slot in (await stage.engine.overview()).slots]
        assert slots == [("a1", True), ("b1", False), ("c1", False)]
        await stage.do("a", Do("give back", release=("a1",)))
        assert await stage.labels("b") == ("ask", "baking")
        assert (await stage.engine.log("b"))[-1].cause == "slot:oven"
        await stage.do("b", Do("give back", release=("b1",)))
        assert await stage.labels("c") == ("ask", "baking")


async def test_releasing_what_is_not_held_withdraws_the_wait(shell: Shell) -> None:
    async with playing(shell) as stage:
        for key in "abc":
            await stage.do(key, Do("ask", acquire=(Wish("oven", f"{key}1", Do("baking")),)))
        await stage.do("b", Do("give up", release=("b1", "unheard of")))
        await stage.do("a", Do("give back", release=("a1",)))
        assert await stage.labels("b") == ("ask", "give up")
        assert await stage.labels("c") == ("ask", "baking")


async def test_asking_twice_under_one_holder_changes_nothing(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("ask", acquire=(Wish("oven", "a1", Do("baking")), Wish("oven", "a1", Do("baking")))))
        await stage.do("a", Do("again", acquire=(Wish("oven", "a1", Do("baking")),)))
        assert await stage.labels("a") == ("ask", "baking", "again")


async def test_one_transition_may_release_and_ask_again_and_goes_to_the_end_of_the_line(shell: Shell) -> None:
    async with playing(shell) as stage:
        for key in "ab":
            await stage.do(key, Do("ask", acquire=(Wish("oven", f"{key}1", Do("baking")),)))
        await stage.do("a", Do("next", release=("a1",), acquire=(Wish("oven", "a2", Do("baking again")),)))
        assert await stage.labels("a") == ("ask", "baking", "next")
        assert await stage.labels("b") == ("ask", "baking")
        await stage.do("b", Do("done", release=("b1",)))
        assert await stage.labels("a") == ("ask", "baking", "next", "baking again")


async def test_a_grant_may_cause_the_next_in_one_transaction(shell: Shell) -> None:
    async with playing(shell) as stage:
        for key in "abcd":
            granted = Do("baking", effects=(Act(f"bake {key}"),), release=(f"{key}1",))
            await stage.do(key, Do("ask", acquire=(Wish("oven", f"{key}1", granted),)))
        assert [len(await stage.labels(key)) for key in "abcd"] == [3, 3, 3, 3]
        assert stage.hands.performed == [f"bake {key}" for key in "abcd"]
        assert (await stage.engine.overview()).slots == ()


async def test_slots_survive_a_restart(shell: Shell) -> None:
    async with playing(shell) as stage:
        for key in "ab":
            await stage.do(key, Do("ask", acquire=(Wish("oven", f"{key}1", Do("baking")),)))
    async with playing(shell, clock=stage.clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("ask", "baking")
        await stage.do("a", Do("give back", release=("a1",)))
        assert await stage.labels("b") == ("ask", "baking")


async def test_a_grant_whose_step_raises_does_not_undo_what_another_aggregate_did(shell: Shell) -> None:
    async with playing(shell) as stage:
        for key in "ab":
            await stage.do(key, Do("ask", acquire=(Wish("oven", f"{key}1", Do(f"baking {key}")),)))
        stage.machine.poison.add("baking b")
        await stage.do("a", Do("give back", release=("a1",)))
        assert await stage.labels("a") == ("ask", "baking a", "give back")
        assert await stage.labels("b") == ("ask",)
        assert [(slot.key, slot.granted) for slot in (await stage.engine.overview()).slots] == [("b", True)]
        stage.machine.poison.clear()
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.labels("b") == ("ask", "baking b")
