"""The one door of a cage: an HTTP proxy on a UNIX socket that opens tunnels to the listed hosts and to nothing else.

Only CONNECT (RFC 9110, section 9.3.6) is known, so what goes through is the client's own TLS and no request can be
written by anybody in between. That TLS must ask for the very host, because others may be served at the same address.
The door stands outside the cage, where its code cannot change what is listed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from bot.sandbox.server_name import REFUSAL, NotTls, read_server_name

HTTPS = 443
_HEAD = 8 * 2**10  # bytes of a request's head; a client's own is a tenth
_HEAD_WITHIN = 30.0  # seconds
_CONNECT_WITHIN = 30.0
_TUNNELS = 64  # at one time; package clients open a few dozen
_CONNECT = re.compile(rb"CONNECT ([A-Za-z0-9.-]{1,253}):(\d{1,5}) HTTP/1\.[01]\r\n")


class Host(msgspec.Struct, frozen=True, order=True):
    """Where a tunnel may lead. Names are lower case, and only the very same name is meant."""

    name: str
    port: int = HTTPS

    def __str__(self) -> str:
        return self.name if self.port == HTTPS else f"{self.name}:{self.port}"


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[Host], Awaitable[Streams]]


async def dial(host: Host) -> Streams:
    return await asyncio.open_connection(host.name, host.port)


class Door:
    """Answers on one socket for as long as `open` lasts; tunnels that are open then are closed."""

    def __init__(self, allowed: Collection[Host], dial: Dial = dial) -> None:
        self._allowed = frozenset(allowed)
        self._dial = dial
        self._open: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Path]:
        """The socket's path. It may be used by every user of this machine: it leads nowhere that they cannot reach."""
        with tempfile.TemporaryDirectory(prefix="perf-gate-door-") as folder:
            path = Path(folder, "socket")
            server = await asyncio.start_unix_server(self._answer, path, limit=_HEAD)
            for place, mode in ((folder, 0o711), (path, 0o666)):
                os.chmod(place, mode)  # noqa: PTH101 — a name and a path
            try:
                yield path
            finally:
                server.close()
                for task in self._open:
                    task.cancel()
                await asyncio.gather(*self._open, return_exceptions=True)
                await server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 — a coroutine that runs has one
        self._open.add(task)
        try:
            if len(self._open) > _TUNNELS:
                await _refuse(writer, 503, f"no more than {_TUNNELS} connections at a time")
                return
            await self._tunnel(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # either side went away, or spoke no HTTP: there is nobody to tell
        finally:
            self._open.discard(task)
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_WITHIN):
            head = await reader.readuntil(b"\r\n\r\n")
        asked = _CONNECT.match(head)
        host = Host(asked[1].decode().lower(), int(asked[2])) if asked else None
        if host is None or host not in self._allowed:
            known = ", ".join(map(str, sorted(self._allowed))) or "nothing"
            await _refuse(writer, 403, f"the sandbox reaches {known} by HTTPS, and nothing else")
            return
        try:
            async with asyncio.timeout(_CONNECT_WITHIN):
                upstream = await self._dial(host)
        except (OSError, TimeoutError) as error:
            await _refuse(writer, 502, f"{host} cannot be reached from here: {error or 'no answer in time'}")
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            async with asyncio.timeout(_HEAD_WITHIN):
                first = await _asking_for(host, reader)
            if first is None:
                writer.write(REFUSAL)
                await writer.drain()
                return
            upstream[1].write(first)
            await asyncio.gather(_pump(reader, upstream[1]), _pump(upstream[0], writer))
        finally:
            upstream[1].close()


async def _asking_for(host: Host, reader: asyncio.StreamReader) -> bytes | None:
    """The client's first message, where it asks for this host. Addresses are asked for without a name (RFC 6066)."""
    try:
        message, name = await read_server_name(reader)
    except NotTls:
        return None
    return message if name == (None if _is_address(host.name) else host.name) else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(2**16):
        target.write(data)
        await target.drain()
    with suppress(OSError, RuntimeError):  # the other side may be gone already
        target.write_eof()


async def _refuse(writer: asyncio.StreamWriter, status: int, why: str) -> None:
    # Clients show the reason phrase, and most show nothing else.
    body = why.encode() + b"\n"
    writer.write(b"HTTP/1.1 %d %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, body[:-1], len(body)))
    writer.write(body)
    await writer.drain()
