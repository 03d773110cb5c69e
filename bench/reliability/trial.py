"""One trial: a story played to its end, the bot killed on the way and started again, and what is to be found then."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import aiohttp

from bench.reliability.bot_process import ANY_OF, AT, OFFSET, TRACE
from bench.reliability.iris import Taking
from bench.reliability.lives import Life, tail
from bench.reliability.plain import plain
from bench.reliability.shells import Inside
from bench.reliability.stage import REVIEWER, Pull, Stage
from tests.conversations.heard import SENTINEL
from tests.conversations.iris_rows import Job

MOST_RESTS = 120
"""Looks at a bot at rest until a step of the story is given up as lost: hours of its time."""
ROUND = 301.0
"""What was missed is looked for every 300 seconds."""
FAR = timedelta(days=1)
"""A deadline farther away is a human's, not what the story waits for."""


class Stuck(Exception):
    """The story does not go on; the message says where it stands."""


@dataclass
class Plan:
    """How the bot dies: at a point ("name:occurrence"), at each of `any_of` once, in the middle of a submission,
    half-way to its deadlines, or so many seconds after its start. Nothing named: the calm run."""

    at: str = ""
    any_of: set[str] = field(default_factory=set)
    taking: Taking = ""
    half_way: bool = False
    after: float = 0.0


@dataclass
class Told:
    """What a trial left: comments and reactions without what differs from trial to trial, and the bot's inside."""

    comments: Counter[str]
    canonical: int
    reactions: list[tuple[str, list[str]]]
    submissions: list[int]
    stops: int
    inside: Inside
    trees: list[str]
    trace: list[str]
    kills: list[str]
    late: list[str]
    seconds: float


