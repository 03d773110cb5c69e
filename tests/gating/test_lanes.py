"""What shares a lane with whom: writes take turns by installation, work on this machine takes turns with all of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random

from bot.effects.registry import LANES, ROWS
from bot.engine.performing import wait_before_retry
from bot.iris.settings import IrisSettings
from tests.gating.story import Story


class NeverLucky(Random):
    """Every wait as short as it may be."""

    def random(self) -> float:
        return 1.0


def test_only_what_writes_to_github_is_divided_by_installation() -> None:
    story = Story()
    story.to_ferrying()
    lane_of = {row.kind: row.lane for row in ROWS}
    seen = {(lane_of[effect.kind], effect.partition) for effect in story.effects}
    assert seen == {("reactions", "7"), ("github-write", "7"), ("git", ""), ("preflight", ""), ("others", "")}
    assert {lane.name for lane in LANES} == {lane for lane, _ in seen}


def test_a_spent_ferrys_report_is_waited_for_longer_than_a_collector_takes_and_a_controller_is_away() -> None:
    (collect,) = [row for row in ROWS if row.kind == "collect"]
    settings = IrisSettings(Path("iris"), "/status", Path("home"), controller_url="http://iris")
    assert collect.deadline >= settings.script_timeout + timedelta(minutes=5)
    waits = [wait_before_retry(collect.backoff, tried, None, NeverLucky()) for tried in range(1, collect.attempts)]
    assert sum(waits, timedelta(0)) >= timedelta(hours=12)
