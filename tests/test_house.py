"""The map of the house: which room may know which. Imports run one way, and this test keeps it so."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VALUES = {"faults", "journal", "redaction"}

# Room → the rooms of `bot` it may import. What is absent here may import nothing of `bot` but itself.
MAY_KNOW: dict[str, set[str]] = {
    "certificates": set(),
    "children": set(),
    "config": set(),
    "engine": set(),
    "faults": set(),
    "google_storage": set(),
    "journal": set(),
    "rundir": set(),
    "heap": set(),
    "logs": {"redaction"},
    "metrics": {"engine", "gating", "logs", "verdict", "watching"},
    "redaction": set(),
    "conversation": {"config"},
    "assessment": {"config"},
    "verdict": {"config"},
    "watching": set(),
    "parity": {"config"},
    "gating": {"assessment", "config", "conversation", "parity.model", "verdict", "watching", "engine.port"},
    "comment": {"assessment", "config", "conversation", "gating", "parity.model", "verdict", "watching"},
    "github": {"config"} | VALUES,
    "checkout": {"assessment.model", "assessment.change", "children", "config"} | VALUES,
    "sandbox": {"children", "config"} | VALUES,
    "iris": {"children", "config", "google_storage", "sandbox", "watching.cause", "watching.look"} | VALUES,
    "baseline": {"config", "github", "google_storage", "verdict.past", "verdict.report"} | VALUES,
    "runs": {"comment", "config", "conversation", "engine", "gating", "verdict", "watching"} | VALUES,
    "server": {"comment", "config", "engine", "gating", "runs", "verdict", "watching"} | VALUES,
    "recovery": {"comment.canonical", "engine.port", "engine.views", "gating", "github"} | VALUES,
    "effects": {
        "assessment",
        "baseline",
        "checkout",
        "children",
        "comment",
        "config",
        "conversation",
        "engine.policy",
        "engine.port",
        "gating",
        "github",
        "iris",
        "parity",
        "rundir",
        "sandbox",
        "verdict",
        "watching",
    }
    | VALUES,
    "deployment": {"config", "effects.registry", "engine", "gating", "iris", "sandbox"} | VALUES,
    "serving": {
        "app",
        "certificates",
        "config",
        "deployment",
        "effects.context",
        "engine",
        "faults",
        "heap",
        "logs",
        "redaction",
        "server.listening",
    },
}
KNOWS_EVERYTHING = {"app", "cli"}
PURE = ("conversation", "assessment", "gating", "verdict", "comment", "watching", "parity")
# What only touches the outside world: a pure room that imports one of these is not pure.
IMPURE = {"aiohttp", "asyncio", "socket", "subprocess", "sqlite3", "os", "time", "random", "requests", "google"}
MOST_LINES = 300
# Entry points that read standard input stand at a pure room's edge.
EDGES = {ROOT / "bot/assessment/__main__.py"}


def imports(path: Path) -> list[str]:
    """Dotted names of every import in a file, at any depth of its code."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "bot").parts[0].removesuffix(".py")


def test_every_room_is_on_the_map() -> None:
    rooms = {room_of(path) for path in files("bot")} - {"__init__"}
    assert rooms - KNOWS_EVERYTHING == set(MAY_KNOW)


@pytest.mark.parametrize("path", files("bot"), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    room = room_of(path)
    for name in imports(path):
        parts = name.split(".")
        assert parts[0] not in ("simulator", "demo", "tests", "bench"), f"{path} imports {name}"
        if parts[0] != "bot" or len(parts) == 1 or room in KNOWS_EVERYTHING | {"__init__"}:
            continue
        target = parts[1]
        allowed = target == room or target in MAY_KNOW[room] or ".".join(parts[1:3]) in MAY_KNOW[room]
        assert allowed, f"{room} must not import {name}"


@pytest.mark.parametrize("room", PURE)
def test_pure_rooms_touch_nothing(room: str) -> None:
    for path in files(f"bot/{room}"):
        if path in EDGES:
            continue
        touched = {name.split(".")[0] for name in imports(path)} & IMPURE
        assert not touched, f"{path} imports {touched}"


def test_the_simulator_knows_nothing_of_the_bot() -> None:
    for path in files("simulator"):
        assert not [name for name in imports(path) if name.split(".")[0] == "bot"], path


def test_serve_starts_without_the_heavy_libraries() -> None:
    code = (
        "import sys, bot.serving, bot.cli.serve\n"
        "heavy = {'rich', 'google.cloud.storage', 'hypothesis', 'psycopg', 'procrastinate', 'jinja2', 'nh3',\n"
        "         'prometheus_client'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_values_are_structs() -> None:
    """A dataclass generates and compiles its methods whenever it is imported: 180 of them were a sixth of a start."""
    generated = {str(path) for path in files("bot") for name in imports(path) if name.split(".")[0] == "dataclasses"}
    assert generated == set()


@pytest.mark.parametrize("folder", ["bot", "simulator", "demo", "bench", "tests"])
def test_no_file_is_longer_than_one_reason_to_change(folder: str) -> None:
    long = {str(path.relative_to(ROOT)): lines for path in files(folder) if (lines := lines_of(path)) > MOST_LINES}
    assert long == {}, "part it by reason to change"


def lines_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())
