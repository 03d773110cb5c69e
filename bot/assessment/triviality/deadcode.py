"""Removed definitions that nothing in the package can reach.

Reaching is: the name in any role or as a word of any string, in any file of either side, save the removed definition
itself. A member of a class is told apart from a namesake only where every use of its class is in plain sight: each
instance is either asked for one attribute at once or kept in a local variable that is only asked for attributes.
"""

from __future__ import annotations

import ast
import re

from bot.assessment.triviality.confined import attributes_asked
from bot.assessment.triviality.facts import READERS_OF_NAMES, Facts
from bot.assessment.triviality.modules import modules_as_values
from bot.assessment.triviality.names import module_bindings, words
from bot.assessment.triviality.pair import Pair, Surroundings
from bot.assessment.triviality.rule import Rule
from bot.assessment.triviality.source import Function, dump

# Whoever reaches names that are not written down; and `__getattr__` answers for names that nothing defines.
_DYNAMIC = (
    *("vars(", "globals(", "attrgetter", "methodcaller", "eval(", "exec(", "__getattr__", "getmembers", "__globals__"),
    *(
        "resolve_name",
        "locate(",
        "f_globals",
        "get_objects",
        "get_referrers",
        "__self__",
        "import_module",
        "__import__",
        "__subclasses__",
        "locals(",
        "dir(",
        "__members__",
        "__getattribute__",
    ),
)
# These reach attributes of whatever object they are given; of a module only where a module is handed to them.
_OF_OBJECTS = ("__dict__",)
_DECORATORS = frozenset({"property", "staticmethod", "classmethod"})
_WORD = re.compile(r"\w+")


def may_hold_dead_code(pair: Pair) -> bool:
    """Has the base lost anything that this rule could speak of?"""
    gone, classes = _lost_here(pair)
    return bool(gone or classes)


def _lost_here(pair: Pair) -> tuple[list[ast.stmt], list[ast.ClassDef]]:
    """Private definitions that are gone, and classes that have lost members."""
    bound = module_bindings(pair.head.tree)
    gone = [one for one in pair.base.touched if (name := private_definition(one)) and name not in bound]
    return gone, [one for one in pair.base.touched if isinstance(one, ast.ClassDef) and _lost(one, bound)]


def _drop_dead(pair: Pair) -> bool:
    around = pair.around
    gone, classes = _lost_here(pair)
    # Only now: the question to the whole package is a long one.
    if not (gone or classes) or not in_plain_sight(around):
        return False
    guessed = around.any_facts(_guesses) or around.mentions(_OF_OBJECTS)
    if guessed and modules_as_values(around):
        return False
    dropped = [_drop_members(one, pair) for one in classes if not guessed]
    for statement in gone:
        if not _written(private_definition(statement) or "", around, statement):
            pair.base.drop(statement)
            dropped.append(True)
    return any(dropped)


def in_plain_sight(around: Surroundings) -> bool:
    """Is every way to reach a name in this package one that can be read?"""
    return around.known and not around.mentions(_DYNAMIC) and not around.any_facts(_hides_names)


def _guesses(facts: Facts) -> bool:
    return facts.guesses


def _hides_names(facts: Facts) -> bool:
    """Is somebody handed a reader of names, or is what the file exports computed?"""
    return facts.computes_exports or not facts.values.isdisjoint(READERS_OF_NAMES)


def _lost(before: ast.ClassDef, bound: dict[str, ast.stmt]) -> list[ast.stmt]:
    """Members of a class that its later self does not have."""
    after = bound.get(before.name)
    if not isinstance(after, ast.ClassDef):
        return []
    left = {name for one in after.body for name in _members(one)}
    return [one for one in before.body if len(_members(one)) == 1 and not left & set(_members(one))]


def private_definition(statement: ast.stmt) -> str | None:
    """The name of a private function without decorators, or of a private constant: nothing runs to define it."""
    name = None
    if isinstance(statement, Function) and not statement.decorator_list and _constant_defaults(statement):
        name = statement.name
    elif (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.value, ast.Constant)
    ):
        target = statement.targets[0]
        name = target.id if isinstance(target, ast.Name) else None
    # `_Class__name` is what `__name` means inside a class.
    return name if name and name.startswith("_") and "__" not in name else None


def _constant_defaults(function: Function) -> bool:
    """Making it runs nothing: neither its defaults nor the hints that are left call anything."""
    defaults = [*function.args.defaults, *(one for one in function.args.kw_defaults if one is not None)]
    outside = [function.args, *([function.returns] if function.returns else [])]
    runs = any(isinstance(one, ast.Call | ast.NamedExpr) for part in outside for one in ast.walk(part))
    return not runs and all(isinstance(one, ast.Constant | ast.Name) for one in defaults)


