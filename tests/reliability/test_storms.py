"""Ten storms of the hundred: whatever GitHub, Iris, the bucket and the network do, the same is said in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.reliability.folders import make
from bench.reliability.storm import storms


@pytest.fixture
def entered(tmp_path: Path) -> Path:
    """A folder that the cage's user can enter, as it can a deployment's."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        make(folder)
    return tmp_path


async def test_ten_storms_end_in_the_same_comments_as_the_calm_run(entered: Path) -> None:
    tally = await storms(entered, range(10))
    assert tally.problems == []
    assert (tally.runs, tally.lost, tally.doubled, tally.dead) == (10, 0, 0, 0)
    assert tally.faults.total() > 100
    assert len(tally.faults) > 20
