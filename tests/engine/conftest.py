"""Every test of the contract runs against each shell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from bot.engine.port import Clock, Lane, Machine
from bot.engine.sqlite import SqliteEngine
from tests.engine.script import Do, Noted
from tests.engine.stage import Opening, Policy, Shell


def sqlite_shell(path: Path) -> Shell:
    def open_engine(
        machine: Machine[Noted, Do], policies: Sequence[Policy], lanes: Sequence[Lane], clock: Clock
    ) -> Opening:
        return SqliteEngine.open(path, machine, policies, lanes, clock, Random(1), grace=timedelta(0))  # noqa: S311

    return open_engine


@pytest.fixture(params=["sqlite"])
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Shell:
    return {"sqlite": sqlite_shell}[request.param](tmp_path / "engine.db")
