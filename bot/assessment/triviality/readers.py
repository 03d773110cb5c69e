"""Who reads type hints at run time, and how a class may be handed to a reader."""

from __future__ import annotations

import ast

from bot.assessment.triviality.facts import FIELD_KINDS, Facts
from bot.assessment.triviality.names import bound_by, module_bindings
from bot.assessment.triviality.pair import Surroundings
from bot.assessment.triviality.source import Definition, Function

# One of these anywhere in the package may look at any function's or class's hints.
HINT_READERS = (
    *("__annotations__", "get_type_hints", "get_annotations", "__dataclass_fields__", "getfullargspec"),
    *("signature(", "validate_call", "TypeAdapter", "make_dataclass", "__wrapped__", "import signature", "Signature"),
    *("singledispatch", "pandas_udf", "beartype.claw", "install_import_hook"),
)
# These make commands, models or schemas of the functions and classes that they are given: hints and docstrings count.
CALLABLE_READERS = frozenset(
    {
        "typer",
        "click",
        "fire",
        "tyro",
        "draccus",
        "simple_parsing",
        "jsonargparse",
        "fastapi",
        "pydantic",
        "dspy",
        "plum",
    }
    | {"docstring_parser", "langchain", "fastmcp", "cattrs", "hydra", "beartype", "typeguard", "cyclopts", "defopt"}
)
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


def plain_decorators(node: Definition, tree: ast.Module) -> bool:
    """Only decorators of the standard library that never look at hints (data classes: see `special_hints`)."""
    bound = module_bindings(tree)
    for decorator in node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(function)
        if text in (f"{node.name}.setter", f"{node.name}.getter", f"{node.name}.deleter") and _of_property(node, tree):
            continue
        head = text.partition(".")[0]
        if text not in _PLAIN_DECORATORS or not _genuine(head, bound.get(head)):
            return False
    return True


def _of_property(node: Definition, tree: ast.Module) -> bool:
    """Does the class of this method make its name with `property`, and with nothing else?"""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef) and node in owner.body:
            made = next((one for one in owner.body if node.name in bound_by(one)), None)
            return isinstance(made, Function) and any(
                isinstance(one, ast.Name) and one.id == "property" for one in made.decorator_list
            )
    return False


def plain_bases(node: ast.ClassDef, tree: ast.Module) -> bool:
    """No metaclass, and every ancestor is of the standard library's plain kind or a plain class of this module."""
    bound = module_bindings(tree)
    for base in node.bases:
        text = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
        found = bound.get(text)
        if isinstance(found, ast.ClassDef) and found is not node:
            told = any(isinstance(one, Function) and one.name == "__init_subclass__" for one in found.body)
            if told or not (plain_decorators(found, tree) and plain_bases(found, tree)):
                return False
        elif text not in _PLAIN_BASES or not _genuine(text, found):
            return False
    return not node.keywords


def _genuine(name: str, found: ast.stmt | None) -> bool:
    """A name that comes from where its meaning is known, and not from another module under the same name."""
    if name not in _ORIGINS:
        if isinstance(found, ast.Import):
            return all(alias.asname is None for alias in found.names)
        return found is None or (isinstance(found, ast.ImportFrom) and str(found.module).startswith("collections"))
    if not isinstance(found, ast.ImportFrom) or found.module not in {_ORIGINS[name], "typing_extensions"}:
        return False
    return any(alias.name == name and alias.asname in (None, name) for alias in found.names)


def _asks_instances(facts: Facts) -> bool:
    """Are the fields of any instance asked for, or is its class handed on?"""
    return facts.reads_fields or facts.hands_on_classes


def special_hints(around: Surroundings) -> set[str] | None:
    """Words in a hint that change what a data class makes of a field, under every name the package gives them.

    None where a file does not parse.
    """
    return around.index.once("special hints", lambda: _special_hints(around.facts))


def _special_hints(read: list[Facts] | None) -> set[str] | None:
    return None if read is None else set(FIELD_KINDS).union(*(facts.field_kinds for facts in read))


def handed_on(name: str, around: Surroundings) -> bool:
    """Is the class anywhere used as a value that a reader of hints could receive? Doubt is yes.

    Constructing, catching, comparing types, matching and `isinstance` hand nothing on, nor does a union of classes.
    """
    if around.facts is None or around.any_facts(_asks_instances):
        return True
    classes = [one for facts in around.facts for one in facts.classes]
    names, waiting = set[str](), {name}
    while waiting:
        names |= waiting
        if any(names & facts.handed or names & facts.renamed for facts in around.facts):
            return True
        # Whoever reads a class reads the classes of its fields.
        owners = [one for one in classes if one.hinted & names and one.name not in names]
        if any(base.rpartition(".")[2] not in _PLAIN_BASES for one in owners for base in one.bases):
            return True
        unions = [union for facts in around.facts for union in facts.unions]
        waiting = {given for called, inside in unions if inside & names for given in called} - names
        waiting |= {one.name for one in owners}
    return False
