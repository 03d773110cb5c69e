"""`python -m bench.ferries`: a ladder climbed, and every kind of end, on a real Iris with real Zephyr.

One scene (a cluster, a simulated GitHub, the bot as it is deployed), one pull request after the other; each row says
what was wanted of it, what came, and how many ferries the cluster was given for it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bench.ferries.endings import FAILS, HANGS, IS_KILLED, RUNS_OUT_OF_MEMORY, Ending
from demo.repository import PLAIN, DemoRepository, Edit
from demo.scene import Scene, open_scratch, scene

WITHIN = 300.0
"""Seconds for any step on a busy machine."""
CONFIG, WORKFLOWS = ".github/perf-gate.toml", ".github/workflows"
LADDER = """
[gates.2]
name = "again"
workflow = "marin-canary-datakit-tier2.yaml"
artifact = "datakit-tier2-perf-report"
ferry_module = "experiments.ferries.datakit_ferry"
flags = { cpu = 0.5, memory = "1G", disk = "1G", extra = ["cpu"], priority = "interactive" }
environment = { PYTHONPATH = "/app" }
expected_steps = ["download", "normalize", "tokenize"]
schedule_period = "1d"
wall_time = "2m"
first_check = "2s"
check_every = "2s"
stall_limit = "1m"
"""


@dataclass
class Row:
    """One story: whether it went as wanted, and what it cost."""

    name: str
    missing: list[str] = field(default_factory=list)
    ferries: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        came = "as wanted" if not self.missing else "missing: " + "; ".join(self.missing)
        return f"{self.name:<34} {self.ferries:>7} {self.seconds:>8.1f}  {came}"


async def ferries_of(on: Scene) -> dict[str, str]:
    """Every root job of the bot's on the cluster, and its state."""
    url = f"{on.cluster.url}/iris.cluster.ControllerService/ListJobs"
    query = {"query": {"jobIdPrefix": "/perf-gate/", "limit": 500}}
    async with aiohttp.ClientSession() as session, session.post(url, json=query) as response:
        jobs = (await response.json()).get("jobs", [])
    return {job["jobId"]: str(job["state"]) for job in jobs if job["jobId"].count("/") == 2}


def submissions_of(on: Scene) -> int:
    """How often the controller took a ferry of the bot's, also one that replaced another of its name."""
    return sum(job_id.startswith("/perf-gate/") for job_id in on.cluster.submissions())


async def kill_job(on: Scene, job_id: str) -> None:
    """From outside, as any user of the cluster can."""
    url = f"{on.cluster.url}/iris.cluster.ControllerService/TerminateJob"
    async with aiohttp.ClientSession() as session, session.post(url, json={"jobId": job_id}) as response:
        response.raise_for_status()


async def to_go(on: Scene, name: str, edits: tuple[Edit, ...], answer: str) -> int:
    """A pull request with these edits, asked about and answered; its number."""
    on.repository.branch(name, edits=edits)
    pull = await on.sim.call("open_pull", repository="marin-community/marin", author="author", title=name, head=name)
    number = int(pull["number"])
    await on.comment(number, "@perf-gate")
    await on.wait_for(number, "Proposed max_gate", WITHIN)
    await on.comment(number, answer)
    return number


async def climbs(on: Scene, row: Row) -> None:
    number = await to_go(on, "climbs", PLAIN, "@perf-gate go max_gate=2")
    progress = await on.wait_for(number, "**Progress:** about ", WITHIN)
    _want(row, progress, "expected end", "% by the baseline's stage times")
    await on.wait_for(number, "Zephyr perf gate — Gate 2", WITHIN)
    last = await on.wait_for(number, "**Verdict:**", WITHIN)
    _want(row, last, "Gate 2 (again)", "<summary>Gate 1 (smoke): ✅ pass</summary>")


async def ends(on: Scene, row: Row, ending: Ending) -> None:
    number = await to_go(on, ending.name.replace(" ", "-"), ending.edits, "@perf-gate go max_gate=1")
    _want(row, await on.wait_for(number, "**Verdict:**", WITHIN), *ending.wanted)


async def is_killed(on: Scene, row: Row) -> None:
    """Somebody stops both ferries on the cluster: no word about the code, and no human is accused."""
    known = set(await ferries_of(on))
    number = await to_go(on, "is-killed", IS_KILLED.edits, "@perf-gate go max_gate=1")
    for _ in range(IS_KILLED.ferries):
        job_id = await _running(on, known)
        known.add(job_id)
        await kill_job(on, job_id)
    _want(row, await on.wait_for(number, "**Verdict:**", WITHIN), *IS_KILLED.wanted)


