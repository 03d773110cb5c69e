"""Anything may knock: the door never breaks, and never stores what was not signed right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import ClientSession, web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.server.listening import Listening
from bot.server.webhook import door, webhook
from tests.server.door import BODY, SECRET, Door, headers, sign

# What an HTTP client lets through in a header's value; UTF-8 beyond ASCII included.
values = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=80)
header_values = st.one_of(st.none(), values)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
bodies = st.one_of(
    st.binary(max_size=200),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.builds(lambda cut: BODY[:cut], st.integers(0, len(BODY))),
)


class Knocker:
    """A door on a loop of its own, so that Hypothesis can knock from plain functions."""

    def __init__(self) -> None:
        self.door = Door()
        self.runner = asyncio.Runner()
        self.runner.run(self._open())

    async def _open(self) -> None:
        way_in = door(SECRET, self.door.take, self.door.keep)
        app = web.Application()
        app.router.add_post("/webhook", webhook(way_in))
        self.listening = Listening(app, way_in)
        self.url = f"http://127.0.0.1:{await self.listening.start('127.0.0.1', 0)}/webhook"
        self.session = ClientSession()

    async def _post(self, body: bytes, given_headers: dict[str, str]) -> tuple[int, Any]:
        async with self.session.post(self.url, data=body, headers=given_headers) as response:
            return response.status, await response.json()

    def knock(self, body: bytes, given_headers: dict[str, str]) -> tuple[int, Any]:
        self.door.stored.clear()
        return self.runner.run(self._post(body, given_headers))

    def close(self) -> None:
        async def closing() -> None:
            await self.session.close()
            await self.listening.stop()

        self.runner.run(closing())
        self.runner.close()


@pytest.fixture(scope="module")
def knocker() -> Iterator[Knocker]:
    knocker = Knocker()
    yield knocker
    knocker.close()


quiet = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quiet
@given(body=bodies, signature=header_values)
def test_unsigned_is_always_refused(knocker: Knocker, body: bytes, signature: str | None) -> None:
    right = signature is not None and signature.strip() == sign(body)
    status, answer = knocker.knock(body, headers(body, X_Hub_Signature_256=signature))
    assert right or status == 401
    assert right or knocker.door.stored == []
    assert answer


@quiet
@given(event=header_values, guid=header_values, content_type=header_values)
def test_no_header_breaks_the_door(
    knocker: Knocker, event: str | None, guid: str | None, content_type: str | None
) -> None:
    changed = headers(X_GitHub_Event=event, X_GitHub_Delivery=guid, Content_Type=content_type)
    status, answer = knocker.knock(BODY, changed)
    assert status in {202, 400, 415}
    assert bool(knocker.door.stored) == (status == 202)
    assert ("error" in answer) == (status != 202)


@quiet
@given(body=bodies)
def test_signed_body_is_an_object_or_refused(knocker: Knocker, body: bytes) -> None:
    status, _ = knocker.knock(body, headers(body))
    assert status in {202, 400}
    assert bool(knocker.door.stored) == (status == 202)
    if status == 202:
        assert isinstance(json.loads(body), dict)
