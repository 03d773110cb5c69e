"""Going over syntax trees, many times a file: children by a table for each kind of node instead of asking every field.

`ast.walk` asks each field of each node whether it holds a node, through two generators; over ten thousand changed lines
that alone took half of the time. The order is that of `ast.walk`. Whether a name is read or stored (`ctx`) is not a
node of its own here: the node around it says it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

# Fields that never hold a node, of whatever kind of node they are.
_PLAIN = frozenset(
    (
        *("id", "attr", "arg", "name", "asname", "module", "level", "kind", "type_comment", "conversion", "simple"),
        *("ctx", "is_async", "rest", "kwd_attrs", "lineno", "tag"),
    )
)
_ALSO_PLAIN: dict[type[ast.AST], frozenset[str]] = {
    ast.Constant: frozenset(["value"]),
    ast.MatchSingleton: frozenset(["value"]),
    ast.Global: frozenset(["names"]),
    ast.Nonlocal: frozenset(["names"]),
}


class _Table(dict[type[ast.AST], tuple[str, ...]]):
    """Kind of node → some of its fields, found when first asked."""

    def __init__(self, holds: Callable[[type[ast.AST], str], bool]) -> None:
        super().__init__()
        self._holds = holds

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        self[kind] = found = tuple(name for name in kind._fields if self._holds(kind, name))
        return found


def _holds_nodes(kind: type[ast.AST], name: str) -> bool:
    # The name of a `type` statement of Python 3.12 is a node.
    return (name not in _PLAIN or kind.__name__ == "TypeAlias") and name not in _ALSO_PLAIN.get(kind, ())


# By kind: the fields that may hold nodes; and those that a comparison looks at.
FIELDS = _Table(_holds_nodes)
_COMPARED = _Table(lambda _, name: name != "ctx")


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below a node, in order."""
    found: list[ast.AST] = []
    for name in FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found.extend(filter(None, value))
        elif value is not None:
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """The node and every node below it, level by level."""
    found = [node]
    for one in found:
        for name in FIELDS[one.__class__]:
            value = getattr(one, name, None)
            if value.__class__ is list:
                found.extend(filter(None, value))
            elif value is not None:
                found.append(value)
    return found


def _unchanged(node: ast.AST) -> ast.AST:
    return node


def same(one: ast.AST, other: ast.AST, seen_as: Callable[[ast.AST], ast.AST] = _unchanged) -> bool:
    """Would both dump alike? Ends at the first difference. `seen_as` says what to compare in the place of a node."""
    if seen_as is not _unchanged:
        one, other = seen_as(one), seen_as(other)
    if one.__class__ is not other.__class__:
        return False
    for name in _COMPARED[one.__class__]:
        mine, theirs = getattr(one, name, None), getattr(other, name, None)
        if mine is theirs:
            continue
        if mine.__class__ is list and theirs.__class__ is list:
            if not all_same(mine, theirs, seen_as):
                return False
        elif isinstance(mine, ast.AST) and isinstance(theirs, ast.AST):
            if not same(mine, theirs, seen_as):
                return False
        elif not _equal(mine, theirs):
            return False
    return True


def all_same(
    some: Sequence[object], others: Sequence[object], seen_as: Callable[[ast.AST], ast.AST] = _unchanged
) -> bool:
    """The same of two lists, in order; the items of a list may also be names or nothing."""
    if len(some) != len(others):
        return False
    for mine, theirs in zip(some, others, strict=True):
        if isinstance(mine, ast.AST) and isinstance(theirs, ast.AST):
            if not same(mine, theirs, seen_as):
                return False
        elif not _equal(mine, theirs):
            return False
    return True


def _equal(mine: object, theirs: object) -> bool:
    # One, one point zero and true are equal to `==`, and so are zero and minus zero.
    if mine.__class__ is not theirs.__class__ or mine != theirs:
        return False
    return not isinstance(mine, float | complex) or repr(mine) == repr(theirs)


def texts_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Every identifier of these nodes in every role, and every whole string."""
    found: set[str] = set()
    for node in nodes:
        for name in TEXTS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is str:
                found.add(value)
            elif value.__class__ is list:
                found.update(item for item in value if item.__class__ is str)
    return found


# By kind: the fields that may hold identifiers and strings.
TEXTS = _Table(
    lambda kind, name: (name in _PLAIN or name in _ALSO_PLAIN.get(kind, ())) and name not in ("ctx", "lineno")
)
