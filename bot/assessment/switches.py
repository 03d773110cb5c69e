"""What a condition comes to where nobody sets anything: flags of a module, fields, the environment, parameters.

Only what the package itself says counts. What is told of a flag is that it is off, or on, for whoever does not know it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.assessment.definitions import Defined, callee

Known = tuple[Any] | None
"""The one value, or None where it cannot be told."""
_DEEPEST = 8
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: lambda one, other: one == other,
    ast.NotEq: lambda one, other: one != other,
    ast.Is: lambda one, other: one is other,
    ast.IsNot: lambda one, other: one is not other,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}
_TEXTS = frozenset(["lower", "upper", "strip"])


class Switches:
    """The constants and fields of one side by their own name, where all of that name are assigned once, and alike."""

    def __init__(self, known: Sequence[Defined]) -> None:
        self._known = known
        self._values: dict[str, Known] = {}
        self._written: dict[str, list[ast.expr | None]] = defaultdict(list)
        for item in known:
            if item.kind == "constant":
                value = getattr(item.node, "value", None)
                self._written[item.tail].append(value if len(item.written) == 1 else None)

    def value(self, name: str, depth: int = 0) -> Known:
        """What everything of that name is."""
        if name not in self._values:
            self._values[name] = self._told(name, depth)
        return self._values[name]

    def _told(self, name: str, depth: int) -> Known:
        values = [self.of(node, {}, depth + 1) if node is not None else None for node in self._written.get(name, ())]
        if not values or values[0] is None or any(value != values[0] for value in values):
            return None
        return None if any(_sets(item, name) for item in self._known if item.names(name)) else values[0]

    def of(self, node: ast.expr, local: Mapping[str, Known], depth: int = 0) -> Known:
        """`local` are the names that mean something else here, and what they are."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            return (node.value,)
        if isinstance(node, ast.Name):
            return local[node.id] if node.id in local else self.value(node.id, depth)
        if isinstance(node, ast.Attribute):
            return self.value(node.attr, depth)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            operand = self.of(node.operand, local, depth + 1)
            return (not operand[0],) if operand else None
        if isinstance(node, ast.BoolOp):
            return self._joined(node, local, depth)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node, local, depth)
        return self._called(node, local, depth) if isinstance(node, ast.Call) else None

    def _joined(self, node: ast.BoolOp, local: Mapping[str, Known], depth: int) -> Known:
        """One part that is off is enough for `and`, one that is on for `or`."""
        decides = isinstance(node.op, ast.Or)
        parts = [self.of(part, local, depth + 1) for part in node.values]
        if any(part is not None and bool(part[0]) is decides for part in parts):
            return (decides,)
        return parts[-1] if all(part is not None for part in parts) else None

    def _compared(self, node: ast.Compare, local: Mapping[str, Known], depth: int) -> Known:
        right = node.comparators[0]
        if isinstance(right, ast.Tuple | ast.List | ast.Set):
            members = [self.of(part, local, depth + 1) for part in right.elts]
            other: Known = (tuple(part[0] for part in members if part),) if all(members) else None
        else:
            other = self.of(right, local, depth + 1)
        one, compare = self.of(node.left, local, depth + 1), _COMPARED.get(type(node.ops[0]))
        if one is None or other is None or compare is None:
            return None
        try:
            return (bool(compare(one[0], other[0])),)
        except TypeError:
            return None

    def _called(self, node: ast.Call, local: Mapping[str, Known], depth: int) -> Known:
        name, given = callee(node), [self.of(part, local, depth + 1) for part in node.args]
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        environment = name == "getenv" or (name == "get" and receiver is not None and _tail(receiver) == "environ")
        if environment and given and not node.keywords:
            return given[1] if len(given) > 1 else (None,)
        if name == "bool" and receiver is None and given and given[0]:
            return (bool(given[0][0]),)
        if name == "int" and receiver is None and given and given[0] and str(given[0][0]).isdecimal():
            return (int(given[0][0]),)
        if name in _TEXTS and receiver is not None and not given:
            text = self.of(receiver, local, depth + 1)
            return (getattr(text[0], name)(),) if text and isinstance(text[0], str) else None
        return None


def _tail(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _sets(item: Defined, name: str) -> bool:
    """Is it assigned as an attribute, given by keyword or declared global there?"""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.keyword) and node.arg == name)
        or (isinstance(node, ast.Global) and name in node.names)
        for node in item.nodes
    )
