"""Whole pull requests and where they stand: gated, out of the gate's scope, or put to the reviewer."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from bot.assessment.assess import assess
from bot.assessment.model import FileChange, Status
from bot.config.load import builtin_config
from bot.config.schema import Scope

Z = "lib/zephyr/src/zephyr/"
MARIN = "lib/marin/src/marin/"
DEDUP, NORMALIZE, TOKENIZE = (
    f"{MARIN}processing/classification/deduplication/fuzzy.py",
    f"{MARIN}datakit/normalize/text.py",
    f"{MARIN}processing/tokenize/tokenize.py",
)


class Case(NamedTuple):
    """Paths as in a diff: `old => new` moved, `+` new, `-` deleted, `!` not a regular file, else modified."""

    name: str
    paths: tuple[str, ...]
    gated: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    out: tuple[str, ...] = ()


CASES = (
    Case("one module", (f"{Z}shuffle.py",), gated=(f"{Z}shuffle.py",)),
    Case("a module of a folder", (f"{Z}io/parquet.py",), gated=(f"{Z}io/parquet.py",)),
    Case("packaging", ("lib/zephyr/pyproject.toml",), gated=("lib/zephyr/pyproject.toml",)),
    Case("the package's __init__", (f"{Z}__init__.py",), gated=(f"{Z}__init__.py",)),
    Case("helpers that are shipped", (f"{Z}_test_helpers.py",), gated=(f"{Z}_test_helpers.py",)),
    Case("new module", (f"+{Z}spool.py",), gated=(f"{Z}spool.py",)),
    Case("deleted module", (f"-{Z}spill.py",), gated=(f"{Z}spill.py",)),
    Case("module renamed inside", (f"{Z}spill.py => {Z}spool.py",), gated=(f"{Z}spool.py",)),
    Case(
        "module moved out",
        (f"{Z}spill.py => lib/iris/src/iris/spill.py",),
        gated=(f"{Z}spill.py",),
        out=("lib/iris/src/iris/spill.py",),
    ),
    Case("module moved in", (f"lib/iris/src/iris/spill.py => {Z}spill.py",), gated=(f"{Z}spill.py",)),
    Case(
        "module moved into the tests",
        (f"{Z}spill.py => lib/zephyr/tests/spill.py",),
        gated=(f"{Z}spill.py",),
        out=("lib/zephyr/tests/spill.py",),
    ),
    Case(
        "module moved to fray",
        (f"{Z}spill.py => lib/fray/src/fray/spill.py",),
        gated=(f"{Z}spill.py",),
        flagged=("lib/fray/src/fray/spill.py",),
    ),
    Case("module turned into a symbolic link", (f"!{Z}spill.py",), gated=(f"{Z}spill.py",)),
    Case("binary beside the modules", (f"{Z}table.bin",), gated=(f"{Z}table.bin",)),
    Case("native source", (f"{Z}native/hash.c",), gated=(f"{Z}native/hash.c",)),
    Case("marker file", (f"+{Z}py.typed",), gated=(f"{Z}py.typed",)),
    Case("zephyr and dedup", (f"{Z}plan.py", DEDUP), gated=(f"{Z}plan.py",), out=(DEDUP,)),
    Case(
        "zephyr, its tests and its docs",
        (f"{Z}plan.py", "lib/zephyr/tests/test_plan.py", "lib/zephyr/OPS.md"),
        gated=(f"{Z}plan.py",),
        out=("lib/zephyr/tests/test_plan.py", "lib/zephyr/OPS.md"),
    ),
    Case(
        "zephyr and fray",
        (f"{Z}plan.py", "lib/fray/src/fray/actor.py"),
        gated=(f"{Z}plan.py",),
        flagged=("lib/fray/src/fray/actor.py",),
    ),
    Case("zephyr and the lock file", (f"{Z}plan.py", "uv.lock"), gated=(f"{Z}plan.py",), flagged=("uv.lock",)),
    Case("fray alone", ("lib/fray/src/fray/actor.py",), flagged=("lib/fray/src/fray/actor.py",)),
    Case(
        "fray's tests and documents",
        ("lib/fray/tests/test_a.py", "lib/fray/README.md"),
        flagged=("lib/fray/tests/test_a.py", "lib/fray/README.md"),
    ),
    Case("fray renamed inside", ("lib/fray/a.py => lib/fray/b.py",), flagged=("lib/fray/b.py",)),
    Case("dedup alone", (DEDUP,), out=(DEDUP,)),
    Case("normalize alone", (NORMALIZE,), out=(NORMALIZE,)),
    Case("tokenize alone", (TOKENIZE,), out=(TOKENIZE,)),
    Case("another library", ("lib/levanter/src/levanter/main.py",), out=("lib/levanter/src/levanter/main.py",)),
    Case("a namesake elsewhere", ("lib/marin/src/zephyr/shuffle.py",), out=("lib/marin/src/zephyr/shuffle.py",)),
    Case("a namesake folder", ("lib/zephyr2/src/zephyr/shuffle.py",), out=("lib/zephyr2/src/zephyr/shuffle.py",)),
    Case(
        "documents",
        ("lib/zephyr/AGENTS.md", "lib/zephyr/OPS.md", "docs/zephyr.md"),
        out=("lib/zephyr/AGENTS.md", "lib/zephyr/OPS.md", "docs/zephyr.md"),
    ),
    Case("a document beside the modules", (f"{Z}NOTES.md",), out=(f"{Z}NOTES.md",)),
    Case(
        "documents of other kinds",
        ("lib/zephyr/docs/plan.svg", f"{Z}design.rst"),
        out=("lib/zephyr/docs/plan.svg", f"{Z}design.rst"),
    ),
    Case(
        "tests",
        ("lib/zephyr/tests/test_plan.py", "lib/zephyr/tests/conftest.py"),
        out=("lib/zephyr/tests/test_plan.py", "lib/zephyr/tests/conftest.py"),
    ),
    Case(
        "tests nested in the package",
        (f"{Z}io/tests/test_io.py", f"{Z}tests/data.json"),
        out=(f"{Z}io/tests/test_io.py", f"{Z}tests/data.json"),
    ),
    Case(
        "single test files in the package",
        (f"{Z}test_plan.py", f"{Z}io/conftest.py"),
        out=(f"{Z}test_plan.py", f"{Z}io/conftest.py"),
    ),
    Case(
        "doubt: other files of the library",
        ("lib/zephyr/Makefile", "lib/zephyr/benchmarks/run.py"),
        flagged=("lib/zephyr/Makefile", "lib/zephyr/benchmarks/run.py"),
    ),
    Case("doubt: the lock file alone", ("uv.lock",), flagged=("uv.lock",)),
    Case(
        "workflows",
        (".github/workflows/marin-canary-datakit-tier1.yaml",),
        out=(".github/workflows/marin-canary-datakit-tier1.yaml",),
    ),
    Case("the repository's own packaging", ("pyproject.toml",), out=("pyproject.toml",)),
    Case("nothing", ()),
)
SIGNS: dict[str, Status] = {"+": "added", "-": "deleted", "!": "special"}


def change(path: str) -> FileChange:
    old, arrow, new = path.rpartition(" => ")
    if arrow:
        return FileChange(new, "renamed", old, b"x = 1\n", b"x = 1\n")
    status = SIGNS.get(path[0], "modified")
    name = path.lstrip("+-!")
    base = None if status == "added" else b"x = 1\n"
    return FileChange(name, status, None, base, None if status == "deleted" else b"x = 2\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_pull_request_stands_where_a_reader_of_the_skill_would_put_it(case: Case) -> None:
    result = assess([change(path) for path in case.paths], Scope(), builtin_config().modules)
    assert set(result.per_file) == set(case.gated)
    assert set(result.flagged) == set(case.flagged)
    assert set(result.out_of_scope) == set(case.out)
    assert result.in_scope is bool(case.gated)
    assert result.max_gate != "skip"


def test_the_set_is_not_smaller_than_it_was() -> None:
    assert len(CASES) >= 30


def test_a_file_that_github_or_the_reader_omitted_is_gated_and_never_trivial() -> None:
    omitted = FileChange(f"{Z}shuffle.py", "modified", None, b"x = 1\n", None)
    result = assess([omitted], Scope(), builtin_config().modules)
    assert not result.per_file[f"{Z}shuffle.py"].trivial
    assert result.max_gate == "3"


def test_three_thousand_files_are_all_named() -> None:
    many = [change(f"lib/levanter/f{number}.py") for number in range(2999)] + [change(f"{Z}plan.py")]
    result = assess(many, Scope(), builtin_config().modules)
    assert (len(result.per_file), len(result.out_of_scope)) == (1, 2999)
