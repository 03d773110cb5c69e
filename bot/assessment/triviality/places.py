"""Where in a tree a name may stand, and what standing there means."""

from __future__ import annotations

import ast

from bot.assessment.trees import texts_in, walk
from bot.assessment.triviality.source import Function


def names_in(tree: ast.AST) -> set[str]:
    """Identifiers and strings below a node."""
    return texts_in(walk(tree))


def harmless_places(node: ast.AST) -> list[ast.expr]:
    """Expressions of this node where a class may stand without being handed to anybody."""
    if isinstance(node, ast.Call):
        asked = isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"} and len(node.args) == 2
        return [node.func, *(_members(node.args[1]) if asked else [])]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.MatchClass):
        return [node.cls]
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        return _members(node.type)
    return [node.value] if isinstance(node, ast.Attribute) else []


def _members(node: ast.expr) -> list[ast.expr]:
    return [node, *node.elts] if isinstance(node, ast.Tuple) else [node]


def hints_of(node: ast.AST) -> list[ast.expr]:
    """The type hints that this very node carries."""
    if isinstance(node, ast.arg | ast.AnnAssign):
        return [node.annotation] if node.annotation is not None else []
    return [node.returns] if isinstance(node, Function) and node.returns is not None else []


def passes_itself(node: ast.ClassDef) -> bool:
    """Does a method hand on its class as `cls`, or ask an object for its class?"""
    inside = walk(node)
    fine = {id(child) for one in inside for child in harmless_places(one)}
    return any(
        (isinstance(one, ast.Name) and one.id in {"cls", "type", "__class__"} and id(one) not in fine)
        or (isinstance(one, ast.Attribute) and one.attr == "__class__")
        for one in inside
    )


def is_union(node: ast.expr) -> bool:
    """`A | B | C` of plain names."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return all(isinstance(part, ast.Name) or is_union(part) for part in (node.left, node.right))
    return False
