"""Which files the gate is about, with the built-in rules of the Zephyr ladder."""

from __future__ import annotations

import pytest

from bot.assessment.scope import compile_pattern, place
from bot.config.schema import Scope

BUILT_IN = Scope()


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("lib/**", "lib/a.py", True),
        ("lib/**", "lib/a/b/c.py", True),
        ("lib/**", "lib", False),
        ("lib/**", "library/a.py", False),
        ("**/*.md", "README.md", True),
        ("**/*.md", "a/b/README.md", True),
        ("**/*.md", "a/b/README.mdx", False),
        ("*.md", "a/README.md", False),
        ("a/*/c.py", "a/b/c.py", True),
        ("a/*/c.py", "a/b/b/c.py", False),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/x/y/c.py", True),
        ("a/?.py", "a/b.py", True),
        ("a/?.py", "a//.py", False),
        ("a+b/[x].py", "a+b/[x].py", True),
        ("a+b/[x].py", "aab/x.py", False),
        ("lib/**", "lib/two\nlines.py", True),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, path: str, matches: bool) -> None:
    assert bool(compile_pattern(pattern).fullmatch(path)) is matches


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("lib/zephyr/src/zephyr/shuffle.py", "in"),
        ("lib/zephyr/src/zephyr/readers/parquet.py", "in"),
        ("lib/zephyr/pyproject.toml", "in"),
        ("lib/zephyr/AGENTS.md", "out"),
        ("lib/zephyr/src/zephyr/NOTES.md", "out"),
        ("lib/zephyr/tests/test_shuffle.py", "out"),
        ("lib/zephyr/Makefile", "flagged"),
        ("lib/marin/src/marin/processing/tokenize/tokenize.py", "out"),
        ("lib/fray/src/fray/actor.py", "flagged"),
        ("pyproject.toml", "out"),
    ],
)
def test_the_built_in_rules_place_the_files_of_the_repository(path: str, kind: str) -> None:
    assert place(path, BUILT_IN).kind == kind


def test_every_refusal_names_its_rule() -> None:
    assert place("docs/zephyr.md", BUILT_IN).reason == "documentation (scope rule **/*.md)"
    assert place("lib/zephyr/tests/conftest.py", BUILT_IN).reason == "tests (scope rule lib/zephyr/tests/**)"
    assert "no include rule" in place("lib/iris/Makefile", BUILT_IN).reason
    assert "lib/fray/**" in place("lib/fray/src/fray/actor.py", BUILT_IN).reason


def test_a_flagged_document_is_still_put_to_the_reviewer() -> None:
    assert place("lib/fray/README.md", BUILT_IN).kind == "flagged"
