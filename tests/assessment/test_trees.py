"""The quick ways over a syntax tree say what the slow ones of the standard library say."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest

import bot
from bot.assessment.definitions import definitions
from bot.assessment.paused import collector_paused
from bot.assessment.trees import children, same, walk
from bot.assessment.triviality.source import parsed, undocumented

REAL = [path.read_bytes() for path in sorted(Path(bot.__file__).parent.rglob("*.py"))]
PLAIN = {"a = [x for x in y if not x]", "match a:\n    case {'k': [1, *_], **r} | None: pass", "global a, b"}


def shown(nodes: list[ast.AST]) -> list[str]:
    return [ast.dump(node) for node in nodes if not isinstance(node, ast.expr_context)]


@pytest.mark.parametrize("text", sorted(PLAIN))
def test_every_node_is_met_in_the_order_of_the_standard_library(text: str) -> None:
    tree = ast.parse(text)
    assert shown(walk(tree)) == shown(list(ast.walk(tree)))
    assert all(shown(children(node)) == shown(list(ast.iter_child_nodes(node))) for node in ast.walk(tree))


def test_every_node_of_real_modules_is_met() -> None:
    for text in REAL:
        tree = ast.parse(text)
        met = [id(node) for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
        assert [id(node) for node in walk(tree)] == met


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = 0.0", "x = -0.0"),
        ("x = 'a'", "x = b'a'"),
        ("x = 'a'", "x = u'a'"),
        ("f(a)", "f(*a)"),
        ("f(a, b)", "f(a)"),
        ("def f(*, a=None): pass", "def f(*, a): pass"),
        ("{**a}", "{None: a}"),
        ("global a", "global b"),
        ("global a", "nonlocal a"),
        ("a.b", "a.c"),
        ("a < b", "a <= b"),
        ("import a", "import a as b"),
        ("match a:\n    case True: pass", "match a:\n    case False: pass"),
        ("match a:\n    case [*r]: pass", "match a:\n    case [*s]: pass"),
    ],
)
def test_what_dumps_otherwise_is_not_the_same(one: str, other: str) -> None:
    trees = [ast.parse(one), ast.parse(other)]
    assert not same(trees[0], trees[1])
    assert not same(trees[1], trees[0])
    assert all(same(tree, ast.parse(text)) for tree, text in zip(trees, (one, other), strict=True))


def test_docstrings_are_left_out_and_the_shared_tree_is_not_touched() -> None:
    text = (
        b'class A:\n    """Doc."""\n    def f(self):\n        """Doc."""\n        if x:\n            def g(): "Doc."\n'
    )
    tree = parsed(text)
    assert tree is not None
    before = ast.dump(tree)
    bare = b"class A:\n    def f(self):\n        if x:\n            def g(): pass\n"
    assert ast.dump(undocumented(tree)) == ast.dump(ast.parse(bare))
    assert ast.dump(tree) == before


def test_definitions_on_equal_lines_are_the_same_and_others_are_compared() -> None:
    text = b'@cache\ndef f(a):\n    """Doc."""\n    return a\n\n\nclass A(B):\n    x = 1\n    y = 2\n'
    other = (
        text.replace(b"    return a", b"    return (a)  # as it is").replace(b"Doc", b"Words").replace(b"= 2", b"= 3")
    )
    sides = [definitions("a.py", side) for side in (text, other)]
    changed = [name for name, item in sides[0].items() if not item.same(sides[1][name])]
    assert changed == ["A.y"]
    assert [name for name, item in sides[0].items() if item.source != sides[1][name].source] == ["f", "A.y"]


def test_a_name_is_found_in_every_role_and_not_as_a_part_of_another() -> None:
    found = definitions("a.py", b"def f(parameter):\n    obj.attribute = g(keyword=name) or 'text'  # comment\n")["f"]
    for name in ("f", "parameter", "obj", "attribute", "g", "keyword", "name", "text"):
        assert found.names(name)
    for name in ("comment", "tex", "ob", "absent"):
        assert not found.names(name)


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was(running: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if running else gc.disable)()
        with collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is running
    finally:
        (gc.enable if was else gc.disable)()
