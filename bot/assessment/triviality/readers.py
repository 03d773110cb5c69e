"""Who reads type hints at run time, and how a class may be handed to a reader."""

from __future__ import annotations

import ast

from bot.assessment.triviality.names import module_bindings
from bot.assessment.triviality.pair import Pair, Surroundings
from bot.assessment.triviality.source import Definition

# One of these anywhere in the package may look at any function's or class's hints.
HINT_READERS = (
    *("__annotations__", "get_type_hints", "get_annotations", "__dataclass_fields__", "getfullargspec"),
    *("signature(", "validate_call", "TypeAdapter", "make_dataclass", "__wrapped__"),
)
_FIELD_KINDS = ("ClassVar", "InitVar", "KW_ONLY", "Annotated", "Final")
_PLAIN_DECORATORS = frozenset(
    {
        *("property", "staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod", "overload", "override"),
        *(
            "contextmanager",
            "contextlib.contextmanager",
            "cache",
            "functools.cache",
            "lru_cache",
            "functools.lru_cache",
        ),
        *("cached_property", "functools.cached_property", "typing.overload", "final", "runtime_checkable"),
        *("dataclass", "dataclasses.dataclass", "enum.unique", "unique"),
    }
)
_PLAIN_BASES = frozenset(
    {
        *(
            "ABC",
            "abc.ABC",
            "Protocol",
            "typing.Protocol",
            "Generic",
            "object",
            "Exception",
            "RuntimeError",
            "ValueError",
        ),
        *(
            "BaseException",
            "TypeError",
            "OSError",
            "KeyError",
            "Enum",
            "enum.Enum",
            "StrEnum",
            "enum.StrEnum",
            "IntEnum",
        ),
        *("enum.IntEnum", "str", "int", "Iterator", "Iterable", "Mapping", "Sequence", "threading.Thread", "Thread"),
    }
)
_ORIGINS = {
    **dict.fromkeys(("dataclass",), "dataclasses"),
    **dict.fromkeys(("contextmanager",), "contextlib"),
    **dict.fromkeys(("cache", "lru_cache", "cached_property"), "functools"),
    **dict.fromkeys(("overload", "override", "final", "runtime_checkable", "Protocol", "Generic"), "typing"),
    **dict.fromkeys(("abstractmethod", "ABC"), "abc"),
    **dict.fromkeys(("Enum", "StrEnum", "IntEnum", "unique"), "enum"),
}


def plain_decorators(node: Definition) -> bool:
    """Only decorators of the standard library that never look at hints (data classes: see `special_hints`)."""
    for decorator in node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(function)
        if text not in _PLAIN_DECORATORS and not text.endswith((".setter", ".deleter")):
            return False
    return True


def plain_bases(node: ast.ClassDef, tree: ast.Module) -> bool:
    """No metaclass, and every ancestor is of the standard library's plain kind or a plain class of this module."""
    bound = module_bindings(tree)
    for base in node.bases:
        text = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
        found = bound.get(text)
        if isinstance(found, ast.ClassDef) and found is not node:
            if not (plain_decorators(found) and plain_bases(found, tree)):
                return False
        elif text not in _PLAIN_BASES or not _genuine(text, found):
            return False
    return not node.keywords


def _genuine(name: str, found: ast.stmt | None) -> bool:
    """A name that comes from where its meaning is known, and not from another module under the same name."""
    if name not in _ORIGINS:
        return not isinstance(found, ast.ImportFrom) or str(found.module).startswith("collections")
    return isinstance(found, ast.ImportFrom) and found.module in {_ORIGINS[name], "typing_extensions"}


def special_hints(pair: Pair) -> set[str]:
    """Words in a hint that change what a data class makes of a field, under every name the module gives them."""
    special = set(_FIELD_KINDS)
    for side in pair.sides:
        for node in ast.walk(side.tree):
            if isinstance(node, ast.alias) and node.asname and node.name.rpartition(".")[2] in special:
                special.add(node.asname)
            if isinstance(node, ast.Assign) and any(word in ast.dump(node.value) for word in _FIELD_KINDS):
                special.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return special


def handed_on(name: str, around: Surroundings) -> bool:
    """Is the class anywhere used as a value that a reader of hints could receive? Doubt is yes.

    Constructing, catching, comparing types, matching and `isinstance` hand nothing on, nor does a union of classes.
    """
    if around.trees is None:
        return True
    names, waiting = set[str](), {name}
    while waiting:
        names |= waiting
        waiting = set()
        for _, tree in around.trees:
            verdict = _uses(tree, names)
            if verdict is None:
                return True
            waiting |= verdict - names
    return False


def _uses(tree: ast.Module, names: set[str]) -> set[str] | None:
    """New names (unions) that stand for one of these classes; None where one escapes."""
    fine: set[int] = set()
    unions: set[str] = set()
    for node in ast.walk(tree):
        fine.update(id(child) for child in _harmless_places(node))
        for hint in _hints(node):
            fine.update(id(inner) for inner in ast.walk(hint))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses" and _reads_fields(node):
            return None
        if isinstance(node, ast.ClassDef) and node.name in names and _passes_itself(node):
            return None
        if isinstance(node, ast.Assign) and _is_union(node.value):
            used = {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
            if used & names:
                fine.update(id(inner) for inner in ast.walk(node.value))
                unions.update(target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.alias) and node.asname and node.name in names:
            return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load) and id(node) not in fine:
            return None
        if isinstance(node, ast.Attribute) and node.attr in names and id(node) not in fine:
            return None
    return unions


def _reads_fields(node: ast.ImportFrom) -> bool:
    return any(alias.name in {"fields", "make_dataclass", "*"} for alias in node.names)


def _harmless_places(node: ast.AST) -> list[ast.expr]:
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


def _hints(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.arg | ast.AnnAssign):
        return [node.annotation] if node.annotation is not None else []
    return [node.returns] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns else []


def _passes_itself(node: ast.ClassDef) -> bool:
    """Does a method hand on its class as `cls` or ask an object for its class?"""
    inside = list(ast.walk(node))
    fine = {id(child) for one in inside for child in _harmless_places(one)}
    return any(
        (isinstance(one, ast.Name) and one.id in {"cls", "type", "__class__"} and id(one) not in fine)
        or (isinstance(one, ast.Attribute) and one.attr == "__class__")
        for one in inside
    )


def _is_union(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return all(isinstance(part, ast.Name) or _is_union(part) for part in (node.left, node.right))
    return False
