"""A pull request of thousands of files costs as much more as it has more files: counted in calls, not in seconds."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from bot.assessment.assess import assess
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.config.load import builtin_config

ROOT = "lib/zephyr/src/zephyr"
FILE = """import logging

logger = logging.getLogger(__name__)


def f{0}(rows):
    \"\"\"Keeps them.\"\"\"
    kept = [row for row in rows if row.size > {0}]
    logger.info("kept %d", len(kept))
    return kept


def _old():
    return {0}
"""
# More than the caches of single trees hold, and no file of one is in the other: so what is asked again is seen.
FEW, MANY = 260, 520


def calls_per_file(number: int, old: str, new: str) -> float:
    """How many Python functions an assessment enters, for each changed file."""
    base = {f"{ROOT}/__init__.py": b""} | {
        f"{ROOT}/m{at}.py": FILE.format(f"{at}_{number}").encode() for at in range(number)
    }
    head = {path: text.replace(old.encode(), new.encode()) for path, text in base.items()}
    changes = [FileChange(path, "modified", None, base[path], head[path]) for path in base if base[path] != head[path]]
    config = builtin_config()
    entered = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal entered
        entered += event == "call"

    sys.setprofile(count)
    try:
        assert len(assess(changes, config.scope, config.modules, PackageView(base, head)).per_file) == number
    finally:
        sys.setprofile(None)
    return entered / number


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("Keeps them.", "Keeps some.", id="docstrings"),
        pytest.param("kept %d", "keeps %d", id="log text"),
        pytest.param("def f", "def g", id="renamed functions"),
        pytest.param("def _old():\n    return", "UNUSED =", id="gone private functions"),
    ],
)
def test_twice_as_many_files_are_twice_the_work(old: str, new: str) -> None:
    assert calls_per_file(MANY, old, new) < 1.2 * calls_per_file(FEW, old, new)
