"""An Iris that counts: the conversations' double, with the real one's answers to a name that it knows already."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from aiohttp import web

from tests.conversations.iris_double import IrisDouble

Taking = Literal["", "taken", "late"]


class CountingIris(IrisDouble):
    """`taken` counts the submissions that started a job, by its name.

    A live job of the name refuses another; one that has ended is REPLACED, as by the real controller: the ferry would
    run twice, and is counted twice. `kill` is called in the middle of the next submission where `taking` says how:
    "taken" after the job is there and before the client hears of it, "late" before the controller takes it, which it
    does all the same, once the next life of the bot was told that there is no such job.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, lambda: self.now())
        self.taken: Counter[str] = Counter()
        self.taking: Taking = ""
        self.kill: Callable[[], None] = lambda: None
        self.now: Callable[[], datetime] = lambda: datetime.now(UTC)
        self._told_absent = asyncio.Event()

    async def __aenter__(self) -> CountingIris:
        await super().__aenter__()
        return self

    async def _submit(self, request: web.Request) -> web.Response:
        # What a controller has begun it ends, also when the client is gone.
        return await asyncio.shield(asyncio.ensure_future(self._take(request, await request.json())))

    async def _take(self, request: web.Request, arguments: list[str]) -> web.Response:
        job_id = f"/{arguments[arguments.index('--user') + 1]}/{arguments[arguments.index('--job-name') + 1]}"
        taking, self.taking = self.taking, ""
        if taking == "late":
            self._told_absent.clear()
            self.kill()
            await self._told_absent.wait()
        known = self.jobs.get(job_id)
        if known is not None and not known.finished:
            raise web.HTTPConflict(text=f"JobAlreadyExists: {job_id} already exists")
        answer = await super()._submit(request)
        self.taken[job_id] += 1
        if taking == "taken":
            self.kill()
        return answer

    async def _list_jobs(self, request: web.Request) -> web.Response:
        answer = await super()._list_jobs(request)
        if (await request.json())["query"].get("jobIdPrefix", "") not in self.jobs:
            self._told_absent.set()
        return answer
