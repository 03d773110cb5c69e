"""How a process that has served ends: by a signal without a word, through a fault with one that gives nothing away."""

from __future__ import annotations

import asyncio
import logging

import pytest

from bot.engine.port import StoreError
from bot.serving import Ended, tell_of_faults

SECRET = "the password of the database"


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
