"""A quick look before the rules: where what no rule ever touches differs, no rule needs to be tried.

Saying "apart" is never unsound, it only ends a proof early. What it counts must survive every rule: calls, attributes,
numbers, operators, and the kinds of statements, all outside hints. Most changes that mean something change one of them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterable

from bot.assessment.triviality.pair import Pair
from bot.assessment.triviality.source import Definition, Function

# `If` is left out: a block for type checkers may go. `Add` is left out: pieces of a string may be joined.
_COUNTED = (
    *(ast.Call, ast.Return, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Raise),
    *(ast.Delete, ast.Assert, ast.AugAssign, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.Subscript, ast.Starred),
    *(ast.cmpop, ast.boolop, ast.unaryop, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)


def apart(pair: Pair) -> bool:
    """Is it plain that no rule can make both sides equal? Only asked where no definition was lost."""
    return _count(pair.base.touched) != _count(pair.head.touched)


def _count(statements: Iterable[ast.AST]) -> Counter[Hashable]:
    found: Counter[Hashable] = Counter()
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, _COUNTED):
            found[type(node).__name__, None] += 1
        elif isinstance(node, ast.Attribute):
            found[node.attr] += 1
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, int | float | complex):
                found[type(node.value), repr(node.value)] += 1
            continue
        elif isinstance(node, Definition):
            found[type(node), node.name] += 1
        elif isinstance(node, ast.arg | ast.keyword):
            found[type(node), node.arg] += 1
        skipped = _hint(node)
        waiting += [child for child in ast.iter_child_nodes(node) if child is not skipped]
    return found


def _hint(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.arg | ast.AnnAssign):
        return node.annotation
    return node.returns if isinstance(node, Function) else None
