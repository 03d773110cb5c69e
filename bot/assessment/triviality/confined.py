"""Which attributes of a class's instances a package can ask for, where every use of the class is in plain sight."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.assessment.triviality.pair import Surroundings
from bot.assessment.triviality.places import hints_of
from bot.assessment.triviality.source import Function

_TELLING = frozenset({"__name__", "__qualname__", "__module__", "__init__"})


def attributes_asked(name: str, around: Surroundings, constructs: bool = True) -> set[str] | None:
    """Attributes asked of the class or an instance in the whole package. None where one may escape from sight.

    `constructs=False`: even a call of the class is an escape (an enum looks members up by value).
    """
    found: set[str] = set()
    for _, tree in around.where(name):
        asked = _in_module(name, tree, constructs)
        if asked is None:
            return None
        found |= asked
    # `__class__` makes another instance, `__enter__` returns this one.
    if any(asked.startswith("__") and asked.endswith("__") and asked not in _TELLING for asked in found):
        return None
    return found


def _in_module(name: str, tree: ast.Module, constructs: bool) -> set[str] | None:
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    hints = {id(part) for node in ast.walk(tree) for hint in hints_of(node) for part in ast.walk(hint)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.name == name and node.asname:
            return None
        if isinstance(node, ast.Constant) and node.value == name:
            return None
        if isinstance(node, ast.Attribute) and node.attr == name:
            return None
        if isinstance(node, ast.ClassDef) and node.name == name and constructs:
            inside = _own(node)
            if inside is None:
                return None
            found |= inside
        if isinstance(node, ast.Name) and node.id == name and id(node) not in hints:
            asked = _use(node, parents, constructs)
            if asked is None:
                return None
            found |= asked
    return found


def _use(node: ast.Name, parents: dict[int, ast.AST], constructs: bool) -> set[str] | None:
    """One mention of the class: `C.x`, `C(…).x`, `v = C(…)`, `with C(…) as v`."""
    parent = parents[id(node)]
    if isinstance(parent, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return {parent.attr}
    if not (constructs and isinstance(parent, ast.Call) and parent.func is node):
        return None
    around = parents[id(parent)]
    if isinstance(around, ast.Attribute):
        return {around.attr}
    target: ast.expr | None = None
    if isinstance(around, ast.Assign) and len(around.targets) == 1:
        target = around.targets[0]
    elif isinstance(around, ast.withitem):
        target = around.optional_vars
    if not isinstance(target, ast.Name):
        return None
    scope: ast.AST | None = around
    while scope is not None and not isinstance(scope, Function):
        scope = parents.get(id(scope))
    return _asked_of(target.id, scope) if scope is not None else None


def _asked_of(variable: str, scope: ast.AST, may_return: bool = False) -> set[str] | None:
    """Attributes asked of a variable that is never used in any other way, save to be returned where it may."""
    asked = {node.value for node in ast.walk(scope) if isinstance(node, ast.Attribute)}
    if may_return:
        asked |= {node.value for node in ast.walk(scope) if isinstance(node, ast.Return) and node.value}
    for node in ast.walk(scope):
        if isinstance(node, ast.Global | ast.Nonlocal) and variable in node.names:
            return None
        if isinstance(node, ast.Name) and node.id == variable and isinstance(node.ctx, ast.Load) and node not in asked:
            return None
    return {
        node.attr
        for node in ast.walk(scope)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == variable
    }


def _own(node: ast.ClassDef) -> set[str] | None:
    """What the class asks of itself; None where it hands itself to anybody."""
    found: set[str] = set()
    for member in node.body:
        if isinstance(member, Function):
            first = [*member.args.posonlyargs, *member.args.args][:1]
            # `*args` may hold the instance.
            asked = None if not first and member.args.vararg else set[str]()
            if first:
                asked = _asked_of(first[0].arg, member, may_return=member.name == "__enter__")
            if asked is None:
                return None
            found |= asked
        elif any(isinstance(one, ast.Name | ast.Attribute | ast.Lambda | Function) for one in _run_by(member)):
            # What such a value does with the instance, when it is called as a method, is out of sight.
            return None
    return found


def _run_by(member: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement in a class body, save its targets and hints."""
    value = member.value if isinstance(member, ast.Assign | ast.AnnAssign) else member
    return iter(()) if value is None else ast.walk(value)
