"""The form at the door: from strangers, so it is small, comes soon, or is not read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from aiohttp import ClientSession, FormData, web
from aiohttp.test_utils import TestServer
from yarl import URL

from bot.server.pages.form import LARGEST, PATIENCE, read_form


@asynccontextmanager
async def reading(patience: timedelta = PATIENCE) -> AsyncIterator[tuple[URL, list[Mapping[str, str] | None]]]:
    """A door for forms, and what it read."""
    read: list[Mapping[str, str] | None] = []

    async def handle(request: web.Request) -> web.Response:
        read.append(await read_form(request, patience=patience))
        return web.Response()

    application = web.Application()
    application.router.add_post("/", handle)
    async with TestServer(application) as server:
        yield server.make_url("/"), read


async def test_a_browsers_form_is_read() -> None:
    async with reading() as (url, read), ClientSession() as session:
        await session.post(url, data={"token": "a+b &c=\N{SNOWMAN}", "next": ""})
    assert read == [{"token": "a+b &c=\N{SNOWMAN}", "next": ""}]


@pytest.mark.parametrize("in_chunks", [False, True])
async def test_more_than_a_form_has_is_not_read(in_chunks: bool) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"token="
        yield b"x" * LARGEST

    body = chunks() if in_chunks else b"token=" + b"x" * LARGEST
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    async with reading() as (url, read), ClientSession() as session:
        await session.post(url, data=body, headers=kind)
    assert read == [None]


async def test_a_form_with_files_is_not_read() -> None:
    form = FormData({"token": "x"})
    form.add_field("file", b"x", filename="x")
    async with reading() as (url, read), ClientSession() as session:
        await session.post(url, data=form)
    assert read == [None]


async def test_a_form_that_does_not_go_on_is_not_waited_for() -> None:
    async with reading(timedelta(0)) as (url, read), ClientSession() as session:
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": "100"}

        async def never() -> AsyncIterator[bytes]:
            yield b"token="
            await answered

        answered = asyncio.get_running_loop().create_future()
        async with session.post(url, data=never(), headers=kind) as answer:
            assert answer.status == 200
        answered.cancel()
    assert read == [None]
