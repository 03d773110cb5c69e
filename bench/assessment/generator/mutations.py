"""Changes that a careful reader must never wave through: each may alter what runs. None may be called trivial."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from bench.assessment.generator.edit import Edit, Source, changed, is_log_call, usable
from bench.assessment.generator.structure import STRUCTURE

_OPERATORS: dict[type[ast.AST], ast.AST] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Add(),
    ast.Div: ast.FloorDiv(),
    ast.FloorDiv: ast.Div(),
    ast.Mod: ast.FloorDiv(),
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.And: ast.Or(),
    ast.Or: ast.And(),
}


def _rewritten(kind: str, of: Source, node: ast.AST, new: ast.AST) -> Iterator[Edit]:
    return changed(kind, of, of.replace(node, f"({ast.unparse(new)})"))


def operators(of: Source, random: Random) -> Iterator[Edit]:
    for node in usable(of, (ast.BinOp, ast.Compare, ast.BoolOp)):
        new: Any = copy.deepcopy(node)
        old = new.ops[0] if isinstance(node, ast.Compare) else new.op
        if type(old) not in _OPERATORS:
            continue
        if isinstance(node, ast.Compare):
            new.ops[0] = _OPERATORS[type(old)]
        else:
            new.op = _OPERATORS[type(old)]
        yield from _rewritten("operator", of, node, new)


def constants(of: Source, random: Random) -> Iterator[Edit]:
    for node in usable(of, ast.Constant):
        assert isinstance(node, ast.Constant)
        value = node.value
        others: list[Any] = []
        if isinstance(value, bool):
            others = [not value, int(value)]
        elif isinstance(value, int):
            others = [value + 1, float(value), value * 10] + ([bool(value)] if value in (0, 1) else [])
        elif isinstance(value, float):
            others = [value * 2 + 1] + ([int(value)] if value.is_integer() else [])
        elif isinstance(value, str):
            others = [value + "_", value.encode()]
        elif isinstance(value, bytes):
            others = [value + b"_", value.decode("latin-1")]
        elif value is None:
            others = [False]
        for other in others:
            yield from changed(f"constant {type(value).__name__}", of, of.replace(node, repr(other)))


def calls(of: Source, random: Random) -> Iterator[Edit]:
    for node in usable(of, ast.Call):
        assert isinstance(node, ast.Call)
        if isinstance(of.parents[node], ast.Expr):
            yield from changed("removed call", of, of.replace(node, "pass"))
        if len(node.args) > 1 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
            new = copy.deepcopy(node)
            new.args[0], new.args[1] = new.args[1], new.args[0]
            yield from _rewritten("swapped arguments", of, node, new)
        if node.keywords and node.keywords[0].arg:
            new = copy.deepcopy(node)
            new.keywords[0].arg = f"{node.keywords[0].arg}_"
            yield from _rewritten("keyword", of, node, new)
        if isinstance(node.func, ast.Attribute):
            yield from changed(
                "method name", of, of.replace(node, ast.unparse(node).replace(node.func.attr, "other", 1))
            )


def logging(of: Source, random: Random) -> Iterator[Edit]:
    for node in [one for one in ast.walk(of.tree) if is_log_call(one)]:
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        new = copy.deepcopy(node)
        assert isinstance(new.func, ast.Attribute)
        new.func.attr = "debug" if node.func.attr != "debug" else "info"
        yield from _rewritten("log level", of, node, new)
        if len(node.args) > 1:
            new = copy.deepcopy(node)
            new.args[-1] = ast.Call(ast.Name("len", ast.Load()), [new.args[-1]], [])
            yield from _rewritten("log argument", of, node, new)
            new = copy.deepcopy(node)
            new.args.pop()
            yield from _rewritten("log argument dropped", of, node, new)
        for value in [part for part in ast.walk(node.args[0]) if isinstance(part, ast.FormattedValue)]:
            old = value.value
            value.value = ast.Call(ast.Name("str", ast.Load()), [old], [])
            yield from _rewritten("log value", of, node, node)
            value.value = old


def texts(of: Source, random: Random) -> Iterator[Edit]:
    """f-strings that are not the words of a log message."""
    for node in usable(of, ast.JoinedStr):
        assert isinstance(node, ast.JoinedStr)
        new = copy.deepcopy(node)
        new.values.append(ast.Constant("x"))
        yield from _rewritten("f-string", of, node, new)


def handlers(of: Source, random: Random) -> Iterator[Edit]:
    for node in usable(of, ast.ExceptHandler):
        assert isinstance(node, ast.ExceptHandler)
        if node.type is not None:
            wider = "BaseException" if ast.unparse(node.type) == "Exception" else "Exception"
            yield from changed("widened except", of, of.replace(node.type, wider))


def comprehensions(of: Source, random: Random) -> Iterator[Edit]:
    for node in usable(of, (ast.ListComp, ast.GeneratorExp, ast.YieldFrom, ast.IfExp)):
        if isinstance(node, ast.ListComp):
            yield from _rewritten("comprehension", of, node, ast.GeneratorExp(node.elt, node.generators))
            yield from _rewritten("comprehension", of, node, ast.SetComp(node.elt, node.generators))
        elif isinstance(node, ast.GeneratorExp) and of.written(node).startswith("("):
            yield from _rewritten("comprehension", of, node, ast.ListComp(node.elt, node.generators))
        elif isinstance(node, ast.YieldFrom):
            yield from _rewritten("yield", of, node, ast.Yield(node.value))
        elif isinstance(node, ast.IfExp):
            yield from _rewritten("branches", of, node, ast.IfExp(node.test, node.orelse, node.body))


MUTATIONS = (operators, constants, calls, logging, texts, handlers, comprehensions, *STRUCTURE)
