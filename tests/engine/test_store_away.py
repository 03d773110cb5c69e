"""A store that a performer finds away: no fault of the effect, which is performed when the store is back."""

from __future__ import annotations

from msgspec.structs import replace

from bot.engine.port import StoreError
from tests.engine.script import Act, Do
from tests.engine.stage import MINUTE, Hands, Shell, playing, policies


def away(times: int, *, transient: bool = True) -> list[BaseException]:
    return [StoreError("the connection was lost", transient=transient) for _ in range(times)]


async def test_an_effect_that_could_not_read_its_state_is_performed_again(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = away(1)
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, MINUTE)
        assert await stage.labels("a") == ("placed", "x done")


async def test_an_effect_with_one_attempt_has_it_left_when_the_store_is_back(shell: Shell) -> None:
    hands = Hands()
    once = [replace(policy, attempts=1) for policy in policies(hands)]
    async with playing(shell, hands=hands, registry=once) as stage:
        hands.errors["x"] = away(2)
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, 5 * MINUTE)
        assert await stage.labels("a") == ("placed", "x done")


async def test_a_store_that_is_away_for_this_effect_alone_is_its_end_at_last(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = away(100)
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, 100 * MINUTE)
        assert await stage.labels("a") == ("placed", "x failed: StoreError")
        assert len(stage.hands.performed) == 5


async def test_a_store_that_will_not_be_back_is_the_effects_end(shell: Shell) -> None:
    async with playing(shell) as stage:
        stage.hands.errors["x"] = away(1, transient=False)
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        assert await stage.labels("a") == ("placed", "x failed: StoreError")
