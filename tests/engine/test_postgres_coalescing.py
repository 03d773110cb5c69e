"""What is coalesced into an effect is seen by its performer, whichever process claims it and at whichever moment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.engine.port import Effect, EffectContext, Outcome
from tests.engine import postgres_server
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Do, Noted, Wish
from tests.engine.shells import postgres_shell
from tests.engine.stage import MINUTE, Hands, Shell, playing
from tests.engine.test_postgres import PATIENCE, Narrow


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    yield postgres_shell(tmp_path)
    postgres_server.drop(tmp_path)


class Publisher(Hands):
    """Remembers what each performer read: what it would have published."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[tuple[str, ...]] = []

    async def __call__(self, effect: Effect, context: EffectContext[Noted]) -> Outcome[Do]:
        if effect.id.startswith("publish"):
            self.published.append((await context.read()).labels)
        return await super().__call__(effect, context)


async def test_what_a_transition_adds_to_a_waiting_effect_is_not_lost_to_its_claim_meanwhile(shell: Shell) -> None:
    """The claim of another process must not come between the look at what waits and the commit of what it shows."""
    machine, hands, clock = Narrow(), Publisher(), ManualClock()
    async with (
        playing(shell, machine=machine, hands=hands, clock=clock) as one,
        playing(shell, machine=machine, hands=hands, clock=clock) as other,
    ):
        await one.do("b", Do("ask", acquire=(Wish("oven", "a1", Do("baking")),)))
        await one.do("a", Do("ask", acquire=(Wish("oven", "b1", Do("slow")),)))
        publish = Act("publish 1", coalesce="publish", after=MINUTE)
        await one.do("c", Do("first", effects=(publish,)))
        # One transaction: it finds the first waiting, and then stands still in the step of who is granted the slot.
        both = Do("second", effects=(replace(publish, id="publish 2"),), release=("a1",))
        moving = asyncio.create_task(one.engine.advance("c", both, cause="test"))
        await asyncio.to_thread(machine.reached.wait, PATIENCE)
        clock.advance(MINUTE)
        await other.engine.advance("d", Do("placed", effects=(Act("after the claims"),)), cause="test")
        async with asyncio.timeout(PATIENCE):
            while "after the claims" not in hands.performed:
                await other.engine.overview()
        machine.go.set()
        await moving
        await asyncio.gather(one.engine.idle(), other.engine.idle())
        assert hands.published[-1][:2] == ("first", "second")
