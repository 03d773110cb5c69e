"""Docstrings, strings that stand alone, and `pass` beside other statements."""

from __future__ import annotations

import ast

from bot.assessment.triviality.pair import Pair, Side
from bot.assessment.triviality.readers import CALLABLE_READERS
from bot.assessment.triviality.rule import Rule, on_each_side
from bot.assessment.triviality.source import Definition, bodies, has_docstring

# Where one of these stands anywhere in the module, its docstrings may be data: help texts, tests, API descriptions.
READERS_IN_MODULE = (
    *("__doc__", "getdoc", "doctest", "click", "argparse", "docopt", "typer", "pydoc", "help(", "pydantic"),
    *("fastapi", "yacc", "Tool(", "getmembers"),
)
# Where one of these stands in another file of the package, it may read this module's docstrings.
_COMMANDS = frozenset({"command", "group", "callback", "tool", "prompt", "resource", "route", "get", "post"})
READERS_IN_PACKAGE = ("__doc__", "getdoc", "pydoc", "doctest")


def _drop_docstrings(side: Side, pair: Pair) -> list[str]:
    if pair.mentions(READERS_IN_MODULE) or pair.around.mentions(READERS_IN_PACKAGE):
        return []
    if any(each.modules() & CALLABLE_READERS for each in pair.sides) or pair.around.handed_to(CALLABLE_READERS):
        return []
    taken = []
    module_doc = side.tree.body[0] if has_docstring(side.tree) else None
    for statement in side.touched:
        if statement is module_doc:
            taken.append(ast.dump(statement))
            side.drop(statement)
    for node in side.walk():
        if has_docstring(node) and isinstance(node, Definition) and not _makes_a_command(node):
            taken.append(ast.dump(node.body.pop(0)))
            node.body = node.body or [ast.Pass()]
    return taken


def _makes_a_command(node: Definition) -> bool:
    """`@cli.command()`, `@server.tool`: the docstring is what users or models are told."""
    made = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return any(ast.unparse(one).rpartition(".")[2] in _COMMANDS for one in made)


def _drop_idle(side: Side, pair: Pair) -> list[str]:
    """A constant that is not the first statement can never be a docstring."""
    taken = []
    for statement in [one for one in side.touched if _idle(one) and one is not side.tree.body[0]]:
        taken.append(ast.dump(statement))
        side.drop(statement)
    for node in list(side.walk()):
        for body in bodies(node):
            documented = has_docstring(node) and body is getattr(node, "body", None)
            kept = [one for at, one in enumerate(body) if not _idle(one) or (documented and at == 0)]
            if len(kept) < len(body):
                taken += [ast.dump(one) for one in body if _idle(one)]
                # `...` alone, `pass` alone and a string alone are one and the same body, unless it is a docstring.
                body[:] = kept or [ast.Pass()]
    return taken


def _idle(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


DOCSTRINGS = Rule(
    "docstrings",
    "a docstring is only stored; nothing in the module or the package mentions a way to read it",
    on_each_side(_drop_docstrings),
)
IDLE_STATEMENTS = Rule(
    "idle statements",
    "the compiler emits nothing for `pass` and for a constant that stands alone behind the first statement",
    on_each_side(_drop_idle),
)
