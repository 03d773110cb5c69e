"""The door by itself: a tunnel leads to the host that was asked for, and so does the TLS that goes through it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bot.sandbox.proxy import Door, Host, Streams
from bot.sandbox.server_name import REFUSAL

ALLOWED = (Host("packages.example.org"), Host("192.0.2.7"))


@dataclass
class Upstream:
    """What came through, from whoever dialled; it answers with `hello`."""

    heard: bytearray = field(default_factory=bytearray)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            self.heard += data
            writer.write(b"hello")
        writer.close()


@asynccontextmanager
async def door(upstream: Upstream) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client's connection to the door, which leads to `upstream` wherever it should lead."""
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def dial(host: Host) -> Streams:
        return await asyncio.open_connection("127.0.0.1", port)

    async with Door(ALLOWED, dial).open() as socket:
        reader, writer = await asyncio.open_unix_connection(str(socket))
        yield reader, writer
        writer.close()
    server.close()
    await server.wait_closed()


async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
    writer.write(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")


def first_message(name: str | None) -> bytes:
    """What a TLS client says first, asking for that name."""
    context, outgoing = ssl.create_default_context(), ssl.MemoryBIO()
    context.check_hostname = name is not None
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("packages.example.org", "packages.example.org"),
        ("Packages.Example.ORG", "packages.EXAMPLE.org"),
        ("192.0.2.7", None),
    ],
)
async def test_the_name_that_the_tunnel_is_for_goes_through_whole(host: str, name: str | None) -> None:
    upstream, message = Upstream(), first_message(name)
    async with door(upstream) as (reader, writer):
        await connected(reader, writer, host)
        # In pieces, as a network may bring it.
        for piece in (message[:3], message[3:100], message[100:]):
            writer.write(piece)
            await writer.drain()
        assert await reader.readexactly(5) == b"hello"
        writer.write(b"and so on")
        assert await reader.readexactly(5) == b"hello"
    assert bytes(upstream.heard) == message + b"and so on"


@pytest.mark.parametrize("name", ["evil.example.org", "packages.example.org.evil.org", None])
async def test_another_name_behind_the_same_address_is_not_reached(name: str | None) -> None:
    """Whoever serves the index may serve anybody else at the same address."""
    upstream = Upstream()
    async with door(upstream) as (reader, writer):
        await connected(reader, writer, "packages.example.org")
        writer.write(first_message(name))
        assert await reader.read(100) == REFUSAL
    assert not upstream.heard


@pytest.mark.parametrize(
    "sent", [b"GET / HTTP/1.1\r\nHost: evil.example.org\r\n\r\n", b"\x16\x03\x01\xff\xff" + bytes(100)]
)
async def test_what_is_no_tls_does_not_go_through(sent: bytes) -> None:
    upstream = Upstream()
    async with door(upstream) as (reader, writer):
        await connected(reader, writer, "packages.example.org")
        writer.write(sent)
        assert await reader.read(100) == REFUSAL
    assert not upstream.heard
