"""Edits in place: two trees of one shape that differ in leaves. A changed value looks so, a refactoring does not."""

from __future__ import annotations

import ast

import msgspec

from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.expressions import local_names
from bot.assessment.trees import same, walk

_OPERATORS = (ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
_LOGGERS = frozenset(["debug", "info", "warning", "error", "exception", "critical", "log"])
_MOST = 12
_SKIPPED = frozenset(["annotation", "returns", "kind", "type_comment", "ctx"])


class Edit(msgspec.Struct, frozen=True):
    """One leaf: what it was, what it is, and the statement (its line and identifiers) it stands in."""

    old: str
    new: str
    line: int
    names: tuple[str, ...]
    statement: str


def edits_in_place(before: Defined, after: Defined) -> tuple[Edit, ...]:
    """The differing leaves, empty when the trees are of another shape. Log messages and error texts do not count."""
    found: list[Edit] = []
    bodies = [getattr(item.node, "body", None) for item in (before, after)]
    if not _walk(bodies[0], bodies[1], after.node, found) or not found:
        return ()
    names = [{child.id for child in item.nodes if isinstance(child, ast.Name)} for item in (before, after)]
    local = local_names(before.nodes) | local_names(after.nodes)
    renamed = {(edit.old, edit.new) for edit in found if edit.old.isidentifier() and edit.new.isidentifier()}
    # A new name for an old one that is gone; two names that change places are no renaming.
    renames = {
        (old, new)
        for old, new in renamed
        if old not in names[1] and new not in names[0] and (old.startswith("_") or old in local or new in local)
    }
    return tuple([edit for edit in found if (edit.old, edit.new) not in renames][:_MOST])


def _walk(before: object, after: object, statement: ast.AST, found: list[Edit]) -> bool:
    if isinstance(before, ast.AST) and isinstance(after, ast.AST):
        if type(before) is not type(after):
            if isinstance(before, _OPERATORS) and isinstance(after, _OPERATORS):
                found.append(_edit(type(before).__name__, type(after).__name__, statement))
                return True
            if isinstance(before, ast.Constant | ast.Name | ast.UnaryOp) and isinstance(
                after, ast.Constant | ast.Name | ast.UnaryOp
            ):
                found.append(_edit(ast.unparse(before), ast.unparse(after), statement))
                return True
            if _negated(before, after) or _negated(after, before):
                found.append(_edit(ast.unparse(before), ast.unparse(after), statement))
                return True
            return False
        if isinstance(after, ast.ExceptHandler):
            statement = after
        if isinstance(after, ast.stmt) and not isinstance(after, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            statement = after
        if isinstance(after, ast.Raise) or (isinstance(after, ast.Call) and callee(after) in _LOGGERS):
            return True
        for name in after._fields:
            if name in _SKIPPED:
                continue
            if not _walk(getattr(before, name, None), getattr(after, name, None), statement, found):
                return False
        return True
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(
            _walk(one, other, statement, found) for one, other in zip(before, after, strict=True)
        )
    if isinstance(before, ast.AST | list) or isinstance(after, ast.AST | list):
        return False
    if repr(before) != repr(after):
        found.append(_edit(str(before), str(after), statement))
    return True


def _negated(one: ast.AST, other: ast.AST) -> bool:
    return isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not) and same(one.operand, other)


def _edit(old: str, new: str, statement: ast.AST) -> Edit:
    head: ast.AST = statement
    prefix = ""
    if isinstance(statement, ast.If | ast.While):
        head = statement.test
    elif isinstance(statement, ast.ExceptHandler):
        head, prefix = statement.type or statement, "except "
    elif isinstance(statement, ast.With | ast.AsyncWith):
        head, prefix = ast.Tuple([entry.context_expr for entry in statement.items], ast.Load()), "with "
        ast.copy_location(head, statement)
    elif isinstance(statement, ast.For | ast.AsyncFor):
        head = statement.iter
    names = tuple(
        dict.fromkeys(
            child.id if isinstance(child, ast.Name) else child.attr
            for child in walk(head)
            if isinstance(child, ast.Name | ast.Attribute)
        )
    )
    text = (
        ""
        if isinstance(head, ast.FunctionDef | ast.AsyncFunctionDef)
        else (prefix + ast.unparse(head)).split("\n", 1)[0][:80]
    )
    return Edit(old[:40], new[:40], getattr(head, "lineno", 0), names, text)
