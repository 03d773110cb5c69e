"""A quick look before the rules: where what no rule ever touches differs, no rule needs to be tried.

Saying "apart" is never unsound, it only ends a proof early. What it counts must survive every rule: calls, attributes,
numbers, operators, and the kinds of statements, all outside hints. Most changes that mean something change one of them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterable

from bot.assessment.trees import FIELDS
from bot.assessment.triviality.pair import Pair

# `If` is left out: a block for type checkers may go. `Add` is left out: pieces of a string may be joined.
_COUNTED = (
    *(ast.Call, ast.Return, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Raise),
    *(ast.Delete, ast.Assert, ast.AugAssign, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.Subscript, ast.Starred),
    *(ast.cmpop, ast.boolop, ast.unaryop, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)
# Counted by the name that they give or ask for.
_NAMED: dict[type[ast.AST], str] = {
    ast.Attribute: "attr",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.arg: "arg",
    ast.keyword: "arg",
}
_HINTS = frozenset(["annotation", "returns"])


def apart(pair: Pair) -> bool:
    """Is it plain that no rule can make both sides equal? Only asked where no definition was lost."""
    return _count(pair.base.touched) != _count(pair.head.touched)


def _count(statements: Iterable[ast.AST]) -> Counter[Hashable]:
    found: Counter[Hashable] = Counter()
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        kind = node.__class__
        if kind is ast.Constant:
            value = node.value  # type: ignore[attr-defined]
            if isinstance(value, int | float | complex):
                found[type(value), repr(value)] += 1
            continue
        if kind is ast.Expr and isinstance(node.value, ast.Constant):  # type: ignore[attr-defined]
            continue
        if kind in _NAMED:
            found[kind, getattr(node, _NAMED[kind])] += 1
        elif issubclass(kind, _COUNTED):
            found[kind.__name__] += 1
        for name in FIELDS[kind]:
            if name in _HINTS:
                continue
            value = getattr(node, name, None)
            if value.__class__ is list:
                waiting.extend(filter(None, value))
            elif value is not None:
                waiting.append(value)
    return found
