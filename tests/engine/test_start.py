"""What an engine refuses to start with, whatever its shell."""

from __future__ import annotations

import pytest

from bot.engine.port import CannotStart
from tests.engine.clock import ManualClock
from tests.engine.script import Act, Do, Script
from tests.engine.stage import LANES, MINUTE, Hands, Shell, playing, policies


async def test_a_newer_state_schema_is_refused_and_left_alone(shell: Shell) -> None:
    async with playing(shell, machine=Script(schema=3)) as stage:
        await stage.do("a", Do("placed"))
    with pytest.raises(CannotStart, match=r"newer release \(state_schema 3, this release knows 2\)"):
        await playing(shell, machine=Script(schema=2)).__aenter__()
    async with playing(shell, machine=Script(schema=4)) as stage:
        assert await stage.labels("a") == ("placed",)


async def test_waiting_effects_of_an_unknown_kind_are_refused(shell: Shell) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("x", kind="patient", after=MINUTE),)))
    with pytest.raises(CannotStart, match="cannot perform: patient"):
        await shell(Script(), policies(Hands())[:3], LANES, ManualClock()).__aenter__()


async def test_a_registry_that_contradicts_itself_is_refused(shell: Shell) -> None:
    registry = policies(Hands())
    with pytest.raises(ValueError, match="act is for lane wide"):
        await shell(Script(), registry, LANES[1:], ManualClock()).__aenter__()
    with pytest.raises(ValueError, match="act has two policies"):
        await shell(Script(), (*registry, registry[0]), LANES, ManualClock()).__aenter__()