async def hangs(on: Scene, row: Row) -> None:
    """A stall is told with its evidence, nothing is stopped unasked, and two stops end it."""
    number = await to_go(on, "hangs", HANGS.edits, "@perf-gate go max_gate=1")
    trouble = await on.wait_for(number, "**Trouble:** ⚠ stalled", WITHIN)
    _want(row, trouble, "nothing is stopped unasked", "No stage has begun or ended")
    for _ in range(2):
        await on.comment(number, "@perf-gate stop")
    _want(row, await on.wait_for(number, "stopped by reviewer", WITHIN), *HANGS.wanted)


async def dies_submitting(on: Scene, row: Row) -> None:
    """SIGKILL of the bot while it submits; what the controller took is counted afterwards, as for every story."""
    number = await to_go(on, "dies-submitting", PLAIN, "@perf-gate go max_gate=1")
    async with asyncio.timeout(WITHIN):
        await _submitting(on)
    await on.bot.kill()
    await on.bot.start()
    _want(row, await on.wait_for(number, "**Verdict:**", WITHIN), "| Status | succeeded | succeeded |")


async def _submitting(on: Scene) -> None:
    """Until a program runs that submits to this cluster: the comment may say so only when it is over."""
    # Nobody signals the start of a program either.
    while not await asyncio.to_thread(_submits, on.cluster.url.encode()):  # noqa: ASYNC110
        await asyncio.sleep(0.02)


def _submits(url: bytes) -> bool:
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            # It ended meanwhile.
            continue
        if b"--job-name" in words and url in words:
            return True
    return False


async def _running(on: Scene, known: set[str]) -> str:
    """The id of a job that is new, once it runs."""
    while True:
        for job_id, state in (await ferries_of(on)).items():
            if job_id not in known and state == "JOB_STATE_RUNNING":
                return job_id
        # Nobody signals the start of a ferry: looking twice a second is all there is.
        await asyncio.sleep(0.5)


def _make_a_ladder(repository: DemoRepository) -> None:
    """Main's gate 2 is gate 1 again, under tier 2's names: what is climbed matters here, not how far."""
    config = (repository.work / CONFIG).read_text("utf-8").replace("ladder = [1]", "ladder = [1, 2]")
    tier1 = (repository.work / WORKFLOWS / "marin-canary-datakit-tier1.yaml").read_text("utf-8")
    tier2 = tier1.replace("tier1", "tier2").replace("Tier 1", "Tier 2")
    repository.change_main(
        {CONFIG: config + LADDER, f"{WORKFLOWS}/marin-canary-datakit-tier2.yaml": tier2},
    )


def _want(row: Row, body: str, *wanted: str) -> None:
    row.missing += [words for words in wanted if words not in body]


async def told(on: Scene, name: str, ferries: int, story: Callable[[Scene, Row], Awaitable[None]]) -> Row:
    row, before, began = Row(name), submissions_of(on), time.monotonic()
    try:
        await story(on, row)
    except TimeoutError:
        row.missing.append("an end in time")
    row.seconds = time.monotonic() - began
    row.ferries = submissions_of(on) - before
    if row.ferries != ferries:
        row.missing.append(f"{ferries} ferries")
    print(row, flush=True)
    return row


async def play(scratch: Path, only: str) -> bool:
    stories: list[tuple[str, int, Callable[[Scene, Row], Awaitable[None]]]] = [
        ("passes gate 1, climbs to gate 2", 2, climbs),
        ("fails twice with one error", FAILS.ferries, lambda on, row: ends(on, row, FAILS)),
        ("exits as out of memory", RUNS_OUT_OF_MEMORY.ferries, lambda on, row: ends(on, row, RUNS_OUT_OF_MEMORY)),
        ("is killed from outside, twice", IS_KILLED.ferries, is_killed),
        ("hangs, and is stopped", HANGS.ferries, hangs),
        ("the bot dies while it submits", 1, dies_submitting),
    ]
    print(f"{'story':<34} {'ferries':>7} {'seconds':>8}  came")
    async with scene(scratch) as on:
        _make_a_ladder(on.repository)
        await on.run_baseline(tiers=(1, 2))
        rows = [await told(on, *story) for story in stories if only in story[0]]
        violations = await on.sim.call("violations")
    good = sum(not row.missing for row in rows)
    print(f"{good} of {len(rows)} as wanted; GitHub's schemas object to {len(violations)} requests")
    return good == len(rows) and not violations


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ferries", description=__doc__)
    parser.add_argument("--only", default="", help="stories whose name has these words")
    only = parser.parse_args().only
    with open_scratch() as scratch:
        return 0 if asyncio.run(play(scratch, only)) else 1


if __name__ == "__main__":
    sys.exit(main())
