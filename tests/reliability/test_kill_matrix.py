"""The bot's process is killed again and again in the middle of its work; GitHub and Iris must not be able to tell.

The whole matrix (every point in a trial of its own, both shells) is `python -m bench.reliability kills`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from bench.reliability.checks import problems
from bench.reliability.matrix import calm_runs
from bench.reliability.shells import SHELLS, Shell
from bench.reliability.stage import Stage, stage
from bench.reliability.stories import STORIES
from bench.reliability.trial import Plan, Told, trial

# Where it hurts most: between an act and its record.
ALWAYS = [
    "before iris submit",
    "after iris submit",
    "after effect submit",
    "before commit, moved by Submitted",
    "after github write a comment",
    "after github edit a comment",
    "after github react to a comment",
    "before accept",
    "after accept",
    "after commit, moved by Mentioned",
    "after effect ask",
    "after effect reply",
    "before commit, moved by Published",
]


def groups(names: Sequence[str], most: int, each: int) -> Iterator[set[str]]:
    """The names to die at, in stories of so many deaths."""
    rest = sorted(set(names) - set(ALWAYS))
    chosen = [*(name for name in ALWAYS if name in names), *Random(5).sample(rest, most - len(ALWAYS))]
    Random(6).shuffle(chosen)
    for start in range(0, len(chosen), each):
        yield set(chosen[start : start + each])


async def deaths(tmp_path: Path, shell: Shell, most: int) -> int:
    """How many deaths the main job lived through, six to a story, two stories at a time."""
    async with stage(tmp_path / "one", shell) as one, stage(tmp_path / "two", shell) as two:
        calm = (await calm_runs(one))["verdict"]
        plans = [
            *(Plan(any_of=names) for names in groups(calm.trace, most, 6)),
            *(Plan(taking="taken"), Plan(taking="late"), Plan(half_way=True)),
        ]

        async def live(on: Stage, through: Sequence[Plan]) -> int:
            return sum([len(assert_unharmed(await trial(on, STORIES["verdict"], plan), calm)) for plan in through])

        return sum(await asyncio.gather(live(one, plans[::2]), live(two, plans[1::2])))


def assert_unharmed(told: Told, calm: Told) -> list[str]:
    """Where it died."""
    wrong = "\n".join(problems(told, calm))
    assert not wrong, f"killed at {told.kills}: {wrong}"
    return told.kills


@pytest.fixture
def entered(tmp_path: Path) -> Path:
    """A folder that the cage's user can enter, as it can a deployment's."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o711)
    return tmp_path


async def test_a_run_lives_through_thirty_deaths_of_the_process(entered: Path) -> None:
    assert await deaths(entered, SHELLS["sqlite"], 36) >= 30


async def test_and_so_it_does_with_its_state_in_postgresql(entered: Path) -> None:
    assert await deaths(entered, SHELLS["postgres"], 13) >= 10
