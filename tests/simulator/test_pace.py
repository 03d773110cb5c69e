"""The referee of pace: who asks during a limit's silence, or writes too soon after a write, is recorded."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from simulator import Simulator
from simulator.auth import Caller
from simulator.clock import MovableClock
from simulator.pace import PaceReferee
from simulator.pytest_fixture import START
from simulator.state import DEFAULT_PERMISSIONS, Installation, Token


async def paced(folder: Path) -> tuple[Simulator, PaceReferee, MovableClock, Caller]:
    """A referee of its own, and an installation that it watches."""
    clock = MovableClock(START)
    sim = Simulator(clock=clock, folder=folder)
    app = await sim.create_app(public_key="")
    installation = Installation(7, app, app.owner, [], dict(DEFAULT_PERMISSIONS), START)
    token = Token("ghs_1", installation, {}, frozenset(), START + timedelta(hours=1))
    referee = PaceReferee(sim.world, timedelta(seconds=1), watch=True)
    return sim, referee, clock, Caller("installation", token=token)


async def test_a_request_before_a_limit_is_over_is_a_violation_and_one_after_it_is_none(tmp_path: Path) -> None:
    sim, referee, clock, caller = await paced(tmp_path)
    referee.refused(caller, sim.limits.secondary(30))
    # On its way before the refusal could be read.
    referee.arrives(caller, "GET", "/app")
    clock.advance(timedelta(seconds=29))
    referee.arrives(caller, "GET", "/app")
    clock.advance(timedelta(seconds=1))
    referee.arrives(caller, "GET", "/app")
    assert sim.violations == ["GET /app: installation ID 7 was asked for silence for 1 s more"]


async def test_without_a_retry_after_it_is_a_minute_and_the_primary_limit_lasts_until_its_reset(tmp_path: Path) -> None:
    sim, referee, clock, caller = await paced(tmp_path)
    referee.refused(caller, sim.limits.secondary(None))
    clock.advance(timedelta(seconds=59))
    referee.arrives(caller, "GET", "/app")
    referee.refused(caller, sim.limits.exhausted(caller))
    clock.advance(timedelta(minutes=59))
    referee.arrives(caller, "GET", "/app")
    clock.advance(timedelta(minutes=1))
    referee.arrives(caller, "GET", "/app")
    assert len(sim.violations) == 2


async def test_two_writes_are_a_second_apart_unless_the_first_was_refused(tmp_path: Path) -> None:
    sim, referee, clock, caller = await paced(tmp_path)
    referee.answered(caller, "POST", 307)
    referee.arrives(caller, "POST", "/repositories/1")
    referee.answered(caller, "POST", 201)
    clock.advance(timedelta(seconds=0.9))
    referee.arrives(caller, "GET", "/app")
    referee.arrives(caller, "PATCH", "/repositories/1")
    referee.answered(caller, "PATCH", 0)
    clock.advance(timedelta(seconds=1))
    referee.arrives(caller, "PATCH", "/repositories/1")
    assert sim.violations == ["PATCH /repositories/1: installation ID 7 wrote 0.9 s ago"]
