"""What stands before a scene begins: the pull request on GitHub, and the bot at work behind its door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from aiohttp.test_utils import TestServer

from bot.app import App
from simulator import Simulator, state


@dataclass(frozen=True)
class Opened:
    """An installed App, its repository and the pull request in it."""

    app: state.App
    repository: state.Repository
    pull: state.Pull


async def open_on_github(
    sim: Simulator, name: str, *, files: Mapping[str, str], public_key: str, secret: str, pull: Mapping[str, Any]
) -> Opened:
    """Ada opens the pull request, rev may review it; both may write."""
    app = await sim.create_app(public_key=public_key, webhook_secret=secret)
    repository = await sim.create_repository(name, files=dict(files))
    await sim.install(app, repository)
    for login in ("rev", "ada"):
        await sim.collaborator(repository, login, "write")
    return Opened(app, repository, await sim.open_pull(repository, author="ada", title="Buffer more", **pull))


@asynccontextmanager
async def behind_its_door(bot: App) -> AsyncIterator[TestServer]:
    """The bot acts for as long as this lasts."""
    acting = asyncio.create_task(bot.engine.run())
    door = TestServer(bot.web)
    await door.start_server()
    try:
        yield door
    finally:
        await door.close()
        acting.cancel()
        with suppress(asyncio.CancelledError):
            await acting
