"""Coordinators' progress lines, in the forms two versions of Zephyr write."""

from __future__ import annotations

import pytest

from bot.iris.progress import ShardProgress, latest, parse
from tests.iris.recorded import load


def lines(name: str) -> list[str]:
    return [entry["data"] for entry in load(name, "logs.json")["entries"]]


def test_june_2026() -> None:
    assert latest(lines("ferry-r1")) == ShardProgress("stage0-Map → Scatter", 6, 24, 2, 16, 2, 2, 0)
    assert all(parse(line) for line in lines("ferry-r1"))


def test_later() -> None:
    assert latest(lines("later")) == ShardProgress("stage1-Reduce → Map → Write", 3, 4, 1, 0, 1, 2, 1)
    assert all(parse(line) for line in lines("later"))


@pytest.mark.parametrize(
    "line",
    [
        "[stage0-Map → Scatter] 347/1964 complete, 1617 in-flight, 0 queued, 1828/1891 workers alive, 63 dead",
        "[20261121-a0eb823a] [stage0-Map → Scatter] 347/1964 complete, 1617 in-flight, 0 queued, 1828/1891 workers "
        "alive, 63 dead; items=4.00K (749.1/s), bytes_processed=1.4 MiB",
        "x [stage0-Map → Scatter] 347/1964 complete, 1617 in-flight, 0 queued, 1828/1891 workers alive, 63 dead. x=1",
    ],
)
def test_prefix_and_suffix_are_optional(line: str) -> None:
    assert parse(line) == ShardProgress("stage0-Map → Scatter", 347, 1964, 1617, 0, 1828, 1891, 63)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "zephyr.execution [stage0-Map → Scatter] 3/24 tasks completed",
        "[stage0-Map → Scatter] [zephyr-subprocess-status-logger] shard 3/24; items=1.50K (149.9/s)",
        "the job is complete, 2 in-flight",
    ],
)
def test_other_lines_are_none(line: str) -> None:
    assert parse(line) is None
    assert latest([line]) is None
