"""`pyproject.toml`: floors of native engines climb, the rest of the packaging does not."""

from __future__ import annotations

import pytest

from bot.assessment.assess import assess
from bot.assessment.model import FileAnswers, FileChange
from bot.config.load import builtin_config
from bot.config.schema import Scope

PATH = "lib/zephyr/pyproject.toml"
BASE = """[project]
name = "marin-zephyr"
version = "0.2.1"
requires-python = ">=3.11"
dependencies = ["pyarrow>=19", "zstandard", "click>=8", "marin-fray"]

[project.optional-dependencies]
fast = ["Vortex_Data>=0.40"]

[dependency-groups]
dev = ["pytest>=8"]

[tool.ruff]
line-length = 120
"""


def answers(old: str, new: str) -> tuple[str, FileAnswers]:
    assert old in BASE
    change = FileChange(PATH, "modified", None, BASE.encode(), BASE.replace(old, new).encode())
    result = assess([change], Scope(), builtin_config().modules)
    return result.max_gate, result.per_file[PATH]


@pytest.mark.parametrize(
    ("old", "new", "climbs", "said"),
    [
        ("pyarrow>=19", "pyarrow>=21", ("memory", "cpu"), "pyproject.toml:5 — pyarrow >=19 → >=21"),
        ('"zstandard"', '"zstandard>=0.23"', ("memory", "cpu"), "zstandard any → >=0.23"),
        ('"zstandard", ', "", ("memory", "cpu"), "zstandard any → absent"),
        ('"zstandard"', '"zstandard", "polars"', ("memory", "cpu"), "polars absent → any"),
        ("Vortex_Data>=0.40", "vortex-data>=0.50", ("memory", "cpu"), "vortex-data >=0.40 → >=0.50"),
        ('"marin-fray"', '"marin-fray>=0.3"', ("design",), "marin-fray any → >=0.3"),
        (">=3.11", ">=3.12", ("memory", "cpu"), "another Python version"),
    ],
)
def test_an_engine_is_gate_3(old: str, new: str, climbs: tuple[str, ...], said: str) -> None:
    gate, found = answers(old, new)
    assert (gate, found.climbs) == ("3", climbs)
    assert said in found.evidence[0]


@pytest.mark.parametrize(
    ("old", "new"), [("click>=8", "click>=8.1"), ("[tool.ruff]", "[build-system]\nx = 1\n[tool.ruff]")]
)
def test_what_is_neither_an_engine_nor_metadata_is_gate_1(old: str, new: str) -> None:
    gate, found = answers(old, new)
    assert (gate, found.climbs, found.trivial) == ("1", (), False)


@pytest.mark.parametrize(("old", "new"), [("0.2.1", "0.2.2"), ("pytest>=8", "pytest>=9"), ("= 120", "= 100")])
def test_metadata_and_tool_settings_are_trivial(old: str, new: str) -> None:
    gate, found = answers(old, new)
    assert (gate, found.trivial) == ("skip", True)


def test_an_order_of_dependencies_is_no_change_and_broken_toml_is_doubt() -> None:
    assert answers('"pyarrow>=19", "zstandard"', '"zstandard", "pyarrow>=19"')[1].climbs == ()
    assert answers("[project]", "[project")[0] == "3"
