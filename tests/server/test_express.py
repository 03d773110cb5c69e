"""Connections as clients make them: in pieces, kept, sent ahead, broken off; each request gets its one answer."""

from __future__ import annotations

import asyncio
import socket
from datetime import timedelta

import pytest
from aiohttp import web

from bot.engine.port import Delivery
from bot.server.express import MOST_AHEAD
from bot.server.head import LARGEST_HEAD, LARGEST_PLAIN_BODY
from bot.server.listening import Listening
from bot.server.webhook import door as way_in
from bot.serving import end
from tests.server.door import BODY, GUID, SECRET, Door, application, served, taking
from tests.server.wire import request, wire

ONE_READ = 256 * 1024
"""What uvloop takes from a socket at once."""
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: bot\r\n\r\n"


async def test_request_that_comes_byte_by_byte_is_one_delivery(door: Door) -> None:
    async with wire(door) as client:
        for byte in request():
            client.say(bytes([byte]))
            await client.writer.drain()
        assert await client.answer() == (202, {"status": "accepted"})
    assert door.stored == [Delivery(GUID, "issue_comment", BODY)]


@pytest.mark.parametrize("cut", [1, 4, 13, 22, 23, 24, 60, -len(BODY) - 2, -len(BODY), -1])
async def test_request_in_two_pieces_is_one_delivery(door: Door, cut: int) -> None:
    async with wire(door) as client:
        client.say(request()[:cut])
        await client.writer.drain()
        client.say(request()[cut:])
        assert (await client.answer())[0] == 202
    assert len(door.stored) == 1


async def test_connection_is_kept_for_many_deliveries_and_changes_over_and_back(door: Door) -> None:
    async with wire(door) as client:
        for number in range(3):
            client.say(request(guid=f"g{number}"))
            assert (await client.answer())[0] == 202
        client.say(HEALTH)
        assert await client.answer() == (200, {"status": "ok"})
        client.say(request(guid="g3"))
        assert (await client.answer())[0] == 202
        client.say(request(guid="g3"))
        assert await client.answer() == (202, {"status": "seen before"})
    assert [delivery.guid for delivery in door.stored] == ["g0", "g1", "g2", "g3"]


async def test_refused_request_leaves_its_connection_usable(door: Door) -> None:
    async with wire(door) as client:
        client.say(request(X_Hub_Signature_256="sha256=" + "0" * 64))
        assert (await client.answer())[0] == 401
        client.say(request())
        assert (await client.answer())[0] == 202


async def test_requests_sent_ahead_are_answered_in_order(door: Door) -> None:
    async with wire(door) as client:
        client.say(request(guid="a"), request(guid="a"), request(b"[]", guid="b"), HEALTH, request(guid="c"))
        answers = [await client.answer() for _ in range(5)]
    assert [status for status, _ in answers] == [202, 202, 400, 200, 202]
    assert answers[1][1] == {"status": "seen before"}
    assert [delivery.guid for delivery in door.stored] == ["a", "c"]


async def test_client_that_sends_far_ahead_is_answered_all_the_same(door: Door) -> None:
    many = 3 * MOST_AHEAD // len(request())
    async with wire(door) as client:
        client.say(*(request(guid=f"g{number}") for number in range(many)))
        assert [(await client.answer())[0] for _ in range(many)] == [202] * many
    assert len(door.stored) == many


async def test_what_is_kept_of_a_client_that_sends_far_ahead_stays_small() -> None:
    """However much of it comes between one answer and the next."""
    most, door = 0, Door()

    async def accept(delivery: Delivery) -> bool:
        nonlocal most
        most = max(most, *(connection.held for connection in listening.here))
        return await door.accept(delivery)

    way = way_in(SECRET, taking(accept), door.keep)
    listening = Listening(application(way), way)
    door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
    ahead = b"".join(request(guid=f"g{number}") for number in range(4000))
    most_kept = MOST_AHEAD + 2 * ONE_READ
    assert len(ahead) > 2 * most_kept
    async with wire(door) as client:
        client.say(ahead)
        for _ in range(4000):
            assert (await client.answer())[0] == 202
    await listening.stop()
    assert 0 < most <= most_kept


