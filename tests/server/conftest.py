"""The door as it is served: both ways in, of which each must do the same."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.server.door import SERVED, Door, Serving


@pytest.fixture(params=SERVED)
def serving(request: pytest.FixtureRequest) -> Serving:
    return SERVED[request.param]


@pytest.fixture
async def door(serving: Serving) -> AsyncIterator[Door]:
    async with serving() as door:
        yield door
