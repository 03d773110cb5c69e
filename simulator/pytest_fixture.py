"""For pytest: the fixture `simulator`, a running simulator whose referees have the last word on every test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio

from simulator.clock import MovableClock
from simulator.simulator import Simulator

# A Tuesday morning; the tests' time stands still until they move it.
START = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)


def expect_no_violations(sim: Simulator) -> None:
    """Fail the test with every breach the referees recorded. Clear `sim.violations` where a breach was the point."""
    if sim.violations:
        pytest.fail(
            "the referees object:\n" + "\n".join(f"  {violation}" for violation in sim.violations), pytrace=False
        )


@pytest_asyncio.fixture(name="simulator")
async def simulator_fixture() -> AsyncIterator[Simulator]:
    """A simulator whose clock stands still at `START`."""
    async with Simulator(clock=MovableClock(START)) as sim:
        yield sim
        expect_no_violations(sim)