class Play:
    """What the story's steps see and do."""

    def __init__(self, stage: Stage, pull: Pull, plan: Plan) -> None:
        self.stage = stage
        self.pull = pull
        self.plan = plan
        self.kills: list[str] = []
        self.said: dict[int, str] = {}
        self.late: list[str] = []
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))
        self._life: Life | None = None
        self._before = set(stage.iris.jobs)
        self._database = stage.shell.environment(pull.folder)
        self._dying: asyncio.Task[None] | None = None

    # ---- lives

    async def start(self) -> None:
        """A life that listens; those that the plan ends before are counted."""
        listens = False
        while not listens:
            named = {
                "PATH": os.environ["PATH"],
                OFFSET: str(self.stage.offset),
                TRACE: str(self.pull.folder / "trace"),
                AT: "" if self.kills else self.plan.at,
                ANY_OF: "\n".join(self.plan.any_of),
            }
            environment = named | self.stage.environment(self.pull) | dict(self._database)
            self._life, listens = await self.stage.lives.begin(environment, self.pull.folder / "log")
            self.stage.iris.kill = self._life.kill
            if not listens:
                self._mourn()
        if self.plan.after and not self.kills and self._dying is None:
            self._dying = asyncio.create_task(self._die_later(self._life))

    async def _die_later(self, life: Life | None) -> None:
        await asyncio.sleep(self.plan.after)
        assert life is not None
        life.kill()

    def _mourn(self) -> None:
        trace = self._trace()
        where = trace[-1] if trace else "the start"
        self.kills.append(where)
        self.plan.any_of.discard(where)

    def _trace(self) -> list[str]:
        """The points that were passed: none by a life that ended before the first."""
        file = self.pull.folder / "trace"
        return file.read_text().splitlines() if file.exists() else []

    async def end(self) -> None:
        if self._dying is not None:
            self._dying.cancel()
        if self._life is not None:
            self._life.kill()
            await self._life.ended
        await self._session.close()

    def kill(self) -> None:
        assert self._life is not None
        self._life.kill()

    async def rest(self) -> datetime | None:
        """Until nobody has anything to do; a bot that died on the way is started again. When its next thing is due."""
        while True:
            await self.stage.sim.call("settled")
            try:
                await self._ask("rest")
                await self.stage.sim.call("settled")
                due = (await self._ask("rest"))["next_due"]
            except aiohttp.ClientError:
                assert self._life is not None
                ended = await self._life.ended
                if ended != -signal.SIGKILL:
                    raise Stuck(f"the bot ended with {ended}:\n{tail(self.pull.folder / 'log')}") from None
                self._mourn()
                await self.start()
            except TimeoutError:
                raise Stuck(f"the bot never rests:\n{tail(self.pull.folder / 'log')}") from None
            else:
                return None if due is None else datetime.fromisoformat(due)

    async def _ask(self, page: str) -> Any:
        async with self._session.get(f"http://127.0.0.1:{self.stage.port}/bench/{page}") as answer:
            return await answer.json()

    async def move(self, seconds: float) -> None:
        await self.stage.pass_time(seconds)
        url = f"http://127.0.0.1:{self.stage.port}/bench/move"
        # A bot that just died is started with the time as it is by then.
        with suppress(aiohttp.ClientError):
            async with self._session.post(url, json={"by": seconds}):
                pass

    # ---- the story

    async def until(self, holds: Callable[[], Awaitable[bool]], what: str) -> None:
        """Live on, from one due thing to the next, until it holds. Raises Stuck."""
        for _ in range(MOST_RESTS):
            due = await self.rest()
            if await holds():
                return
            now = self.stage.now()
            near = due is not None and due - now < FAR
            await self.move(max((due - now).total_seconds(), 0) + 0.001 if due is not None and near else ROUND)
        raise Stuck(f"waiting for {what}:\n{await self.canonical()}\n{tail(self.pull.folder / 'log', 5)}")

    async def says(self, body: str) -> None:
        where = {"repository": self.pull.repository, "number": self.pull.number}
        comment = await self.stage.sim.call("comment", **where, login=REVIEWER, body=body)
        self.said[comment["id"]] = body

    async def comments(self, by: str | None) -> list[dict[str, Any]]:
        where = {"repository": self.pull.repository, "number": self.pull.number}
        found: list[dict[str, Any]] = await self.stage.sim.call("comments", **where, by=by)
        return found

    async def canonical(self) -> str:
        bodies = [comment["body"] for comment in await self.comments(self.pull.bot)]
        return next((str(body) for body in bodies if body.startswith(SENTINEL)), "")

    async def sees(self, text: str, *, canonical: bool = False) -> bool:
        said = [c["body"] for c in await self.comments(self.pull.bot)]
        return any(text in body for body in said if body.startswith(SENTINEL) or not canonical)

    def jobs(self) -> list[Job]:
        return [job for job in self.stage.iris.jobs.values() if job.id not in self._before]

    # ---- the end

    async def told(self, began: float) -> Told:
        """At rest, before the bot is stopped."""
        said = await self.comments(self.pull.bot)
        people = await self.comments(None)
        trees = self.pull.state / "perf-gate-trees"
        trace = self._trace()
        mine = {job.id for job in self.jobs()}
        return Told(
            comments=Counter(self._plain(comment["body"]) for comment in said),
            canonical=sum(comment["body"].startswith(SENTINEL) for comment in said),
            reactions=[(self.said[c["id"]], sorted(c["reactions"])) for c in people if c["id"] in self.said],
            submissions=[n for job_id, n in self.stage.iris.taken.items() if job_id in mine],
            stops=sum(job_id in mine for job_id in self.stage.iris.terminated),
            inside=self.stage.shell.inside(self.pull.folder),
            trees=sorted(path.name for path in trees.iterdir()),
            trace=trace,
            kills=self.kills,
            late=self.late,
            seconds=time.monotonic() - began,
        )

    def _plain(self, body: str) -> str:
        return plain(body.replace(self.pull.repository, "REPOSITORY").replace(self.pull.bot, "BOT"))


Story = Callable[[Play], Awaitable[None]]


async def trial(stage: Stage, story: Story, plan: Plan) -> Told:
    """Raises Stuck where the story did not come to its end."""
    began = time.monotonic()
    pull = await stage.pull()
    play = Play(stage, pull, plan)
    stage.iris.taking = plan.taking
    try:
        await play.start()
        await story(play)
        return await play.told(began)
    finally:
        await play.end()
        await stage.sim.call("uninstall", installation=pull.installation_id)
        stage.shell.forget(pull.folder)
