"""The sandbox of the preflight: does it hold here, how is code kept in, and what may it reach."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.cli.checks.model import Found, Surroundings, ok, wrong
from bot.sandbox.configured import cage_of, packages_of

_FIX = "docs/sandbox.md says what it needs; without it no preflight and no ferry runs"


async def sandbox(around: Surroundings) -> Sequence[Found]:
    """It really tries to break out, as `serve` does at its start."""
    cage, folder = cage_of(around.settings), _there(around.settings.trees_dir)
    problem = await cage.self_test(folder)
    if problem is not None:
        return [wrong(f"it does not hold: {problem}", _FIX)]
    reached = ", ".join(map(str, sorted(packages_of(around.settings).reachable))) or "nothing"
    return [ok(f"it holds: {cage.describe(folder)}"), ok(f"its commands reach {reached}")]


def _there(folder: Path) -> Path:
    """The folder, or the nearest above it: `serve` makes what is missing."""
    while not folder.is_dir():
        folder = folder.parent
    return folder
