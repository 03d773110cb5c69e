"""A form that anybody may send: read by hand, since aiohttp waits for its end as long as the sender stays."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import parse_qsl

from aiohttp import ClientPayloadError, web

PATIENCE = timedelta(seconds=10)
LARGEST = 8 * 1024
"""Bytes: a token and a page's address, with every character of them escaped."""
_URLENCODED = "application/x-www-form-urlencoded"


async def read_form(request: web.Request, *, patience: timedelta = PATIENCE) -> Mapping[str, str] | None:
    """Its fields; None where it is too large, takes too long, breaks off or is no plain form of a browser."""
    if request.content_type != _URLENCODED or (request.content_length or 0) > LARGEST:
        return None
    body = b""
    try:
        async with asyncio.timeout(patience.total_seconds()):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > LARGEST:
                    return None
    except (TimeoutError, web.HTTPException, ClientPayloadError, OSError, ValueError):
        return None
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
