"""What earlier releases stored, taken from their own stories, is read by this one and goes on from there.

`stored/COMMIT.jsonl.gz` has one state or event a line, each of another shape, as the tree at that commit wrote it.
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.gating.machine import GateMachine

MACHINE = GateMachine("perf-gate", {"marin-community/marin"})
STORED = sorted((Path(__file__).parent / "stored").glob("*.jsonl.gz"))
# A state that a later release adds is in none of what was stored before it.
STATES_THEN = {
    "assessing",
    "awaiting_reviewer",
    "preparing",
    "testing",
    "locating_baseline",
    "queued",
    "submitting",
    "ferrying",
    "collecting",
    "comparing",
    "awaiting_escalation",
    "passed",
    "warned",
    "failed",
    "inconclusive",
    "waived",
    "halted",
    "stopped",
    "out_of_scope",
    "stuck",
}
NOW = datetime(2027, 1, 1, tzinfo=UTC)


@cache
def kept(path: Path, kind: str) -> list[tuple[str, bytes]]:
    """(name, JSON) of all of this kind."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    return [(row["name"], json.dumps(row["data"]).encode()) for row in rows if row["kind"] == kind]


@pytest.fixture(params=STORED, ids=lambda path: path.name)
def stored(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_every_state_of_a_run_is_among_them(stored: Path) -> None:
    assert {name for name, _ in kept(stored, "state")} >= STATES_THEN


def test_every_state_is_read_with_nothing_of_it_lost(stored: Path) -> None:
    for name, data in kept(stored, "state"):
        state = MACHINE.load_state(1, data)
        assert (state.run.state.name if state.run else "") == name
        again = MACHINE.dump_state(state)
        assert MACHINE.load_state(1, again) == state
        assert _without(json.loads(again), json.loads(data)) == [], name


def test_every_event_is_read_and_means_what_it_meant(stored: Path) -> None:
    for name, data in kept(stored, "event"):
        kind, again = MACHINE.dump_event(MACHINE.load_event(data))
        assert kind == name
        assert _without(json.loads(again), json.loads(data)) == [], name


def test_every_state_goes_on_with_every_event(stored: Path) -> None:
    events = [MACHINE.load_event(data) for _, data in kept(stored, "event")]
    for _, data in kept(stored, "state"):
        if MACHINE.load_state(1, data).place is None:
            # Nobody has spoken there yet: of all events only a mention can come.
            continue
        for event in events:
            moved = MACHINE.step(MACHINE.load_state(1, data), event, NOW).state
            assert MACHINE.load_state(1, MACHINE.dump_state(moved)) == moved


def _without(now: Any, then: Any, path: str = "") -> list[str]:
    """Where something that was stored then is not there, or is another, now."""
    if isinstance(then, dict):
        lost = [f"{path}.{name}" for name in then if name not in now]
        return lost + [one for name in then if name in now for one in _without(now[name], then[name], f"{path}.{name}")]
    if isinstance(then, list):
        if len(now) != len(then):
            return [path]
        return [one for index, item in enumerate(then) for one in _without(now[index], item, f"{path}[{index}]")]
    return [] if now == then else [path]
