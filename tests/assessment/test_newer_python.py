"""Sources for a newer Python than the one that reads them: doubt, said in a sentence, and never a skip."""

from __future__ import annotations

import sys

import pytest

from bot.assessment.assess import assess
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.config.load import builtin_config

ROOT = "lib/zephyr/src/zephyr"
OLDER = b"def f(row):\n    return row\n"
NEWER = {
    "quotes of an f-string inside of it": b"def f(row):\n    return f'{row['key']}'\n",
    "a comment in an f-string": b"def f(row):\n    return f'{  # why\n        row}'\n",
    "classes caught without brackets": b"def f(row):\n    try:\n        return row\n    except A, B:\n        raise\n",
    "a template string": b"def f(row):\n    return t'{row}'\n",
    "both, beside type parameters": b"def f[T](row: T) -> str:\n    return f'{row['key']}'\n",
}


def proposal(base: bytes, head: bytes, other: bytes = b"") -> tuple[str, str]:
    path, config = f"{ROOT}/shuffle.py", builtin_config()
    around = {f"{ROOT}/__init__.py": b"", f"{ROOT}/other.py": other}
    view = PackageView({**around, path: base}, {**around, path: head})
    result = assess([FileChange(path, "modified", None, base, head)], config.scope, config.modules, view)
    return result.max_gate, result.per_file[path].summary


@pytest.mark.parametrize("source", NEWER.values(), ids=NEWER)
def test_a_file_that_this_python_cannot_read_is_doubt(source: bytes) -> None:
    said = f"with Python {sys.version_info.major}.{sys.version_info.minor}: SyntaxError"
    assert proposal(OLDER, source) == ("3", f"the head does not parse {said}")
    assert proposal(source, OLDER) == ("3", f"the base does not parse {said}")
    assert proposal(source, source + b"# a comment\n") == ("3", f"the head does not parse {said}")


@pytest.mark.parametrize("source", NEWER.values(), ids=NEWER)
def test_beside_such_a_file_nothing_is_taken_for_dead(source: bytes) -> None:
    assert proposal(OLDER + b"def _old():\n    return 1\n", OLDER, source)[0] == "1"
    assert proposal(OLDER, OLDER + b"# a comment\n", source)[0] == "skip"
