"""Ways by which a program gets at more than the names that it writes, told by one node of its tree."""

from __future__ import annotations

import ast

MAY_ESCAPE = (
    *(ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.FormattedValue, ast.Assign, ast.AugAssign, ast.AnnAssign),
)
_FRAMES = frozenset({"DataFrame", "from_records", "LazyFrame"})
_GIVERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})


def class_of_an_instance(node: ast.AST) -> bool:
    """`type(x)` or `x.__class__`: whoever receives it may read the hints of a class that nobody names."""
    if isinstance(node, ast.Call):
        asked = isinstance(node.func, ast.Name) and node.func.id == "type"
        return asked and len(node.args) == 1 and not node.keywords
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    return isinstance(node, ast.Name) and node.id == "type" and isinstance(node.ctx, ast.Load)


def harmless_for_a_class(node: ast.AST) -> list[ast.expr]:
    """Where the class of an instance may stand, besides the places where any class may: it is shown, or looked up."""
    if isinstance(node, ast.FormattedValue):
        return [node.value]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
        return [node.slice]
    return []


def dict_of_a_class(node: ast.AST) -> bool:
    """`X.__dict__` or `vars(X)`, where X is not plainly an instance: what a class holds is its docstring too."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__" and not _is_self(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return not (node.args and _is_self(node.args[0]))
    return False


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def given_attributes(node: ast.AST) -> set[str]:
    """The words of whatever gets another attribute here: `logging.Logger.info = f`, `setattr(logger, "info", f)`."""
    target: ast.expr | None = None
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        target = node.value
    elif isinstance(node, ast.Call) and node.args:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        # `patch.object(logger, "info")` of a test double.
        target = node.args[0] if name in _GIVERS or name == "object" else None
    if target is None:
        return set()
    inside = list(ast.walk(target))
    return {one.id for one in inside if isinstance(one, ast.Name)} | {
        one.attr for one in inside if isinstance(one, ast.Attribute)
    }


def computes_exports(node: ast.AST) -> bool:
    """Is `__all__` made of anything but a list of written names?"""
    if isinstance(node, ast.AugAssign):
        return _is_all(node.target) and not _written(node.value)
    if isinstance(node, ast.Assign):
        return any(map(_is_all, node.targets)) and not _written(node.value)
    if isinstance(node, ast.AnnAssign):
        return _is_all(node.target) and node.value is not None and not _written(node.value)
    # `__all__.extend(…)`, `__all__[0] = …`, or all of it in the hands of somebody.
    return isinstance(node, ast.Attribute | ast.Subscript) and _is_all(node.value)


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def _written(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple) and all(isinstance(one, ast.Constant) for one in node.elts)


def frame_of_instances(node: ast.Call) -> bool:
    """May a data frame be made of data class instances? Its schema is then taken from their hints.

    Source: polars, "dataclasses as rows". A mapping of columns holds none.
    """
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _FRAMES:
        return False
    data = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "data"), None)
    return data is not None and not isinstance(data, ast.Dict | ast.DictComp)
