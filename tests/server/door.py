"""The webhook's door before a store in memory, and requests to it as GitHub sends them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from bot.engine.port import Delivery, Told
from bot.server.health import healthz
from bot.server.listening import Listening
from bot.server.webhook import PATIENCE, Take, webhook
from bot.server.webhook import Door as WayIn
from bot.server.webhook import door as way_in

Serving = Callable[..., AbstractAsyncContextManager["Door"]]

SECRET = b"correct horse battery staple"
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
BODY = json.dumps({"action": "created", "comment": {"body": "@perf-gate"}}).encode()


def sign(body: bytes, secret: bytes = SECRET) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def headers(body: bytes = BODY, **changes: str | None) -> dict[str, str]:
    """What GitHub sends; a change names a header with underscores for dashes, None leaves it out."""
    plain: dict[str, str | None] = {
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": GUID,
        "X-Hub-Signature-256": sign(body),
        "Content-Type": "application/json",
    }
    changed = plain | {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in changed.items() if value is not None}


def taking(accept: Callable[[Delivery], Coroutine[Any, Any, bool]]) -> Take:
    """A store that takes its time."""
    under_way: set[asyncio.Task[bool]] = set()

    def take(delivery: Delivery, told: Told) -> None:
        def ended(task: asyncio.Task[bool]) -> None:
            under_way.discard(task)
            error = task.exception()
            assert not isinstance(error, BaseException) or isinstance(error, Exception)
            told(error or task.result())

        under_way.add(task := asyncio.create_task(accept(delivery)))
        task.add_done_callback(ended)

    return take


@dataclass
class Door:
    """A served webhook door before a store in memory, which can be made to fail."""

    stored: list[Delivery] = field(default_factory=list)
    trouble: Exception | None = None
    url: str = ""

    def take(self, delivery: Delivery, told: Told) -> None:
        taking(self.accept)(delivery, told)

    async def accept(self, delivery: Delivery) -> bool:
        if self.trouble is not None:
            raise self.trouble
        new = delivery.guid not in {stored.guid for stored in self.stored}
        self.stored += [delivery] if new else []
        return new

    def keep(self, event: str, body: bytes) -> bytes | None:
        msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        return body if event == "issue_comment" and b"@perf-gate" in body else None

    async def post(self, body: Any = BODY, **changes: str | None) -> tuple[int, dict[str, str]]:
        signed = body if isinstance(body, bytes) else b""
        async with ClientSession() as session:
            request = session.post(f"{self.url}/webhook", data=body, headers=headers(signed, **changes))
            async with request as response:
                return response.status, await response.json()


@asynccontextmanager
async def served(secrets: Sequence[bytes] = (SECRET,), patience: timedelta = PATIENCE) -> AsyncIterator[Door]:
    """As `perf-gate serve` listens."""
    door = Door()
    way = way_in(secrets, door.take, door.keep, patience=patience)
    listening = Listening(application(way), way)
    door.url = f"http://127.0.0.1:{await listening.start('127.0.0.1', 0)}"
    try:
        yield door
    finally:
        await listening.stop()


@asynccontextmanager
async def served_whole(secrets: Sequence[bytes] = (SECRET,), patience: timedelta = PATIENCE) -> AsyncIterator[Door]:
    """Without the express way in: all of it by the HTTP server behind."""
    door = Door()
    server = TestServer(application(way_in(secrets, door.take, door.keep, patience=patience)))
    await server.start_server()
    door.url = str(server.make_url("")).rstrip("/")
    try:
        yield door
    finally:
        await server.close()


def application(way: WayIn) -> web.Application:
    app = web.Application()
    app.router.add_post("/webhook", webhook(way))
    app.router.add_get("/healthz", healthz)
    return app


SERVED = {"express": served, "whole": served_whole}
