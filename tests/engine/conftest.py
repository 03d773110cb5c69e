"""Every test of the contract runs against each shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.shells import FORGET, SHELLS
from tests.engine.stage import Shell


@pytest.fixture(params=sorted(SHELLS))
def shell_name(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def shell(shell_name: str, tmp_path: Path) -> Iterator[Shell]:
    yield SHELLS[shell_name](tmp_path)
    FORGET[shell_name](tmp_path)
