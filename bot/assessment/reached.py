"""In which loops each node of a definition stands: found once, and then asked for any frequency of the whole."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import msgspec

from bot.assessment.trees import FIELDS, walk

# Views of a mapping: whether many rows or a handful of names stand in it, its own name says.
_VIEWS = frozenset(["items", "keys", "values"])
_STATEMENTS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = frozenset([*_STATEMENTS, *_COMPREHENSIONS])
# Checkers read these; at run time nothing in them is reached.
_SKIPPED = frozenset(["annotation", "returns"])
# What a loop goes over, and what follows it, is reached once.
_ONCE = frozenset(["iter", "orelse", "target"])


class Loop(msgspec.Struct, frozen=True):
    """`around` is the place of the loop itself; `over` are the names it goes over."""

    around: int
    node: ast.AST
    over: str


class Reached(msgspec.Struct, frozen=True):
    """Nodes, outermost first, and the place of each: 0 outside any loop, else the number of the innermost loop."""

    nodes: list[ast.AST] = msgspec.field(default_factory=list)
    places: list[int] = msgspec.field(default_factory=list)
    loops: list[Loop] = msgspec.field(default_factory=list)


def reached(node: ast.AST) -> Reached:
    """Raises RecursionError where it is nested too deeply."""
    found = Reached()
    _enter(node, 0, found)
    return found


def _enter(node: ast.AST, here: int, found: Reached) -> None:
    found.nodes.append(node)
    found.places.append(here)
    if node.__class__ in _LOOPS:
        _loop(node, here, found)
        return
    for name in FIELDS[node.__class__]:
        if name in _SKIPPED:
            continue
        value = getattr(node, name, None)
        if value.__class__ is list:
            for child in value:
                if child is not None:
                    _enter(child, here, found)
        elif value is not None:
            _enter(value, here, found)


def _loop(node: ast.AST, here: int, found: Reached) -> None:
    found.loops.append(Loop(here, node, _over(node)))
    within = len(found.loops)
    for name in FIELDS[node.__class__]:
        value = getattr(node, name, None)
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                once = name in _ONCE or (name == "generators" and index == 0)
                _enter(child, here if once else within, found)


def _over(loop: ast.AST) -> str:
    if isinstance(loop, ast.For | ast.AsyncFor):
        return " ".join(_names([loop.target, loop.iter]))
    if isinstance(loop, ast.While):
        return " ".join(_names([loop.test]))
    if isinstance(loop, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return " ".join(_names([part for comp in loop.generators for part in (comp.target, comp.iter)]))
    return ""


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for child in walk(node):
            if isinstance(child, ast.Name):
                yield child.id
            elif isinstance(child, ast.Attribute) and child.attr not in _VIEWS:
                yield child.attr
