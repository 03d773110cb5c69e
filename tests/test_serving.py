"""How a process that has served ends: by a signal without a word, through a fault with one that gives nothing away."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bot.app import Vitals
from bot.effects.context import Rooms
from bot.engine.port import StoreError
from bot.serving import Ended, report_cage, tell_of_faults
from tests.engine.clock import START, ManualClock

SECRET = "the password of the database"


class FullThenWell:
    """A cage whose first test meets a full disk."""

    def __init__(self) -> None:
        self.answers: list[OSError | None] = [OSError(28, "No space left on device"), None]

    async def self_test(self, folder: Path) -> str | None:
        if (answer := self.answers.pop(0)) is not None:
            raise answer
        return None

    def describe(self, folder: Path) -> str:
        return "well"


async def test_a_sandbox_that_no_disk_let_test_is_tested_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vitals, seen = Vitals(START), list[tuple[bool | None, timedelta]]()

    class Passing(ManualClock):
        async def wait(self, wake: asyncio.Event, until: datetime | None) -> None:
            assert until is not None
            seen.append((vitals.sandbox_holds, until - self.now()))

    rooms = SimpleNamespace(settings=SimpleNamespace(trees_dir=tmp_path), cage=FullThenWell())
    await report_cage(cast(Rooms, rooms), vitals, Passing())
    assert seen == [(False, timedelta(minutes=1))]
    assert "tested again in a minute" in caplog.text
    assert vitals.sandbox_holds


def test_what_was_only_cancelled_is_no_fault() -> None:
    tell_of_faults([asyncio.CancelledError(), None, asyncio.CancelledError()], [SECRET])


def test_a_fault_is_told_as_an_end_and_stands_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    broken = StoreError(f"the database is gone ({SECRET})", transient=False)
    with pytest.raises(Ended, match=r"^the database is gone \(\[redacted\]\)$"):
        tell_of_faults([None, broken, OSError("after that")], [SECRET])
    (record,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert record.message == "perf-gate ends through a fault"
    assert record.exc_info is not None
    assert record.exc_info[1] is broken


def test_a_fault_without_words_is_told_by_its_name() -> None:
    with pytest.raises(Ended, match=r"^ConnectionResetError$"):
        tell_of_faults([ConnectionResetError()], [])
