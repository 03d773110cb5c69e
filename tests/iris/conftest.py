"""One real Iris cluster and one demo repository for all tests that need them; starting a cluster takes seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from demo.cluster import LocalCluster, installed_zephyr
from demo.repository import DemoRepository, create


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def iris_cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalCluster]:
    async with LocalCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def demo_repository(tmp_path_factory: pytest.TempPathFactory) -> DemoRepository:
    return create(tmp_path_factory.mktemp("repository"), installed_zephyr())


@pytest.fixture
def scratch_home(tmp_path: Path) -> Path:
    """The HOME of the iris program."""
    return tmp_path / "home"
