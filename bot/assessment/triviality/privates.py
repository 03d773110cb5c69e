"""New names of private functions and constants that only their own module uses.

A function keeps its name as data (`__name__`), so only one that is called and never handed on may be called otherwise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bot.assessment.triviality.deadcode import in_plain_sight, private_definition
from bot.assessment.triviality.modules import modules_as_values
from bot.assessment.triviality.names import module_bindings
from bot.assessment.triviality.pair import Pair, Side, Surroundings
from bot.assessment.triviality.rule import Rule
from bot.assessment.triviality.source import Definition, Function

_FRAME_READERS = ("co_name", "co_qualname", "inspect.stack", "extract_stack")


def _rename(pair: Pair) -> bool:
    gone, come = (_only_here(side, other) for side, other in (pair.sides, pair.sides[::-1]))
    # One definition for one: which of several became which would be a guess.
    pairs = [(old, new) for old, new in zip(gone, come, strict=False) if type(old[1]) is type(new[1])]
    if not pairs or len(gone) != len(come) or not in_plain_sight(pair.around) or modules_as_values(pair.around):
        return False
    changed = False
    for (old, _), (new, _) in pairs:
        if _ours(old, pair.base, pair.around) and _ours(new, pair.head, pair.around):
            _spell(pair.head, new, old)
            changed = True
    return changed


def _only_here(side: Side, other: Side) -> list[tuple[str, ast.stmt]]:
    """Private definitions, in order, whose names the other side does not bind."""
    bound = module_bindings(other.tree)
    found = [(private_definition(one), one) for one in side.touched]
    return [(name, one) for name, one in found if name and name not in bound]


def _ours(name: str, side: Side, around: Surroundings) -> bool:
    """Is the name bound once, written in this side of this file alone, and a function of this name only ever called?"""
    word = re.compile(rf"\b{name}\b")
    files = [(path, text) for path, text, facts in around.index.read if facts is None or name in facts.words]
    if files != [(around.path, side.text)] or side.bound(name) != 1 or name in around.outside:
        return False
    if _told_by_frames(module_bindings(side.tree)[name], around):
        return False
    called = {id(node.func) for node in ast.walk(side.tree) if isinstance(node, ast.Call)}
    definition = module_bindings(side.tree)[name]
    for node in ast.walk(side.tree):
        if isinstance(node, ast.Name) and node.id == name:
            if isinstance(definition, Function) and id(node) not in called:
                return False
        elif node is not definition and any(word.search(text) for text in _spelled(node)):
            return False
    return True


def _told_by_frames(definition: ast.stmt, around: Surroundings) -> bool:
    """Is its name a part of another's (`f.<locals>.g`), a coroutine's, or read off the frames of callers?"""
    if not isinstance(definition, Function):
        return False
    inner = any(isinstance(one, Definition | ast.Lambda) and one is not definition for one in ast.walk(definition))
    return inner or isinstance(definition, ast.AsyncFunctionDef) or around.mentions(_FRAME_READERS)


def _spelled(node: ast.AST) -> Iterator[str]:
    """What a node spells by itself, in any role."""
    for field in node._fields:
        value = getattr(node, field, None)
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                yield text


def _spell(side: Side, new: str, old: str) -> None:
    for statement in side.tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == new:
                node.id = old
            elif isinstance(node, Function) and node.name == new and node is statement:
                node.name = old


PRIVATE_NAMES = Rule(
    "private names",
    "the module alone writes this name, in no string, and nobody is handed what it names",
    _rename,
)
