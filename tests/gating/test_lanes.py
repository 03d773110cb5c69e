"""What shares a lane with whom: writes take turns by installation, work on this machine takes turns with all of it."""

from __future__ import annotations

from bot.effects.registry import LANES, ROWS
from tests.gating.story import Story


def test_only_what_writes_to_github_is_divided_by_installation() -> None:
    story = Story()
    story.to_ferrying()
    lane_of = {row.kind: row.lane for row in ROWS}
    seen = {(lane_of[effect.kind], effect.partition) for effect in story.effects}
    assert seen == {("reactions", "7"), ("github-write", "7"), ("git", ""), ("preflight", ""), ("others", "")}
    assert {lane.name for lane in LANES} == {lane for lane, _ in seen}
