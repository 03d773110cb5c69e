"""`perf-gate doctor --smoke` where something never answers: that is a broken link too, and it is named."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli.doctor import examine, smoke_check
from bot.cli.smoke import links
from bot.iris.adapter import Iris
from tests.conversations.world import world


async def hangs(*_: object) -> None:
    await asyncio.Event().wait()


async def stops(*_: object) -> bool:
    return True


async def test_a_submission_that_never_answers_is_a_broken_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Iris, "submit", hangs)
    monkeypatch.setattr(Iris, "stop", stops)
    monkeypatch.setattr(links, "_CALLS_WITHIN", timedelta(0))
    async with world(tmp_path) as w:
        lines = await examine(w.app.rooms.settings, (smoke_check(timedelta(0)),), lambda line: None)
    assert [(found.state, found.said) for _, found in lines] == [
        ("wrong", "broken link: submission: no answer, and 0 s are over")
    ]