async def test_client_that_takes_no_answers_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is closed in peace stays until its client has read all: perhaps for ever."""
    monkeypatch.setattr("bot.server.listening.IDLE", timedelta(0))
    async with served(patience=timedelta(0)) as door:
        loop = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.setblocking(False)
            await loop.sock_connect(client, ("127.0.0.1", int(door.url.rpartition(":")[2])))
            with pytest.raises(ConnectionError):
                await loop.sock_sendall(client, 60_000 * request())


async def test_client_that_has_said_all_still_hears_the_answers() -> None:
    """aiohttp hangs up on such a client."""
    async with served() as door, wire(door) as client:
        client.say(request(guid="a"), request(guid="b"), request(guid="c")[:-1])
        client.writer.write_eof()
        assert [(await client.answer())[0] for _ in range(2)] == [202, 202]
        assert await client.over()
    assert [delivery.guid for delivery in door.stored] == ["a", "b"]


async def test_connection_ends_where_the_client_asks_for_it(door: Door) -> None:
    async with wire(door) as client:
        client.say(request(Connection="close"))
        assert (await client.answer())[0] == 202
        assert await client.over()


@pytest.mark.parametrize("size", [LARGEST_PLAIN_BODY, LARGEST_PLAIN_BODY + 1])
async def test_large_body_is_taken(door: Door, size: int) -> None:
    body = b'{"a": "' + b"x" * (size - 9) + b'"}'
    async with wire(door) as client:
        client.say(request(body))
        assert (await client.answer())[0] == 202


async def test_chunked_body_and_body_that_is_asked_for_are_taken(door: Door) -> None:
    chunked = request(Transfer_Encoding="chunked").replace(f"Content-Length: {len(BODY)}\r\n".encode(), b"")
    in_chunks = chunked.replace(BODY, b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY))
    async with wire(door) as client:
        client.say(in_chunks)
        assert (await client.answer())[0] == 202
    async with wire(door) as client:
        client.say(request(guid="asked", Expect="100-continue").removesuffix(BODY))
        assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.say(BODY)
        assert (await client.answer())[0] == 202
    assert [delivery.guid for delivery in door.stored] == [GUID, "asked"]


SMUGGLED = request(guid="smuggled")


@pytest.mark.parametrize(
    "first",
    [
        request(b"0\r\n\r\n", Transfer_Encoding="chunked"),
        request(Transfer_Encoding="chunked, identity"),
        request(BODY).replace(b"Host: bot\r\n", b"Host: bot\r\nContent-Length: 5\r\n"),
        request(BODY).replace(b"Content-Length: ", b"Content-Length: +"),
        request(BODY).replace(b"Content-Length: ", b"Content-Length: 1, "),
        request(BODY).replace(b"Content-Length: ", b"Content-Length : "),
        request(BODY).replace(b"Host: bot\r\n", b"Host: bot\r\n folded\r\n"),
        request(BODY).replace(b"Host: bot\r\n", b"Host: b\0t\r\n"),
        request(BODY).replace(b"\r\nHost", b"\nHost"),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        b"POST /webhook HTTP/1.1\r\nnothing of HTTP\r\n\r\n",
    ],
)
async def test_request_that_can_be_read_in_two_ways_ends_the_connection_and_what_follows_it(
    door: Door, first: bytes
) -> None:
    async with wire(door) as client:
        client.say(first, SMUGGLED)
        assert (await client.reader.readline()).startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
        await client.reader.read()
    assert door.stored == []


async def test_head_without_end_is_refused(door: Door) -> None:
    async with wire(door) as client:
        client.say(request().split(b"\r\n\r\n")[0], b"\r\nX-Long: ", b"x" * 4 * LARGEST_HEAD)
        assert b" 400 " in await client.reader.readline()
    assert door.stored == []


async def test_bug_behind_the_door_is_an_error_that_github_sees(door: Door) -> None:
    door.trouble = KeyError("a bug")
    async with wire(door) as client:
        client.say(request())
        assert b" 500 " in await client.reader.readline()


async def test_request_that_does_not_go_on_is_not_waited_for() -> None:
    """Of a head that does not end, too: aiohttp would wait for it as long as the client stays."""
    async with served(patience=timedelta(0)) as door, wire(door) as client:
        client.say(request()[:40])
        assert (await client.answer())[0] == 408
        assert await client.over()
    assert door.stored == []


async def test_what_is_being_stored_is_answered_before_the_bot_stops() -> None:
    door, storing, go = Door(), asyncio.Event(), asyncio.Event()

    async def accept(delivery: Delivery) -> bool:
        storing.set()
        await go.wait()
        return await door.accept(delivery)

    way = way_in(SECRET, taking(accept), door.keep)
    listening = Listening(application(way), way)
    door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
    async with wire(door) as client, wire(door) as idle:
        client.say(request(guid="last"), request(guid="too late"))
        await storing.wait()
        stopping = asyncio.create_task(listening.stop())
        assert await idle.over(), "who waits for nothing is sent away at once"
        go.set()
        assert (await client.answer())[0] == 202
        assert await client.over()
        await stopping
    assert [delivery.guid for delivery in door.stored] == ["last"]


async def test_no_new_effect_begins_while_a_last_delivery_is_being_told() -> None:
    door, storing, go = Door(), asyncio.Event(), asyncio.Event()

    async def accept(delivery: Delivery) -> bool:
        storing.set()
        await go.wait()
        return await door.accept(delivery)

    async def engine() -> None:
        await asyncio.get_running_loop().create_future()

    way = way_in(SECRET, taking(accept), door.keep)
    listening = Listening(application(way), way)
    door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
    acting = asyncio.create_task(engine())
    async with wire(door) as client:
        client.say(request(guid="last"))
        await storing.wait()
        ending = asyncio.create_task(end(listening, [acting]))
        await asyncio.wait({acting}, timeout=30)
        assert acting.cancelled(), "the engine stops at once, not after the door"
        assert not ending.done()
        go.set()
        assert (await client.answer())[0] == 202
        assert [type(result) for result in await ending] == [asyncio.CancelledError, type(None)]


async def test_stranger_who_never_comes_to_an_end_does_not_keep_the_bot_from_stopping() -> None:
    """Running effects get what is left of the host's patience."""
    begun = asyncio.Event()

    async def never(_request: web.Request) -> web.Response:
        begun.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    door = Door()
    way = way_in(SECRET, door.take, door.keep, patience=timedelta(milliseconds=10))
    app = application(way)
    app.router.add_get("/never", never)
    listening = Listening(app, way)
    door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
    async with wire(door) as client:
        client.say(b"GET /never HTTP/1.1\r\nHost: bot\r\n\r\n")
        await begun.wait()
        async with asyncio.timeout(30):
            await listening.stop()
        assert await client.over()
