"""What each answer to the question costs, as the reviewer reads it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.baseline.history import history_shelf
from bot.baseline.model import Archive
from bot.baseline.spent import Spent, usually_spent
from bot.comment.costs import TierCost, costs_of
from bot.watching.queue import Ahead, Queue
from tests.comment.golden import golden
from tests.conversations.reports import perf_report
from tests.gating.story import plan

GOLDEN = Path(__file__).parent / "golden" / "costs"
NOW = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)


def test_without_any_report_the_wall_time_is_said() -> None:
    golden(GOLDEN / "unknown.md", costs_of(plan(1, 2, 3), {}, NOW))


def test_recent_runs_and_who_stands_in_line_are_said() -> None:
    ahead = (Ahead(5200, NOW, NOW + timedelta(minutes=40)), Ahead(0, takes=2700.0))
    known = {
        1: TierCost(1, 2700.0, 7, Queue(ahead, NOW + timedelta(minutes=85))),
        2: TierCost(2, 7500.0, 3, Queue((Ahead(5201),))),
    }
    golden(GOLDEN / "known.md", costs_of(plan(1, 2, 3), known, NOW))


def test_hours_come_from_the_reports_that_were_read_before(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert usually_spent(archive, "marin-community/marin", "tier1.yaml", 1) is None
    shelf = history_shelf(archive, "marin-community/marin", "tier1.yaml")
    for number, seconds in enumerate((9000.0, 1000.0, 1200.0, 1100.0)):
        shelf.put(f"run-{number:020d}", json.dumps(perf_report(wall_seconds_total=seconds)))
    shelf.put(f"run-{7:020d}", "null")
    assert usually_spent(archive, "marin-community/marin", "tier1.yaml", 1) == Spent(1150.0, 4)
