"""A private name may be an entry point of the distribution, or another package's habit: whoever removes it is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.assessment.model import FileChange
from bot.assessment.package import names_to_look_for
from tests.assessment.test_command import git, perf_gate, write

ROOT = "lib/zephyr/src/zephyr"
BASE = "def _serve():\n    return 1\n\n\ndef run(rows):\n    return rows\n"
GONE = "def run(rows):\n    return rows\n"
RENAMED = BASE.replace("_serve", "_listen")
SCRIPT = {"lib/zephyr/pyproject.toml": '[project]\nname = "z"\n[project.scripts]\nzephyr = "zephyr.shuffle:_serve"\n'}
OTHER = {"lib/marin/src/marin/run.py": "from zephyr.shuffle import _serve\n"}
WORKFLOW = {".github/workflows/ci.yaml": "run: python -c 'import zephyr.shuffle as s; s._serve()'\n"}
PROSE = {"docs/serve.md": "`_serve` was here\n", "lib/marin/run.py": "_served = 1\n"}


def proposal(tmp_path: Path, base: str, head: str, others: dict[str, str], *, by_git: bool) -> str:
    sides = [{f"{ROOT}/__init__.py": "", **others, f"{ROOT}/shuffle.py": text} for text in (base, head)]
    if by_git:
        git(tmp_path, "init", "--quiet")
        for files, name in zip(sides, ("base", "change"), strict=True):
            write(tmp_path, **files)
            git(tmp_path, "add", ".")
            git(tmp_path, "commit", "--quiet", "-m", name)
            git(tmp_path, "branch", name)
        done = perf_gate("--repo", tmp_path, "--base", "base", "--head", "change", "--json")
    else:
        for files, name in zip(sides, ("base", "change"), strict=True):
            write(tmp_path / name, **files)
        done = perf_gate("--base-dir", tmp_path / "base", "--head-dir", tmp_path / "change", "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["max_gate"])


@pytest.mark.parametrize("by_git", [True, False], ids=["git", "folders"])
@pytest.mark.parametrize("others", [SCRIPT, OTHER, WORKFLOW], ids=["entry point", "another package", "a workflow"])
def test_a_private_function_that_somebody_outside_calls_is_not_dead(
    tmp_path: Path, others: dict[str, str], by_git: bool
) -> None:
    assert proposal(tmp_path, BASE, GONE, others, by_git=by_git) == "1"


@pytest.mark.parametrize("by_git", [True, False], ids=["git", "folders"])
def test_prose_and_longer_words_reach_nothing(tmp_path: Path, by_git: bool) -> None:
    assert proposal(tmp_path, BASE, GONE, PROSE, by_git=by_git) == "skip"


def test_a_private_function_that_an_entry_point_calls_keeps_its_name(tmp_path: Path) -> None:
    assert proposal(tmp_path, BASE, RENAMED, SCRIPT, by_git=True) == "1"


def test_a_private_function_that_nobody_else_calls_may_have_another_name(tmp_path: Path) -> None:
    base = BASE.replace("return rows", "return _serve()")
    assert proposal(tmp_path, base, base.replace("_serve", "_listen"), {}, by_git=True) == "skip"


def test_a_member_of_a_class_that_another_package_uses_is_not_dead(tmp_path: Path) -> None:
    base = "class Writer:\n    def write(self):\n        return 1\n\n    def flush(self):\n        return 2\n"
    head = base.partition("\n    def flush")[0]
    user = {"lib/marin/src/marin/run.py": "from zephyr.shuffle import Writer\nWriter().flush()\n"}
    assert proposal(tmp_path / "alone", base, head, {}, by_git=False) == "skip"
    assert proposal(tmp_path / "used", base, head, user, by_git=False) == "3"


def test_most_changes_ask_nobody() -> None:
    change = FileChange("a.py", "modified", None, b"x = 1  # _old\n", b"x = 2\n")
    assert names_to_look_for([change]) == frozenset()
