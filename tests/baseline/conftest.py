"""The same scripted GitHub as in the tests of the adapter, and a whole simulated tier."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.baseline.tier import Nights, nights_of
from tests.github.conftest import gh, now, private_key_pem, service

__all__ = ["gh", "now", "private_key_pem", "service"]


@pytest.fixture
async def nights(
    tmp_path: Path,
    private_key_pem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Nights]:
    async with nights_of(tmp_path, private_key_pem, monkeypatch) as scene:
        yield scene
