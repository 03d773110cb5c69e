"""The door for webhooks: only what GitHub signed comes in, and it is on disk before GitHub hears 202.

This is the door for whatever comes; `express` is a quick way in for requests as GitHub sends them, by the same checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec
from aiohttp import ClientPayloadError, web

from bot.engine.clock import SystemClock
from bot.engine.port import Delivery, Told
from bot.engine.telling import known
from bot.server.checks import (
    BROKEN_OFF,
    ENCODED,
    LARGEST_BODY,
    NOT_JSON,
    NOT_STORED,
    TOO_LARGE,
    UNAVAILABLE,
    Checks,
    Keep,
    Refusal,
    bad_names,
    too_slow,
)
from bot.server.heard import Heard

Take = Callable[[Delivery, Told], None]
Handler = Callable[[web.Request], Awaitable[web.Response]]

# GitHub gives a delivery up after ten seconds. aiohttp itself waits for ever, also after a chunk that it cannot parse.
PATIENCE = timedelta(seconds=10)
_now = SystemClock().now
ACCEPTED = {True: "accepted", False: "seen before"}


class Door(msgspec.Struct, frozen=True):
    """What a request must pass, where its delivery goes, and how long its body may take.

    `take` stores a delivery durably, and tells.
    """

    checks: Checks
    take: Take
    heard: Heard
    patience: timedelta


def door(
    secret: bytes | Sequence[bytes],
    take: Take,
    keep: Keep,
    *,
    patience: timedelta = PATIENCE,
    now: Callable[[], datetime] = _now,
) -> Door:
    """ValueError where a secret is empty."""
    return Door(Checks(secret, keep), take, Heard(now), patience)


def webhook(door: Door) -> Handler:
    """The handler of `POST /webhook`."""

    async def handle(request: web.Request) -> web.Response:
        checked = await _delivery(request, door)
        if isinstance(checked, Refusal):
            door.heard.refused(checked)
            return web.json_response({"error": checked.sentence}, status=checked.status)
        try:
            new = await known(partial(door.take, checked))
        except UNAVAILABLE as error:
            door.heard.not_stored(checked, error)
            return web.json_response({"error": NOT_STORED.sentence}, status=NOT_STORED.status)
        door.heard.accepted(checked, new)
        return web.json_response({"status": ACCEPTED[new]}, status=202)

    return handle


async def _delivery(request: web.Request, door: Door) -> Delivery | Refusal:
    if request.content_length is not None and request.content_length > LARGEST_BODY:
        return TOO_LARGE
    event, guid = request.headers.get("X-GitHub-Event", ""), request.headers.get("X-GitHub-Delivery", "")
    refusal = bad_names(event, guid) or _bad_content(request)
    if refusal is not None:
        return refusal
    body = await _body(request, door.patience)
    if isinstance(body, Refusal):
        return body
    return door.checks.delivery(event, guid, request.headers.get("X-Hub-Signature-256"), body)


def _bad_content(request: web.Request) -> Refusal | None:
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        return ENCODED
    content_type, charset = request.content_type, _charset(request)
    return None if content_type == "application/json" and charset in {None, "utf-8", "utf8"} else NOT_JSON


def _charset(request: web.Request) -> str | None:
    charset = request.charset
    return None if charset is None else charset.lower()


async def _body(request: web.Request, patience: timedelta) -> bytes | Refusal:
    """Read by hand: a chunked body has no length to believe, and the limit holds before all of it is in memory."""
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(patience.total_seconds()):
            async for chunk in request.content.iter_any():
                size += len(chunk)
                if size > LARGEST_BODY:
                    return TOO_LARGE
                chunks.append(chunk)
    except TimeoutError:
        return too_slow(patience.total_seconds())
    except (web.HTTPException, ClientPayloadError, OSError, ValueError):
        return BROKEN_OFF
    return b"".join(chunks)
