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


def bound_here(node: ast.AST) -> list[str]:
    """What this very node binds, in whatever scope it stands."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, Definition):
        return [node.name]
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []


def words(tree: ast.AST) -> Iterator[str]:
    """Every identifier in every role, and every string constant: whatever could reach a definition by name."""
    for node in ast.walk(tree):
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, str):
                yield value
            elif isinstance(value, bytes):
                # A pickle names what it holds.
                yield value.decode("latin-1")
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, str))
