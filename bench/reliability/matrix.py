"""The kill matrix: the calm run shows the points, and the bot dies at each of them in a trial of its own."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.reliability.checks import doubled, problems
from bench.reliability.lives import NotStarted
from bench.reliability.shells import Shell
from bench.reliability.stage import Stage, stage
from bench.reliability.stories import STORIES
from bench.reliability.trial import Plan, Stuck, Told, trial

Case = tuple[str, Plan]
RANDOM_TIMES = 20
"""Trials of each shell that die at a moment that no point marks."""


@dataclass
class Tally:
    """`unreached` trials came to their end without their death: their point did not come up that time."""

    trials: int = 0
    kills: int = 0
    lost: int = 0
    doubled: int = 0
    unreached: int = 0
    problems: list[str] = field(default_factory=list)
    where: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        wrong = f"{self.lost} lost, {self.doubled} doubled, {len(self.problems)} problems"
        return f"{self.trials} trials, {self.kills} kills, {wrong}"


def points(trace: Sequence[str]) -> list[str]:
    """Every point of a life, "name:occurrence", in order."""
    passed: Counter[str] = Counter()
    result = []
    for name in trace:
        passed[name] += 1
        result.append(f"{name}:{passed[name]}")
    return result


def spread(items: Sequence[str], most: int) -> list[str]:
    """So many of them, evenly."""
    if len(items) <= most:
        return list(items)
    return [items[index * len(items) // most] for index in range(most)]


def cases(calm: dict[str, Told], most: int, random: Random) -> Iterator[Case]:
    """Some `most` trials, and those that no point marks."""
    for story, share in (("verdict", 0.75), ("stop", 0.25)):
        for at in spread(points(calm[story].trace), round(most * share)):
            yield story, Plan(at=at)
        yield story, Plan(half_way=True)
        yield story, Plan(taking="taken")
        yield story, Plan(taking="late")
    for _ in range(RANDOM_TIMES):
        yield "verdict", Plan(after=random.uniform(0.01, calm["verdict"].seconds))


async def calm_runs(on: Stage) -> dict[str, Told]:
    """What everything is compared with. Raises AssertionError where even this leaves something behind."""
    calm = {name: await trial(on, story, Plan()) for name, story in STORIES.items()}
    for name, told in calm.items():
        assert not (wrong := list(problems(told, told))), f"{name}: {wrong}"
        assert told.submissions == [1], name
    return calm


async def play(on: Stage, case: Case, calm: dict[str, Told], tally: Tally) -> None:
    """One trial, its end into the tally."""
    name, plan = case
    tally.trials += 1
    try:
        told = await trial(on, STORIES[name], plan)
    except (Stuck, NotStarted, TimeoutError) as error:
        tally.lost += 1
        tally.problems.append(f"{name}, {plan}: {error}")
        return
    tally.kills += len(told.kills)
    tally.where.update(told.kills)
    tally.unreached += not told.kills
    tally.doubled += doubled(told)
    tally.problems += [f"{name}, killed at {told.kills}: {problem}" for problem in problems(told, calm[name])]


async def matrix(shell: Shell, folder: Path, most: int, workers: int, seed: int, tell: Callable[[str], None]) -> Tally:
    """All trials of a shell, on `workers` stages at once."""
    tally, began = Tally(), time.monotonic()
    waiting: asyncio.Queue[Case] = asyncio.Queue()
    async with stage(folder / "calm", shell) as on:
        calm = await calm_runs(on)
    for case in cases(calm, most, Random(seed)):
        waiting.put_nowait(case)

    async def work(number: int) -> None:
        async with stage(folder / f"stage-{number}", shell) as on:
            while not waiting.empty():
                await play(on, waiting.get_nowait(), calm, tally)
                if tally.trials % 50 == 0:
                    tell(f"  {shell.name}: {tally}")

    async with asyncio.TaskGroup() as group:
        for number in range(workers):
            group.create_task(work(number))
    tally.seconds = time.monotonic() - began
    return tally
