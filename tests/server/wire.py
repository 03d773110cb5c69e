"""A client's end of a connection to the door, byte by byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tests.server.door import BODY, GUID, Door, headers


@dataclass
class Wire:
    """A client's end of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say(self, *pieces: bytes) -> None:
        self.writer.writelines(pieces)

    async def answer(self) -> tuple[int, dict[str, str]]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
        return int(head.split()[1]), json.loads(await self.reader.readexactly(int(fields["content-length"])))

    async def over(self) -> bool:
        """Whether nothing more comes. Waits for the end."""
        return await self.reader.read() == b""


@asynccontextmanager
async def wire(door: Door) -> AsyncIterator[Wire]:
    host, _, port = door.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    yield Wire(reader, writer)
    writer.close()
    # The server may have hung up before.
    with suppress(ConnectionError):
        await writer.wait_closed()


def request(body: bytes = BODY, guid: str = GUID, *, length: int | None = None, **changes: str | None) -> bytes:
    """A whole request as GitHub sends it; `length` is what its header says of the body, where that is not true."""
    said = len(body) if length is None else length
    fields = headers(body, X_GitHub_Delivery=guid, Content_Length=str(said), Host="bot", **changes)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return b"POST /webhook HTTP/1.1\r\n" + lines.encode() + b"\r\n" + body


async def turns_until(is_so: Callable[[], bool]) -> None:
    """Let the event loop turn until it has taken in what was sent to it."""
    async with asyncio.timeout(30):
        while not is_so():
            over = asyncio.Event()
            asyncio.get_running_loop().call_soon(over.set)
            await over.wait()
