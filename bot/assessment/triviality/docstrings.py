"""Docstrings, strings that stand alone, and `pass` beside other statements."""

from __future__ import annotations

import ast
from itertools import pairwise

from bot.assessment.triviality.ancestry import in_sight
from bot.assessment.triviality.facts import Facts
from bot.assessment.triviality.pair import Pair, Side
from bot.assessment.triviality.readers import CALLABLE_READERS
from bot.assessment.triviality.rule import Rule, on_each_side
from bot.assessment.triviality.source import Definition, bodies, has_docstring, is_text

# Where one of these stands anywhere in the module, its docstrings may be data: help texts, tests, API descriptions.
READERS_IN_MODULE = (
    *("__doc__", "getdoc", "doctest", "click", "argparse", "docopt", "typer", "pydoc", "help(", "pydantic"),
    *("fastapi", "yacc", "Tool(", "getmembers"),
)
_COMMANDS = frozenset({"command", "group", "callback", "tool", "prompt", "resource", "route", "get", "post"})
# Where one of these stands in another file of the package, it may read this module's docstrings.
READERS_IN_PACKAGE = (
    *(
        "__doc__",
        "getdoc",
        "pydoc",
        "doctest",
        "getmembers",
        "getattr_static",
        "dir(",
        "json.schema",
        "schema_components",
    ),
)


def _read(pair: Pair) -> bool:
    """May anybody read the docstrings of this module, whatever they belong to?"""
    around = pair.around
    if pair.mentions(READERS_IN_MODULE) or around.mentions(READERS_IN_PACKAGE) or around.any_facts(_holds_classes):
        return True
    return any(each.modules() & CALLABLE_READERS for each in pair.sides) or around.handed_to(CALLABLE_READERS)


def _holds_classes(facts: Facts) -> bool:
    return facts.reads_class_dicts


def _told(side: Side, pair: Pair) -> set[int]:
    """Definitions, by identity, that are handed to somebody who cannot be looked into, with all that is in them."""
    told: set[int] = set()
    for statement in side.touched:
        for node in ast.walk(statement):
            if isinstance(node, Definition) and id(node) not in told and not in_sight(node, side.tree, pair.around):
                told.update(id(one) for one in ast.walk(node) if isinstance(one, Definition))
    return told


def _drop_docstrings(side: Side, pair: Pair) -> list[str]:
    if _read(pair):
        return []
    taken = []
    module_doc = side.tree.body[0] if has_docstring(side.tree) else None
    for statement in side.touched:
        if statement is module_doc:
            taken.append(ast.dump(statement))
            side.drop(statement)
    told = _told(side, pair)
    for node in side.walk():
        if has_docstring(node) and isinstance(node, Definition) and not _makes_a_command(node) and id(node) not in told:
            taken.append(ast.dump(node.body.pop(0)))
            node.body = node.body or [ast.Pass()]
    return taken


def _makes_a_command(node: Definition) -> bool:
    """`@cli.command()`, `@server.tool`: the docstring is what users or models are told."""
    made = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return any(ast.unparse(one).rpartition(".")[2] in _COMMANDS for one in made)


def _drop_idle(side: Side, pair: Pair) -> list[str]:
    """A constant that is not the first statement can never be a docstring; behind a field it may be its text."""
    read = _read(pair)
    told = _told(side, pair)
    taken = []
    kept = _texts_of_fields(side.tree.body) if read else set()
    for statement in [one for one in side.touched if _idle(one) and one is not side.tree.body[0]]:
        if id(statement) not in kept:
            taken.append(ast.dump(statement))
            side.drop(statement)
    for node in list(side.walk()):
        fields = isinstance(node, ast.ClassDef) and (read or id(node) in told)
        for body in bodies(node):
            documented = has_docstring(node) and body is getattr(node, "body", None)
            texts = _texts_of_fields(body) if fields else set()
            idle = [one for at, one in enumerate(body) if _idle(one) and not (documented and at == 0)]
            idle = [one for one in idle if id(one) not in texts]
            if idle:
                taken += [ast.dump(one) for one in body if _idle(one)]
                # `...` alone, `pass` alone and a string alone are one and the same body, unless it is a docstring.
                body[:] = [one for one in body if all(one is not other for other in idle)] or [ast.Pass()]
    return taken


def _texts_of_fields(body: list[ast.stmt]) -> set[int]:
    """Strings, by identity, that stand behind an assignment: some parse them as its description."""
    return {
        id(text)
        for field, text in pairwise(body)
        if isinstance(field, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr) and is_text(text.value)
    }


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
    "nothing is run for `pass` and for a constant alone behind the first statement, and nobody parses it as a text",
    on_each_side(_drop_idle),
)
