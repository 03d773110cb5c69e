"""Zephyr is written for Python 3.12: its type parameters are read on any interpreter, and never overlooked."""

from __future__ import annotations

import ast

import pytest

from bot.assessment.model import FileChange
from bot.assessment.triviality.grammar import parse_newer
from bot.assessment.triviality.proof import prove
from bot.assessment.triviality.source import parse

NEWER = b"""from collections.abc import Iterator

type Rows[T] = list[T]


class Reader[T](Iterator[T]):
    async def read[
        K: (int, str),  # one or the other
        *Rest,
    ](self, key: K) -> T:
        found = self.rows[key]  # by key
        return found


def plain(rows: list[int]) -> int:
    return rows[0]
"""


def trivial(base: bytes, head: bytes) -> bool:
    return prove(FileChange("lib/zephyr/src/zephyr/reader.py", "modified", None, base, head)).trivial


def test_every_definition_is_there_at_its_place() -> None:
    tree = parse(NEWER)
    lines = NEWER.decode().splitlines()
    found = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.AsyncFunctionDef)}
    assert {name: lines[node.lineno - 1].split("[")[0].strip() for name, node in found.items()} == {
        "Reader": "class Reader",
        "read": "async def read",
    }
    assert isinstance(found["read"], ast.AsyncFunctionDef)
    assert [one.arg for one in found["read"].args.args] == ["self", "key"]


def test_comments_and_names_of_locals_are_trivial_beside_type_parameters() -> None:
    assert trivial(NEWER, NEWER.replace(b"# by key", b"# the row"))
    assert trivial(NEWER, NEWER.replace(b"found", b"row"))
    assert trivial(NEWER, NEWER.replace(b"  # one or the other", b""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"class Reader[T]", b"class Reader[U]"),
        (b"class Reader[T]", b"class Reader"),
        (b"K: (int, str)", b"K: (int, bytes)"),
        (b"*Rest", b"**Rest"),
        (b"type Rows[T] = list[T]", b"type Rows[T] = set[T]"),
        (b"type Rows[T] = list[T]", b"type Rows[U] = list[T]"),
        (b"type Rows[T] = list[T]", b"Rows = list[T]"),
        (b"self.rows[key]", b"self.rows[-key]"),
    ],
)
def test_a_change_of_a_type_parameter_or_of_code_beside_it_is_seen(old: bytes, new: bytes) -> None:
    assert old in NEWER
    assert not trivial(NEWER, NEWER.replace(old, new))


@pytest.mark.parametrize(
    "broken",
    [
        b"def f[T(x): pass\n",
        b"class C[T]:\n",
        b"type X = \n",
        b"type X[T = 1\n",
        b"def f[T](:\n    '''\n",
        b"type X = 1 = 2 :\n",
        b"def g(x) print\n",
    ],
)
def test_what_is_broken_stays_broken(broken: bytes) -> None:
    with pytest.raises(SyntaxError):
        parse_newer(broken)
