"""Is a module of the package handed to anybody, who could then guess the names in it?"""

from __future__ import annotations

import ast
from posixpath import dirname

from bot.assessment.triviality.index import Index
from bot.assessment.triviality.pair import Surroundings
from bot.assessment.triviality.places import harmless_places
from bot.assessment.triviality.scopes import Resolver
from bot.assessment.triviality.source import parsed

# Whoever asks for these gets modules without importing them.
_TABLES = frozenset({"modules", "getmodule"})


def modules_as_values(around: Surroundings) -> bool:
    """True in doubt: only `module.name` with a written name is known to reach one name alone."""
    package = dirname(around.path).rpartition("/")[2]
    return around.index.once(("modules as values", package), lambda: _as_values(around.index, package))


def _as_values(index: Index, package: str) -> bool:
    modules = {path.rpartition("/")[2].removesuffix(".py") for path, _ in index.files} | {package}
    for _, text, facts in index.read:
        if facts is None or any(name in _TABLES for _, name in (*facts.asked, *facts.imported)):
            return True
        called = {here for name, here in facts.called if name in modules}
        if "" in called or ("*", "*") in facts.called or _handed(called & facts.values, text):
            return True
    return False


def _handed(names: set[str], text: bytes) -> bool:
    """Is one of these a value anywhere but where a function has a local variable of that name?"""
    tree = parsed(text) if names else None
    for statement in tree.body if tree is not None else ():
        scopes = Resolver().resolve(statement)
        # `fixed` holds what a function declares `global`.
        own = [place for scope in scopes for name in names - scope.fixed for place in scope.places.get(name, ())]
        fine = {id(node) for node, _ in own}
        nodes = list(ast.walk(statement))
        fine.update(id(place) for node in nodes for place in harmless_places(node))
        for node in nodes:
            named = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
            if named and id(node) not in fine:
                return True
    return False
