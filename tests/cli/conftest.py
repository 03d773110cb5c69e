"""What the commands beside the bot find around them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine import postgres_server


@pytest.fixture
def beside_the_bot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Nothing but the state's place is known: no key, no secret."""
    for name in list(os.environ):
        if name.startswith("PERF_GATE_") and name != postgres_server.SERVER:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PERF_GATE_STATE_DIR", str(tmp_path / "state"))
    return monkeypatch
