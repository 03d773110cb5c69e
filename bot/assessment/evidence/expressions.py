"""Expressions told without the names of locals, and small questions about expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from bot.assessment.definitions import Defined
from bot.assessment.trees import walk
from bot.assessment.triviality.source import Definition
from bot.assessment.vocabulary import words_of

_SETTINGS = frozenset(["kwargs", "options", "config", "settings", "attributes", "labels", "headers", "env", "params"])
_LOCKS = frozenset(["lock", "locked", "rlock", "mutex", "cond", "condition", "semaphore", "sem"])
_OPPOSITE = {"is not": "is", "not in": "in", "!=": "=="}


def anonymous(node: ast.AST, local: frozenset[str]) -> str:
    """The text with `_` for every local, without the texts that it formats."""
    # Most are a name or a constant, and unparsing costs.
    if isinstance(node, ast.Name):
        return "_" if node.id in local else node.id
    if isinstance(node, ast.Constant):
        return ast.unparse(node)
    return ast.unparse(_Anonymous(local).visit(copied(node)))


class _Anonymous(ast.NodeTransformer):
    """Locals become `_`, calls keep their name, texts go."""

    def __init__(self, local: frozenset[str]) -> None:
        self._local = local

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_") if node.id in self._local else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("text")

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg("_")


def local_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Parameters and everything that is assigned among the nodes of a definition."""
    found = set()
    for child in nodes:
        if isinstance(child, ast.Name):
            if isinstance(child.ctx, ast.Store):
                found.add(child.id)
        elif isinstance(child, ast.arg):
            found.add(child.arg)
        elif isinstance(child, ast.ExceptHandler) and child.name:
            found.add(child.name)
    return frozenset(found)


def copied(node: ast.AST) -> ast.AST:
    """A tree of its own, to be changed."""
    twin = type(node)()
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            value = [copied(item) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST):
            value = copied(value)
        setattr(twin, name, value)
    for name in ("lineno", "col_offset"):
        if hasattr(node, name):
            setattr(twin, name, getattr(node, name))
    return twin


def is_settings(node: ast.expr) -> bool:
    """Is this a view of keyword arguments or of another handful of settings?"""
    return any(not _SETTINGS.isdisjoint(words_of(name)) for name in identifiers(node))


def is_lock(node: ast.expr) -> bool:
    """By a word of the name that is entered: `self._lock`, `cond`, `locks[name]`, but not `open(block_size=…)`."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return not _LOCKS.isdisjoint(words_of(name))


def either_way(test: ast.expr, text: str) -> str:
    """`x is not None` guards what `x is None` leaves early from."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        for opposite, plain in _OPPOSITE.items():
            if f" {opposite} " in text:
                return text.replace(f" {opposite} ", f" {plain} ", 1)
    return text


def single_assignments(item: Defined) -> dict[str, tuple[str, ...]]:
    """Local of a definition → the first identifiers that it was computed from."""
    found: dict[str, tuple[str, ...]] = {}
    if not isinstance(item.node, Definition):
        return found
    for child in item.nodes:
        if isinstance(child, ast.Assign) and len(child.targets) == 1 and isinstance(child.targets[0], ast.Name):
            found[child.targets[0].id] = tuple(dict.fromkeys(identifiers(child.value)))[:6]
    return found


def identifiers(node: ast.AST | None) -> Iterator[str]:
    """Names and attributes of an expression, level by level."""
    for child in walk(node) if node is not None else ():
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def is_constant(node: ast.expr) -> bool:
    """Does it stand for one value, that of a literal or of a named constant?"""
    return is_number(node) or is_named_constant(node) or isinstance(node, ast.Constant)


def is_number(node: ast.expr) -> bool:
    """A number or a computation with numbers alone."""
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def is_named_constant(node: ast.expr) -> bool:
    """A name in capital letters."""
    return isinstance(node, ast.Name) and node.id.isupper()


def is_text(node: ast.BinOp) -> bool:
    """Does an operator put texts together?"""
    parts = (node.left, node.right)
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in parts
    )
