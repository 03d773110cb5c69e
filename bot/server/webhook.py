"""The door for webhooks: only what GitHub signed comes in, and it is on disk before GitHub hears 202.

The order of checks is the order of cost, and nothing is stored before the last one: size, headers, signature, JSON.
GitHub shows a refusal's body in the App's "Recent deliveries", so each says what is wrong, where and how to mend it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec
from aiohttp import ClientPayloadError, web

from bot.engine.port import Delivery, StoreError
from bot.server.signature import Secrets

Accept = Callable[[Delivery], Awaitable[bool]]
KeepBody = Callable[[str, bytes], bool]
Handler = Callable[[web.Request], Awaitable[web.Response]]

# GitHub caps payloads at 25 MB and does not deliver larger ones.
LARGEST_BODY = 25 * 1024 * 1024
# GitHub's deepest payload nests some ten levels; a later reader with a deeper stack must not be the one to fail.
DEEPEST_NESTING = 64
# What can keep a store from storing. GitHub's log then shows 503, and the redelivery of what failed brings it again.
UNAVAILABLE: tuple[type[Exception], ...] = (OSError, StoreError)

# GitHub gives a delivery up after ten seconds. aiohttp itself waits for ever, also after a chunk that it cannot parse.
PATIENCE = timedelta(seconds=10)

_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_GUID = re.compile(r"[0-9A-Za-z-]{1,64}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not a delivery; `sentence` is for whoever reads GitHub's delivery log."""

    status: int
    sentence: str


def webhook(
    secret: bytes | Sequence[bytes], accept: Accept, keep_body: KeepBody, *, patience: timedelta = PATIENCE
) -> Handler:
    """The handler of `POST /webhook`.

    `accept` stores a delivery durably, False for a GUID that it had before; `keep_body(event, body)` says whether the
    body is worth keeping; `patience` bounds the reading of a body. ValueError where a secret is empty.
    """
    secrets = Secrets(secret)

    async def handle(request: web.Request) -> web.Response:
        checked = await _delivery(request, secrets, keep_body, patience)
        if isinstance(checked, Refusal):
            _log.warning("delivery refused", extra={"status": checked.status, "why": checked.sentence})
            return web.json_response({"error": checked.sentence}, status=checked.status)
        ids = {"delivery": checked.guid, "event": checked.event}
        try:
            new = await accept(checked)
        except UNAVAILABLE as error:
            _log.error("delivery not stored", extra=ids, exc_info=error)
            sentence = "perf-gate could not store the delivery; redeliver it once its disk or database is well again."
            return web.json_response({"error": sentence}, status=503)
        _log.info("delivery accepted", extra=ids | {"new": new})
        return web.json_response({"status": "accepted" if new else "seen before"}, status=202)

    return handle


async def _delivery(
    request: web.Request, secrets: Secrets, keep_body: KeepBody, patience: timedelta
) -> Delivery | Refusal:
    if request.content_length is not None and request.content_length > LARGEST_BODY:
        return _too_large()
    if (refusal := _bad_headers(request)) is not None:
        return refusal
    body = await _body(request, patience)
    if isinstance(body, Refusal):
        return body
    if not secrets.signed(body, request.headers.get("X-Hub-Signature-256")):
        return Refusal(
            401,
            "The X-Hub-Signature-256 header is missing or does not match the body; "
            "set the same webhook secret in the App's settings and in perf-gate's PERF_GATE_WEBHOOK_SECRET.",
        )
    event, guid = request.headers["X-GitHub-Event"], request.headers["X-GitHub-Delivery"]
    if not _is_object(body):
        return _no_object()
    if not keep_body(event, body):
        return Delivery(guid, event, None)
    refusal = _unreadable(body)
    return Delivery(guid, event, body) if refusal is None else refusal


def _bad_headers(request: web.Request) -> Refusal | None:
    if not _EVENT.fullmatch(request.headers.get("X-GitHub-Event", "")):
        return Refusal(400, "The X-GitHub-Event header is missing or no event's name; is this request from GitHub?")
    if not _GUID.fullmatch(request.headers.get("X-GitHub-Delivery", "")):
        return Refusal(400, "The X-GitHub-Delivery header is missing or no GUID; is this request from GitHub?")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        return Refusal(415, "The body has a Content-Encoding; send it as it was signed.")
    content_type, charset = request.content_type, _charset(request)
    if content_type != "application/json" or charset not in {None, "utf-8", "utf8"}:
        return Refusal(
            415,
            "The Content-Type is not application/json in UTF-8; choose application/json in the App's webhook settings.",
        )
    return None


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
                    return _too_large()
                chunks.append(chunk)
    except TimeoutError:
        return Refusal(408, f"The body did not arrive within {patience.total_seconds():g} seconds; send it again.")
    except (web.HTTPException, ClientPayloadError, OSError, ValueError):
        return Refusal(400, "The body broke off or was not sent as its headers say; send it again.")
    return b"".join(chunks)


def _too_large() -> Refusal:
    return Refusal(413, f"The body is larger than {LARGEST_BODY} bytes, which GitHub never sends; nothing was read.")


def _is_object(body: bytes) -> bool:
    """Checks the syntax of all of it without building it, which costs a fraction of parsing."""
    try:
        body.decode()
        msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _no_object() -> Refusal:
    return Refusal(400, "The body is not a JSON object in UTF-8; GitHub sends one for every event.")


def _unreadable(body: bytes) -> Refusal | None:
    """Reads all of a body that is kept, so that whoever reads it again, from disk, cannot fail on it."""
    try:
        level: list[Any] = [msgspec.json.decode(body)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _no_object()
    for _ in range(DEEPEST_NESTING):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return None
    return Refusal(400, f"The JSON body nests deeper than {DEEPEST_NESTING} levels; no event of GitHub does.")


def _inside(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in inner if isinstance(item, (dict, list))]


def routes(secret: bytes | Sequence[bytes], accept: Accept, keep_body: KeepBody) -> list[web.RouteDef]:
    """The door, for the application that serves it."""
    return [web.post("/webhook", webhook(secret, accept, keep_body))]
