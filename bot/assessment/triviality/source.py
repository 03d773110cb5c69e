"""Python sources as trees. `ast` and not libcst: proof needs what the interpreter runs and nothing of how it looks.

`ast` parses exactly the running interpreter's language and drops comments, spacing, quotes and brackets by itself, so
equality of trees needs no rule for them. It is also thirty times faster, which a diff of 10,000 lines needs.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import TypeAlias, TypeVar

from bot.assessment.triviality.grammar import parse_newer

# Everything that parsing hostile text is known to raise; deep nesting raises the last two.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def parse(source: bytes) -> ast.Module:
    """Parse as the interpreter would, coding line included. Raises one of `UNPARSABLE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError:
            if sys.version_info >= (3, 12):
                raise
            return parse_newer(source)


def unreadable(side: str, error: BaseException) -> str:
    """What is said of a side that does not parse: it is broken, or written for a newer Python than this one."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"the {side} does not parse with Python {version}: {type(error).__name__}"


def compiles(source: bytes) -> bool:
    """Is it a whole program? Some of what parses is none: a late `__future__` import, a stray `return`."""
    try:
        tree = parse(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "head", "exec", dont_inherit=True)
    except UNPARSABLE:
        return False
    return True


@lru_cache(maxsize=128)
def parsed(source: bytes) -> ast.Module | None:
    """A tree to read and never to change; None where it does not parse. Kept, because every file of a diff asks."""
    try:
        return parse(source)
    except UNPARSABLE:
        return None


def parsed_or_raise(source: bytes) -> ast.Module:
    """The same. Raises one of `UNPARSABLE`."""
    return parsed(source) or parse(source)


def dump(node: ast.AST) -> str:
    """The tree as text without positions; equal text means an equal program."""
    return ast.dump(node)


def written(tree: ast.Module, text: bytes) -> list[Hashable]:
    """The very lines of each statement and its columns on them: equal ones parse alike, and that is quick to see.

    None where that says nothing: for a statement that a rule wrote, and under an encoding that the file declares.
    """
    lines = text.splitlines(keepends=True)
    if any(b"coding" in line for line in lines[:2]):
        return [None] * len(tree.body)
    found: list[Hashable] = []
    for one in tree.body:
        first = min((decorator.lineno for decorator in getattr(one, "decorator_list", ())), default=None)
        first = first or getattr(one, "lineno", None)
        if first is None:
            found.append(None)
        else:
            found.append((b"".join(lines[first - 1 : one.end_lineno]), one.col_offset, one.end_col_offset))
    return found


def bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements directly below a node."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    # An exception handler or a match case is a node of its own and is met by the walk.


def is_text(node: ast.AST | None) -> bool:
    """A string constant."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def has_docstring(node: ast.AST) -> bool:
    """A definition or module whose first statement the interpreter stores as `__doc__`."""
    if not isinstance(node, ast.Module | Definition) or not node.body:
        return False
    first = node.body[0]
    return isinstance(first, ast.Expr) and is_text(first.value)


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


T = TypeVar("T", bound=ast.AST)


def undocumented(node: T) -> T:
    """The node without any docstring in it. Shares what has none, and changes nothing. An empty body is `pass`."""
    changed: dict[str, list[ast.AST]] = {}
    # Definitions stand in statements alone: no expression needs to be entered.
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if not isinstance(block, list) or not block:
            continue
        documented = name == "body" and has_docstring(node)
        kept = (block[1:] or [ast.Pass()]) if documented else block
        without = [undocumented(one) for one in kept]
        if documented or any(one is not other for one, other in zip(kept, without, strict=True)):
            changed[name] = without
    if not changed:
        return node
    twin = type(node)()
    vars(twin).update({**vars(node), **changed})
    return twin
