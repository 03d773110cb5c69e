"""The definitions of a Python module by qualified name: functions, methods, classes, assigned names.

`ast`, not libcst: the questions are about what runs, positions for the evidence are in the tree, and the parser in C
reads ten thousand lines in a tenth of the time and memory. What only libcst keeps (comments, spaces) is no argument.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bot.assessment.triviality.source import Definition, dump, parse, without_docstrings

MODULE_LEVEL = "module level"
Kind = Literal["function", "class", "constant", "statement"]


@dataclass(frozen=True, eq=False)
class Defined:
    """One definition. `node` of a class is its head alone (bases, decorators): its members stand by themselves.

    `written` are the statements that define it: more than one where a name is defined again.
    """

    path: str
    name: str
    kind: Kind
    node: ast.stmt
    written: tuple[ast.stmt, ...]
    line: int

    @cached_property
    def text(self) -> str:
        """What it does, comparable. Made when asked for: of most of a package nobody asks it."""
        return "".join(map(dump, self.written))

    @property
    def owner(self) -> str:
        """The class around it, or nothing."""
        return self.name.rpartition(".")[0]

    @property
    def tail(self) -> str:
        """Its own name."""
        return self.name.rpartition(".")[2]

    @property
    def public(self) -> bool:
        """Does no part of its name begin with an underscore? `__init__` and the like are as public as their class."""
        dunder = self.tail.startswith("__") and self.tail.endswith("__")
        parts = self.owner.split(".") if dunder else self.name.split(".")
        return not any(part.startswith("_") for part in parts)


def definitions(path: str, source: bytes) -> dict[str, Defined]:
    """By qualified name, in order of appearance. A name defined twice keeps the last node and the text of all.

    Raises one of `trivial.UNPARSABLE`.
    """
    found: dict[str, Defined] = {}
    for item in _members(path, without_docstrings(parse(source)).body, ""):
        before = found.get(item.name)
        if before is not None:
            node = item.node if item.kind != "statement" else _together(before.node, item.node)
            item = Defined(path, item.name, item.kind, node, before.written + item.written, before.line)
        found[item.name] = item
    return found


def _together(first: ast.stmt, second: ast.stmt) -> ast.stmt:
    """Statements outside any definition, as one body."""
    body = [*first.body, second] if isinstance(first, ast.With) and not first.items else [first, second]
    return ast.copy_location(ast.With(items=[], body=body), first)


def _members(path: str, body: list[ast.stmt], prefix: str) -> Iterator[Defined]:
    for node in body:
        # `pass` is also what a body of only a docstring was left with.
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        if isinstance(node, ast.ClassDef):
            head = ast.copy_location(ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list), node)
            yield Defined(path, prefix + node.name, "class", head, (head,), node.lineno)
            yield from _members(path, node.body, f"{prefix}{node.name}.")
        elif isinstance(node, Definition):
            yield Defined(path, prefix + node.name, "function", node, (node,), node.lineno)
        elif names := _assigned(node):
            for name in names:
                yield Defined(path, prefix + name, "constant", node, (node,), node.lineno)
        else:
            yield Defined(path, prefix + MODULE_LEVEL, "statement", node, (node,), node.lineno)


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
