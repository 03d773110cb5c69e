"""Connections have a limit; above it each gets a defined answer, and nobody who keeps idle ones keeps GitHub out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import pytest

from bot.engine.port import Delivery
from bot.server.crowded import CROWDED, MOST_TOLD
from bot.server.listening import SLOW, Listening
from bot.server.webhook import Take
from bot.server.webhook import door as way_in
from tests.server.door import SECRET, Door, application, taking
from tests.server.wire import Wire, request, turns_until, wire

MOST = 3


class Storing:
    """A store that takes its time: `go` lets it end."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.begun = asyncio.Semaphore(0)
        self.go = asyncio.Event()

    async def __call__(self, delivery: Delivery) -> bool:
        self.begun.release()
        await self.go.wait()
        return await self._door.accept(delivery)


@asynccontextmanager
async def listening_at(door: Door, take: Take, slow: timedelta = SLOW) -> AsyncIterator[Listening]:
    way = way_in(SECRET, take, door.keep)
    listening = Listening(application(way), way, most=MOST, slow=slow)
    door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
    try:
        yield listening
    finally:
        await listening.stop()


async def busy(door: Door, stack: AsyncExitStack, storing: Storing) -> list[Wire]:
    """As many clients as there is room for, each waiting for its delivery to be stored."""
    clients = []
    for number in range(MOST):
        client = await stack.enter_async_context(wire(door))
        client.say(request(guid=f"g{number}"))
        await storing.begun.acquire()
        clients.append(client)
    return clients


async def test_one_connection_too_many_is_told_so_and_the_others_are_served(caplog: pytest.LogCaptureFixture) -> None:
    door = Door()
    storing = Storing(door)
    async with listening_at(door, taking(storing)), AsyncExitStack() as stack:
        clients = await busy(door, stack, storing)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert await late.answer() == (503, {"error": CROWDED.sentence})
        assert await late.over()
        storing.go.set()
        assert [(await client.answer())[0] for client in clients] == [202] * MOST
        clients[0].say(request(guid="again"))
        assert (await clients[0].answer())[0] == 202
    assert [delivery.guid for delivery in door.stored] == ["g0", "g1", "g2", "again"]
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == ["delivery refused"]


async def test_who_keeps_idle_connections_keeps_nobody_out() -> None:
    door = Door()
    async with listening_at(door, door.take), AsyncExitStack() as stack:
        idle = []
        for number in range(MOST):
            client = await stack.enter_async_context(wire(door))
            client.say(request(guid=f"g{number}"))
            assert (await client.answer())[0] == 202
            idle.append(client)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert (await late.answer())[0] == 202
        assert await idle[0].over(), "the one that was silent for longest made room"
        idle[1].say(request(guid="still-here"))
        assert (await idle[1].answer())[0] == 202


@pytest.mark.parametrize("then", [b"", b"GET / HTTP/1.1\r\nHost: bot\r\n"])
async def test_who_keeps_connections_of_the_whole_server_without_a_request_keeps_nobody_out(then: bytes) -> None:
    door = Door()
    async with listening_at(door, door.take), AsyncExitStack() as stack:
        kept = []
        for _ in range(MOST):
            client = await stack.enter_async_context(wire(door))
            client.say(b"HEAD /nowhere HTTP/1.1\r\nHost: bot\r\n\r\n")
            assert (await client.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 404 ")
            client.say(then)
            kept.append(client)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert (await late.answer())[0] == 202
        assert await kept[0].over(), "the one that is here for longest made room"
        assert not kept[1].reader.at_eof()


async def test_a_request_that_the_whole_server_answers_makes_no_room_for_others() -> None:
    door = Door()
    storing = Storing(door)
    async with listening_at(door, taking(storing)), AsyncExitStack() as stack:
        answered = []
        for number in range(MOST):
            client = await stack.enter_async_context(wire(door))
            # GitHub does not ask so: it is not for the quick way in.
            client.say(request(guid=f"g{number}").replace(b"/webhook", b"/webhook?", 1))
            await storing.begun.acquire()
            answered.append(client)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert (await late.answer())[0] == 503
        storing.go.set()
        assert [(await client.answer())[0] for client in answered] == [202] * MOST


FOREIGN = (b"/webhook", b"/webhook?", 1)
"""GitHub does not ask so: it is not for the quick way in."""


async def slow_ones(door: Door, listening: Listening, stack: AsyncExitStack, *, foreign: bool = False) -> list[Wire]:
    """As many clients as there is room for, each with a request whose last byte does not come."""
    clients: list[Wire] = []
    for number in range(MOST):
        client = await stack.enter_async_context(wire(door))
        said = request(guid=f"slow{number}")[:-1]
        client.say(said.replace(*FOREIGN) if foreign else said)
        await turns_until(lambda: listening.unfinished > len(clients))
        clients.append(client)
    return clients


@pytest.mark.parametrize("foreign", [False, True], ids=["the quick way", "the whole server"])
async def test_who_sends_slowly_keeps_nobody_out(foreign: bool) -> None:
    door = Door()
    async with listening_at(door, door.take, timedelta(0)) as listening, AsyncExitStack() as stack:
        slow = await slow_ones(door, listening, stack, foreign=foreign)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert (await late.answer())[0] == 202
        if not foreign:
            assert await slow[0].answer() == (503, {"error": CROWDED.sentence})
        assert await slow[0].over(), "the one that is awaited for longest made room"
        slow[1].say(request()[-1:])
        assert (await slow[1].answer())[0] == 202, "and no other"


@pytest.mark.parametrize("foreign", [False, True], ids=["the quick way", "the whole server"])
async def test_who_is_just_sending_makes_no_room_for_others(foreign: bool) -> None:
    door = Door()
    async with listening_at(door, door.take) as listening, AsyncExitStack() as stack:
        sending = await slow_ones(door, listening, stack, foreign=foreign)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert await late.answer() == (503, {"error": CROWDED.sentence})
        for client in sending:
            client.say(request()[-1:])
            assert (await client.answer())[0] == 202


async def test_of_both_ways_in_the_slowest_goes() -> None:
    door = Door()
    async with listening_at(door, door.take, timedelta(0)) as listening, AsyncExitStack() as stack:
        clients: list[Wire] = []
        for number in range(MOST):
            client = await stack.enter_async_context(wire(door))
            said = request(guid=f"slow{number}")[:-1]
            client.say(said if number else said.replace(*FOREIGN))
            await turns_until(lambda: listening.unfinished > len(clients))
            clients.append(client)
        late = await stack.enter_async_context(wire(door))
        late.say(request(guid="late"))
        assert (await late.answer())[0] == 202
        assert await clients[0].over()
        assert listening.unfinished == MOST - 1


async def test_a_crowd_that_says_nothing_is_hung_up_on() -> None:
    door = Door()
    storing = Storing(door)
    async with listening_at(door, taking(storing)), AsyncExitStack() as stack:
        await busy(door, stack, storing)
        silent = [await stack.enter_async_context(wire(door)) for _ in range(MOST_TOLD + 1)]
        assert await silent[-1].over()
        assert not silent[0].reader.at_eof(), "who came before may still ask, and is told"
        storing.go.set()
