"""Is everything that makes a class or wraps a function in plain sight? What cannot be read may read docstrings.

A base class can look at its subclasses, a metaclass makes them, a decorator is given the whole function: models whose
prompt is a docstring are built that way. The standard library, the package itself and builtins can be looked into.
"""

from __future__ import annotations

import ast
import builtins
import sys

from bot.assessment.triviality.names import module_bindings
from bot.assessment.triviality.pair import Surroundings
from bot.assessment.triviality.places import passes_itself
from bot.assessment.triviality.source import Definition, parsed

# Modules of the standard library whose classes make help of docstrings.
_SHOWING = frozenset({"cmd", "unittest", "doctest", "pydoc", "xmlrpc", "argparse", "optparse"})
# What is known of others: these make nothing of a docstring by themselves.
_KNOWN = frozenset({"msgspec.Struct", "typing_extensions"})
_OF_PROPERTIES = frozenset({"setter", "getter", "deleter"})
MOST_STEPS = 8


def in_sight(node: Definition, tree: ast.Module, around: Surroundings, steps: int = MOST_STEPS) -> bool:
    """Can everybody who is handed this very definition while it is made be looked into?"""
    for decorator in node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        of_property = isinstance(function, ast.Attribute) and function.attr in _OF_PROPERTIES
        if not of_property and not _known(function, tree, around, steps):
            return False
    if not isinstance(node, ast.ClassDef):
        return True
    made = [*node.bases, *(word.value for word in node.keywords if word.arg == "metaclass")]
    return all(_known(one.value if isinstance(one, ast.Subscript) else one, tree, around, steps) for one in made)


def _known(node: ast.expr, tree: ast.Module, around: Surroundings, steps: int) -> bool:
    text = ast.unparse(node)
    head, _, rest = text.partition(".")
    found = module_bindings(tree).get(head)
    # Type parameters of a newer grammar; see `grammar`.
    if found is None:
        return hasattr(builtins, head) or isinstance(node, ast.Subscript)
    if isinstance(found, ast.Import):
        return text in _KNOWN or any(_of_library(alias.name) for alias in found.names if not alias.asname)
    if isinstance(found, ast.ImportFrom):
        module = str(found.module)
        name = next((alias.name for alias in found.names if head in (alias.name, alias.asname)), head)
        if found.level == 0 and (_of_library(module) or {module, f"{module}.{name}"} & _KNOWN):
            return True
        return not rest and steps > 0 and _of_package(found, name, around, steps - 1)
    if isinstance(found, ast.ClassDef):
        return _plain(found, tree, around, steps)
    return isinstance(found, Definition) and in_sight(found, tree, around, steps - 1)


def _plain(found: ast.ClassDef, tree: ast.Module, around: Surroundings, steps: int) -> bool:
    """A class that hands no subclass on."""
    told = any(isinstance(one, Definition) and one.name == "__init_subclass__" for one in found.body)
    return steps > 0 and not (told and passes_itself(found)) and in_sight(found, tree, around, steps - 1)


def _of_library(module: str) -> bool:
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names and top not in _SHOWING


def _of_package(found: ast.ImportFrom, name: str, around: Surroundings, steps: int) -> bool:
    """Is the name defined in a file of the package, and plain there too?"""
    module = (found.module or "").replace(".", "/")
    ends = (f"/{module}.py", f"/{module}/__init__.py")
    trees = [parsed(text) for path, text in around.files if path.endswith(ends)]
    trees = [tree for tree in trees if tree is not None and name in module_bindings(tree)]
    return bool(trees) and all(tree is not None and _known(ast.Name(name), tree, around, steps) for tree in trees)
