"""Who binds a name in a module: the question every rule about names begins with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.assessment.triviality.source import Definition


def module_bindings(tree: ast.Module) -> dict[str, ast.stmt]:
    """Names that a plain top-level statement binds, each with that statement."""
    return {name: statement for statement in tree.body for name in bound_by(statement)}


def bound_by(statement: ast.stmt) -> list[str]:
    """What one import, definition or plain assignment binds."""
    if isinstance(statement, ast.Import):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names]
    if isinstance(statement, Definition):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and statement.value and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def all_bindings(tree: ast.AST) -> Iterator[str]:
    """Every binding in every scope, once for each place: a name that comes once means one thing everywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, Definition):
            yield node.name
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def rebinds(tree: ast.AST, name: str) -> int:
    """How many places bind this name."""
    return sum(bound == name for bound in all_bindings(tree))


def words(tree: ast.AST) -> Iterator[str]:
    """Every identifier in every role, and every string constant: whatever could reach a definition by name."""
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, str))