def _written(name: str, around: Surroundings, removed: ast.stmt) -> bool:
    """Does the name stand anywhere but in the removed definition?"""
    if name in around.outside:
        return True
    for path, tree in around.where(name):
        for statement in tree.body:
            # By its line: earlier rules have taken the docstring and the hints out of `removed`.
            itself = private_definition(statement) == name and statement.lineno == removed.lineno
            if path == around.path and itself:
                continue
            if any(name in _WORD.findall(word) for word in words(statement)):
                return True
    return False


def _drop_members(before: ast.ClassDef, pair: Pair) -> bool:
    """Members that the class has lost. Its other members are compared as ever."""
    bound = module_bindings(pair.head.tree)
    after, lost = bound.get(before.name), _lost(before, bound)
    if not isinstance(after, ast.ClassDef) or _exported(before.name, pair.around):
        return False
    names = {_members(one)[0] for one in lost}
    # Names such as `__len__`, and `_ignore_` of an enum, are asked for by the machinery.
    if any(name.startswith("__") or (name.startswith("_") and name.endswith("_")) for name in names):
        return False
    if names & _read_by_the_body(after):
        return False
    dead: list[ast.stmt] = [one for one in lost if isinstance(one, Function) and _plain_member(one)]
    if _is_enum(before, pair.base.tree):
        dead = _dead_enum_members(before, lost, pair)
    elif (
        before.bases
        or before.keywords
        or before.decorator_list
        or (asked := attributes_asked(before.name, pair.around)) is None
        or asked & names
    ):
        return False
    before.body = [one for one in before.body if one not in dead] or [ast.Pass()]
    return bool(dead)


def _members(statement: ast.stmt) -> list[str]:
    if isinstance(statement, Function):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _read_by_the_body(node: ast.ClassDef) -> set[str]:
    """Names that run while the class is made: its own members are visible there without any dot."""
    running: list[ast.AST] = []
    for one in node.body:
        running += [*one.decorator_list, one.args] if isinstance(one, Function) else [one]
    return {name.id for part in running for name in ast.walk(part) if isinstance(name, ast.Name)}


def _plain_member(function: Function) -> bool:
    decorators = [ast.unparse(one) for one in function.decorator_list]
    return set(decorators) <= _DECORATORS and len(decorators) <= 1 and _constant_defaults(function)


def _exported(name: str, around: Surroundings) -> bool:
    """Named by any `__init__` or in any `__all__`, or one of whatever a star stands for: whoever uses the package may
    use it, and somebody outside of it may do so anyway.
    """
    if name in around.outside or around.any_facts(_imports_a_star):
        return True
    for path, tree in around.where(name):
        everything = path.endswith("__init__.py")
        for node in ast.walk(tree):
            listed = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and "__all__" in set(words(node))
            if (everything or listed) and name in {part for word in words(node) for part in _WORD.findall(word)}:
                return True
    return False


def _imports_a_star(facts: Facts) -> bool:
    return any(name == "*" for _, name in facts.imported)


def _is_enum(node: ast.ClassDef, tree: ast.Module) -> bool:
    bases = [ast.unparse(base) for base in node.bases]
    known = {"enum.Enum": "enum", "enum.StrEnum": "enum", "Enum": "Enum", "StrEnum": "StrEnum"}
    if len(bases) != 1 or bases[0] not in known or node.decorator_list or node.keywords:
        return False
    origin = module_bindings(tree).get(known[bases[0]])
    if isinstance(origin, ast.ImportFrom):
        return origin.module == "enum" and bases[0] in {"Enum", "StrEnum"}
    return isinstance(origin, ast.Import) and any(alias.name == "enum" and not alias.asname for alias in origin.names)


def _dead_enum_members(node: ast.ClassDef, lost: list[ast.stmt], pair: Pair) -> list[ast.stmt]:
    """Members with a value of their own, of an enum that is only ever asked for members by name."""
    values = [one.value for one in node.body if isinstance(one, ast.Assign)]
    texts = [dump(value) for value in values]
    if not all(isinstance(value, ast.Constant) for value in values) or len(set(texts)) != len(texts):
        return []
    if any(isinstance(one, Function) for one in node.body):
        return []
    names = {_members(one)[0] for one in lost if isinstance(one, ast.Assign)}
    asked = attributes_asked(node.name, pair.around, constructs=False)
    if asked is None or asked & names:
        return []
    return [one for one in lost if isinstance(one, ast.Assign)]


DEAD_CODE = Rule(
    "dead code",
    "nothing in the package reaches what was removed: no name, string, export, subclass or dynamic access",
    _drop_dead,
)
