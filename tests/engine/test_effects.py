"""Effects: performed when due, retried, revoked, coalesced, limited by lane, told when they end."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.engine.port import EffectContext
from tests.engine.script import Act, Do, Noted, Wish
from tests.engine.stage import MINUTE, Flaky, Shell, playing


async def test_an_effect_is_performed_once_and_its_outcome_moves_the_aggregate(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("charge"), Act("charge"))))
        await stage.do("a", Do("again", effects=(Act("charge"),)))
        assert stage.hands.performed == ["charge"]
        assert await stage.labels("a") == ("placed", "charge done", "again")
        assert [entry.cause for entry in await stage.engine.log("a")] == ["test", "effect:charge", "test"]
        (call,) = stage.hands.calls
        assert (call.key, call.payload, call.attempt, call.created_at) == ("a", {"id": "charge"}, 1, stage.clock.now())


async def test_an_effect_waits_for_its_due_time(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("later", after=MINUTE),)))
        assert stage.hands.performed == []
        assert await stage.engine.next_due() == stage.clock.now() + MINUTE
        stage.clock.advance(MINUTE - timedelta(microseconds=1))
        await stage.engine.idle()
        assert stage.hands.performed == []
        stage.clock.advance(timedelta(microseconds=1))
        await stage.engine.idle()
        assert stage.hands.performed == ["later"]


async def test_retryable_failures_are_tried_again_with_growing_waits_until_exhausted(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [Flaky(), Flaky(), Flaky()]
        started = stage.clock.now()
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        (waiting,) = (await stage.engine.overview()).effects
        assert (waiting.status, waiting.attempts, waiting.last_error) == ("pending", 1, "Flaky: flaky")
        assert waiting.due == started + MINUTE
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.engine.next_due() == started + 3 * MINUTE
        await stage.clock.advance_to_next(stage.engine)
        assert [call.attempt for call in stage.hands.calls] == [1, 2, 3]
        assert await stage.labels("a") == ("placed", "x failed: Flaky")
        assert (await stage.engine.overview()).effects == ()


async def test_zero_attempts_means_without_end(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [Flaky() for _ in range(40)]
        await stage.do("a", Do("placed", effects=(Act("x", kind="patient"),)))
        while await stage.clock.advance_to_next(stage.engine):
            pass
        assert len(stage.hands.calls) == 41
        assert await stage.labels("a") == ("placed", "x done")


async def test_a_retry_waits_at_least_as_long_as_the_other_side_asked(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [Flaky(retry_after=timedelta(hours=2)), Flaky(retry_after=timedelta(seconds=1))]
        started = stage.clock.now()
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        assert await stage.engine.next_due() == started + timedelta(hours=2)
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.engine.next_due() == stage.clock.now() + 2 * MINUTE


async def test_an_error_nobody_expected_fails_at_once_with_its_traceback_logged(
    shell: Shell, caplog: pytest.LogCaptureFixture
) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [KeyError("oops")]
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        assert await stage.labels("a") == ("placed", "x failed: KeyError")
        (record,) = [
            record for record in caplog.records if record.levelname == "ERROR" and record.name.startswith("bot.engine")
        ]
        assert record.exc_info is not None
        assert (record.__dict__["effect"], record.__dict__["key"]) == ("x", "a")


async def test_a_performer_that_outlives_its_deadline_is_cancelled_and_tried_again(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x"),)), cause="test")
        await held.reached.wait()
        stage.clock.advance(timedelta(minutes=10))
        await stage.engine.idle()
        assert held.cancelled
        (waiting,) = (await stage.engine.overview()).effects
        assert waiting.last_error == "TimeoutError: longer than 0:10:00"
        held.go.set()
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.labels("a") == ("placed", "x done")


async def test_a_performer_reads_the_state_as_committed(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x"),)), cause="test")
        await held.reached.wait()
        await stage.engine.advance("a", Do("changed"), cause="test")
        context: EffectContext[Noted] | None = held.context
        assert context is not None
        assert (await context.read()).labels == ("placed", "changed")
        held.go.set()


async def test_a_performer_sees_who_waits_for_a_slot_and_reads_them(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.do("b", Do("first", acquire=(Wish("tier", "b1", Do("has it")),)))
        wish = (Wish("tier", "a1", Do("has it")),)
        await stage.engine.advance("a", Do("second", effects=(Act("x"),), acquire=wish), cause="test")
        await held.reached.wait()
        context: EffectContext[Noted] | None = held.context
        assert context is not None
        assert [(slot.key, slot.granted) for slot in (await context.overview()).slots] == [("b", True), ("a", False)]
        assert (await context.read_other("b")).labels == ("first", "has it")
        assert await context.read_other("nobody") == Noted()
        held.go.set()


async def test_effects_of_one_name_coalesce_until_one_is_claimed(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("p1")
        await stage.engine.advance("a", Do("one", effects=(Act("p1", coalesce="publish"),)), cause="test")
        await held.reached.wait()
        for act in ("p2", "p3", "p4"):
            effects = (Act(act, coalesce="publish", after=MINUTE),)
            await stage.engine.advance("a", Do(act, effects=effects), cause="test")
        await stage.engine.advance("b", Do("other", effects=(Act("p5", coalesce="publish"),)), cause="test")
        held.go.set()
        await stage.clock.pass_time(stage.engine, MINUTE)
        assert stage.hands.performed == ["p1", "p5", "p2"]


async def test_effects_of_one_name_are_single_flight(shell: Shell) -> None:
    async with playing(shell) as stage:
        held, free = stage.hands.hold("p1"), stage.hands.hold("free")
        await stage.engine.advance("a", Do("one", effects=(Act("p1", coalesce="publish"),)), cause="test")
        await held.reached.wait()
        effects = (Act("p2", coalesce="publish"), Act("free"))
        await stage.engine.advance("a", Do("two", effects=effects), cause="test")
        await free.reached.wait()
        assert stage.hands.performed == ["p1", "free"]
        free.go.set()
        held.go.set()
        await stage.engine.idle()
        assert stage.hands.performed == ["p1", "free", "p2"]


async def test_an_urgent_request_brings_the_coalesced_one_forward_unless_it_backs_off(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("one", effects=(Act("p1", coalesce="publish", after=MINUTE),)))
        stage.hands.errors["p1"] = [Flaky(retry_after=timedelta(hours=1))]
        await stage.do("a", Do("two", effects=(Act("p2", coalesce="publish"),)))
        assert stage.hands.performed == ["p1"]
        await stage.do("a", Do("three", effects=(Act("p3", coalesce="publish"),)))
        assert stage.hands.performed == ["p1"]
        assert await stage.engine.next_due() == stage.clock.now() + timedelta(hours=1)


async def test_a_lane_performs_at_most_its_limit_in_each_partition(shell: Shell) -> None:
    async with playing(shell) as stage:
        acts = tuple(
            Act(f"{partition}{number}", kind="pair", partition=partition) for partition in "mn" for number in range(4)
        )
        held = {act.id: stage.hands.hold(act.id) for act in acts}
        await stage.engine.advance("a", Do("placed", effects=acts), cause="test")
        for act in ("m0", "m1", "n0", "n1"):
            await held[act].reached.wait()
        assert stage.hands.busy == 4
        for each in held.values():
            each.go.set()
        await stage.engine.idle()
        assert len(stage.hands.performed) == 8
        assert stage.hands.busiest == 4


async def test_a_busy_partition_does_not_hold_up_another(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("slow")
        slow = Act("slow", kind="narrow", partition="m")
        await stage.engine.advance(
            "a", Do("one", effects=(slow, Act("behind", kind="narrow", partition="m"))), cause="t"
        )
        await held.reached.wait()
        other = stage.hands.hold("other")
        await stage.engine.advance("a", Do("two", effects=(Act("other", kind="narrow", partition="n"),)), cause="t")
        await other.reached.wait()
        assert stage.hands.performed == ["slow", "other"]
        held.go.set()
        other.go.set()
        await stage.engine.idle()
        assert stage.hands.performed == ["slow", "other", "behind"]


async def test_a_narrow_lane_performs_in_order_of_asking(shell: Shell) -> None:
    async with playing(shell) as stage:
        acts = tuple(Act(f"x{number}", kind="narrow") for number in range(5))
        await stage.do("a", Do("placed", effects=acts))
        assert stage.hands.performed == ["x0", "x1", "x2", "x3", "x4"]
        assert stage.hands.busiest == 1


async def test_effects_in_flight_when_the_engine_stops_are_performed_by_the_next(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x"),)), cause="test")
        await held.reached.wait()
    assert held.cancelled
    async with playing(shell, clock=stage.clock) as stage:
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "x done")
        assert [call.attempt for call in stage.hands.calls] == [1], "an orderly stop costs no attempt"
        assert not stage.hands.calls[0].first, "whoever was stopped may have acted"


async def test_only_what_nobody_ever_began_is_performed_for_the_first_time(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = [Flaky(), Flaky()]
        await stage.do("a", Do("placed", effects=(Act("x"), Act("y", after=2 * MINUTE))))
        await stage.clock.pass_time(stage.engine, 10 * MINUTE)
        began = sorted((call.id, call.attempt, call.first) for call in stage.hands.calls)
        assert began == [("x", 1, True), ("x", 2, False), ("x", 3, False), ("y", 1, True)]


async def test_an_outcome_whose_step_raises_is_kept_and_not_performed_again(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("x done")
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        (stalled,) = (await stage.engine.overview()).stalled
        assert (stalled.key, stalled.cause, stalled.error) == ("a", "effect:x", "Poisoned: x done")
        stage.machine.poison.clear()
        await stage.clock.advance_to_next(stage.engine)
        assert await stage.labels("a") == ("placed", "x done")
        assert stage.hands.performed == ["x"]
        assert (await stage.engine.overview()).stalled == ()


async def test_an_outcome_that_never_can_be_delivered_is_left_dead_and_visible(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.machine.poison.add("x done")
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        while await stage.clock.advance_to_next(stage.engine):
            pass
        overview = await stage.engine.overview()
        assert (overview.dead, overview.stalled[0].attempts) == (1, 5)


async def test_many_effects_at_once_all_end(shell: Shell) -> None:
    async with playing(shell) as stage:
        events = [Do(f"placed {n}", effects=tuple(Act(f"{n}.{m}") for m in range(5))) for n in range(20)]
        await asyncio.gather(*(stage.engine.advance(f"k{n}", event, cause="test") for n, event in enumerate(events)))
        await stage.engine.idle()
        assert len(stage.hands.performed) == 100
        assert stage.hands.busiest <= 8
