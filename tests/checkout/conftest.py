from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer

from bot.checkout.mirror import Mirror
from tests.checkout.origin import Origin


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.create(tmp_path / "origin")


@pytest.fixture
async def mirror(origin: Origin, tmp_path: Path, aiohttp_server: Callable[..., Awaitable[TestServer]]) -> Mirror:
    """A mirror of the served origin; nothing is fetched yet."""
    server = await aiohttp_server(origin.app())
    return Mirror(tmp_path / "state", str(server.make_url("/marin/marin.git")))
