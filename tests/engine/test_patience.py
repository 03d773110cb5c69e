"""Effects that are worth waiting for: tried again for a while, however many attempts that takes."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from tests.engine.script import Act, Do
from tests.engine.stage import Flaky, Hands, Policy, Shell, playing, policies

DAY = timedelta(days=1)


def patient(hands: Hands) -> list[Policy]:
    """Three attempts, and as many more as a day holds."""
    return [replace(policy, patience=DAY) for policy in policies(hands)]


async def test_more_attempts_than_its_number_are_made_while_patience_lasts(shell: Shell) -> None:
    hands = Hands()
    async with playing(shell, hands=hands, registry=patient(hands)) as stage:
        hands.errors["x"] = [Flaky() for _ in range(12)]
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, 10 * timedelta(hours=1))
        assert await stage.labels("a") == ("placed", "x done")
        assert len(hands.performed) == 13


async def test_when_it_is_over_the_number_of_attempts_counts(shell: Shell) -> None:
    hands = Hands()
    async with playing(shell, hands=hands, registry=patient(hands)) as stage:
        hands.errors["x"] = [Flaky() for _ in range(100)]
        await stage.do("a", Do("placed", effects=(Act("x"),)))
        await stage.clock.pass_time(stage.engine, DAY + timedelta(hours=2))
        assert await stage.labels("a") == ("placed", "x failed: Flaky")
