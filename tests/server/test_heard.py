"""The log names every delivery; those of a crowd share lines, and none is left untold at the stop."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

import pytest

from bot.engine.port import Delivery
from bot.server.checks import NOT_SIGNED, TOO_LARGE
from bot.server.heard import Heard, Lately
from tests.server.door import served
from tests.server.wire import request, wire

NOON = datetime(2026, 6, 20, 12, 0, tzinfo=UTC)
LOGGER = "bot.server.webhook"


def delivery(guid: str, event: str = "push") -> Delivery:
    return Delivery(guid, event, None)


async def a_turn() -> None:
    """Of the event loop."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_soon(over.set)
    await over.wait()


async def test_the_first_is_told_at_once_and_those_close_behind_it_together(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    heard = Heard(lambda: NOON)
    heard.accepted(delivery("a"), True)
    assert caplog.records == [], "after the answer"
    await a_turn()
    assert [record.message for record in caplog.records] == ["delivery accepted"]
    heard.accepted(delivery("b"), True)
    heard.accepted(delivery("c", "issue_comment"), False)
    heard.accepted(delivery("d"), True)
    assert len(caplog.records) == 1
    heard.tell()
    line = caplog.records[-1].__dict__
    assert line["deliveries"] == ["b", "c", "d"]
    assert line["github_events"] == {"push": 2, "issue_comment": 1}
    assert line["seen_before"] == ["c"]
    heard.tell()
    assert len(caplog.records) == 2


async def test_what_was_accepted_last_is_told_before_the_bot_stops(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    async with served() as door, wire(door) as client:
        for number in range(5):
            client.say(request(guid=f"g{number}"))
            assert (await client.answer())[0] == 202
    told = [record.__dict__ for record in caplog.records if record.name == LOGGER]
    assert [guid for line in told for guid in line.get("deliveries", [line.get("delivery")])] == [
        f"g{number}" for number in range(5)
    ]


async def test_when_what_came_last_was_heard_and_when_it_was_refused() -> None:
    now = NOON

    def minute(number: int) -> datetime:
        nonlocal now
        now = NOON + timedelta(minutes=number)
        return now

    heard = Heard(lambda: now)
    assert heard.lately == Lately()
    first = minute(1)
    heard.accepted(delivery("a"), True)
    again = minute(2)
    heard.accepted(delivery("a"), False)
    assert heard.lately == Lately(signed=again, stored=first), "one seen before was not stored now"
    lost = minute(3)
    heard.not_stored(delivery("b"), OSError("disk full"))
    assert heard.lately == Lately(signed=lost, stored=first, not_stored=lost)
    forged = minute(4)
    heard.refused(NOT_SIGNED)
    minute(5)
    heard.refused(TOO_LARGE)
    assert heard.lately == Lately(signed=lost, stored=first, not_signed=forged, not_stored=lost)
    heard.tell()


@pytest.mark.parametrize(("error", "why"), [(OSError("disk full"), "disk full"), (TimeoutError(), "TimeoutError")])
async def test_the_line_of_a_delivery_that_was_not_stored_says_why(
    error: Exception, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    Heard(lambda: NOON).not_stored(delivery("a"), error)
    (line,) = [record.__dict__ for record in caplog.records]
    assert (line["message"], line["delivery"], line["why"]) == ("delivery not stored", "a", why)
