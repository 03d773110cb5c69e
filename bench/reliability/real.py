"""Ten deaths with nothing pretended: the real Iris, real Zephyr, a simulated GitHub; the last after the ferry's end.

Iris replaces a finished job of the same name, so a bot that submits again instead of adopting shows in `submittedAt`.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import aiohttp

from bench.reliability.bot_process import ANY_OF, OFFSET, TRACE
from bench.reliability.lives import Life, Lives
from demo.scene import SENTINEL, Scene, open_scratch, scene

WITHIN = 300.0
"""Seconds for any step on a busy machine; a ferry takes half a minute on an idle one."""
ON_THE_WAY = (
    "after effect prepare",
    "before iris submit",
    "after iris submit",
    "after effect submit",
    "before commit, moved by Submitted",
    "after effect watch",
    "after commit, moved by Watched",
    "after effect collect",
    "before commit, moved by Compared",
)
AFTER_THE_END = ("after iris submit",)


@dataclass
class Deaths:
    """The bot's lives on a scene, begun again after each death; not before `may_live` is set."""

    scene: Scene
    lives: Lives
    names: set[str]
    earlier: frozenset[str] = frozenset()
    kills: list[str] = field(default_factory=list)
    submitted: dict[str, set[str]] = field(default_factory=dict)
    may_live: asyncio.Event = field(default_factory=asyncio.Event)
    died: asyncio.Event = field(default_factory=asyncio.Event)
    ending: bool = False
    _life: Life | None = None

    async def live_on(self) -> None:
        trace = self.scene.scratch / "trace"
        while True:
            named = {OFFSET: "0", TRACE: str(trace), ANY_OF: "\n".join(self.names), "PERF_GATE_RECOVERY_SECONDS": "10"}
            self._life, _ = await self.lives.begin(self.scene.bot.environment | named, self.scene.bot.log)
            await self._life.ended
            if self.ending:
                return
            self.kills.append(trace.read_text().splitlines()[-1])
            self.names.discard(self.kills[-1])
            await self.note()
            self.died.set()
            await self.may_live.wait()

    def end(self) -> None:
        if self._life is not None:
            self._life.kill()

    async def note(self) -> dict[str, dict[str, object]]:
        """When Iris took each root job of the bot's; more than one moment for a job means that it was replaced."""
        url = f"{self.scene.cluster.url}/iris.cluster.ControllerService/ListJobs"
        query = {"query": {"jobIdPrefix": "/perf-gate/", "limit": 500}}
        async with aiohttp.ClientSession() as session, session.post(url, json=query) as response:
            jobs = (await response.json()).get("jobs", [])
        roots = {str(job["jobId"]): job for job in jobs if job["jobId"].count("/") == 2}
        roots = {job_id: job for job_id, job in roots.items() if job_id not in self.earlier}
        for job_id, job in roots.items():
            self.submitted.setdefault(job_id, set()).add(str(job["submittedAt"]))
        return roots

    async def until_the_ferry_has_ended(self) -> None:
        # Nobody signals the end of a ferry: looking once a second is all there is.
        while not any("finishedAt" in job for job in (await self.note()).values()):  # noqa: ASYNC110
            await asyncio.sleep(1.0)


@dataclass(frozen=True)
class Real:
    kills: list[str]
    ferries: int
    replaced: int
    problems: list[str]
    seconds: float


async def real() -> Real:
    began = time.monotonic()
    with open_scratch() as scratch:
        async with scene(scratch) as on, Lives.opened() as lives:
            await on.bot.stop()
            await on.run_baseline()
            first = await _run(Deaths(on, lives, set(ON_THE_WAY)), adopts=False)
            second = await _run(Deaths(on, lives, set(AFTER_THE_END), frozenset(first.submitted)), adopts=True)
            problems = [f"GitHub: {one}" for one in await on.sim.call("violations")]
            left = [path.name for path in (scratch / "state" / "perf-gate-trees").iterdir()]
    submitted = first.submitted | second.submitted
    if len(submitted) != 2:
        problems.append(f"two runs, but the ferries {sorted(submitted)}")
    problems += [f"left: {name}" for name in left]
    replaced = sum(len(moments) - 1 for moments in submitted.values())
    return Real(first.kills + second.kills, len(submitted), replaced, problems, time.monotonic() - began)


async def _run(deaths: Deaths, *, adopts: bool) -> Deaths:
    """One pull request to its verdict; `adopts`: the bot stays dead until its ferry has ended."""
    on = deaths.scene
    if not adopts:
        deaths.may_live.set()
    living = asyncio.create_task(deaths.live_on())
    try:
        number = await on.open_pull()
        await on.comment(number, "@perf-gate")
        await on.wait_for(number, "Proposed max_gate", WITHIN)
        await on.comment(number, "@perf-gate go")
        if adopts:
            await deaths.died.wait()
            await deaths.until_the_ferry_has_ended()
            deaths.may_live.set()
        await on.wait_for(number, "**Verdict:**", WITHIN)
        await _at_rest(on)
        await deaths.note()
        bodies = [str(comment["body"]) for comment in await on.comments(number)]
        # The canonical comment, the question, and the word to its reviewer that the verdict is there: each once.
        for marker in (SENTINEL, "<!-- perf-gate:question ", "<!-- perf-gate:notice "):
            assert sum(marker in body for body in bodies) == 1, bodies
        assert len(bodies) == 3, bodies
    finally:
        deaths.ending = True
        deaths.end()
        await living
    return deaths


async def _at_rest(on: Scene) -> None:
    """The page answers once nothing is to be done any more, the trees' removal included."""
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{on.bot.port}/bench/rest") as answer:
        await answer.read()
