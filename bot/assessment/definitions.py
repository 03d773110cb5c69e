"""The definitions of a Python module by qualified name: functions, methods, classes, assigned names.

`ast`, not libcst: the questions are about what runs, positions for the evidence are in the tree, and the parser in C
reads ten thousand lines in a tenth of the time and memory. What only libcst keeps (comments, spaces) is no argument.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from bot.assessment.reached import Reached, reached
from bot.assessment.trees import all_same, texts_in, walk
from bot.assessment.triviality.source import Definition, dump, has_docstring, parsed_or_raise, undocumented

MODULE_LEVEL = "module level"
Kind = Literal["function", "class", "constant", "statement"]


def callee(call: ast.Call) -> str:
    """The last part of what is called; empty for a call of anything without a name."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


# (first line, last line, column on the first, column on the last) of a statement's text.
Span = tuple[int, int, int, int]


class Defined(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One definition. `node` of a class is its head alone (bases, decorators): its members stand by themselves.

    `written` are the statements that define it: more than one where a name is defined again; `spans` is where they
    stand in `lines`, the file's text. What is made of them is made when asked for: of most of a package nobody asks.
    """

    path: str
    name: str
    kind: Kind
    node: ast.stmt
    written: tuple[ast.stmt, ...]
    line: int
    spans: tuple[Span, ...] = ()
    lines: Sequence[bytes] = ()

    @cached_property
    def text(self) -> str:
        """What it does, comparable."""
        return "".join(map(dump, self.written))

    @cached_property
    def source(self) -> tuple[tuple[bytes, int, int], ...]:
        """The lines it stands on; equal ones mean the same, others may too. Empty where that cannot be told."""
        if not self.lines:
            return ()
        lines = self.lines
        return tuple((b"".join(lines[first - 1 : last]), column, end) for first, last, column, end in self.spans)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Its tree, level by level."""
        return walk(self.node)

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Every call in it."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def reached(self) -> Reached:
        """Its tree in the order of the text, and in which loops each node stands."""
        return reached(self.node)

    @cached_property
    def sites(self) -> list[tuple[str, bool, int]]:
        """(name, is it an attribute, place) of each call that is reached and has a name."""
        pairs = zip(self.reached.nodes, self.reached.places, strict=True)
        calls = [(node, place) for node, place in pairs if isinstance(node, ast.Call)]
        return [(name, isinstance(node.func, ast.Attribute), at) for node, at in calls if (name := callee(node))]

    @cached_property
    def identifiers(self) -> set[str]:
        """Every identifier in it, in every role, and every whole string."""
        return texts_in(node for statement in self.written for node in walk(statement))

    def names(self, name: str) -> bool:
        """Does this name stand in it, in any role, or as a whole string?"""
        # Looking at the bytes is quick, and mostly the end of it; a letter beyond ASCII may be written in many ways.
        sources = self.source
        plain = sources and all(text.isascii() for text, *_ in sources)
        if plain and not any(name.encode() in text for text, *_ in sources):
            return False
        return name in self.identifiers

    def same(self, other: Defined) -> bool:
        """Do both do the same?"""
        if self.source and self.source == other.source:
            return True
        return all_same([*self.written], [*other.written])

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

    Raises one of `source.UNPARSABLE`.
    """
    tree = parsed_or_raise(source)
    lines = source.splitlines(keepends=True)
    # Under an encoding that the file declares, equal bytes of two files may mean different texts.
    known = () if any(b"coding" in line for line in lines[:2]) else lines
    found: dict[str, Defined] = {}
    for item in _members(path, tree.body[1:] if has_docstring(tree) else tree.body, "", known):
        before = found.get(item.name)
        if before is not None:
            node = item.node if item.kind != "statement" else _together(before.node, item.node)
            written, spans = before.written + item.written, before.spans + item.spans
            item = Defined(path, item.name, item.kind, node, written, before.line, spans, known)
        found[item.name] = item
    return found


def _together(first: ast.stmt, second: ast.stmt) -> ast.stmt:
    """Statements outside any definition, as one body."""
    body = [*first.body, second] if isinstance(first, ast.With) and not first.items else [first, second]
    return ast.copy_location(ast.With(items=[], body=body), first)


def _members(path: str, body: list[ast.stmt], prefix: str, lines: Sequence[bytes]) -> Iterator[Defined]:
    for documented in body:
        # `pass` is also what a body of only a docstring was left with.
        if isinstance(documented, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        span, node = (_span(documented),), undocumented(documented)
        if isinstance(node, ast.ClassDef):
            head = ast.copy_location(ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list), node)
            yield Defined(path, prefix + node.name, "class", head, (head,), node.lineno, span, lines)
            yield from _members(path, node.body, f"{prefix}{node.name}.", lines)
        elif isinstance(node, Definition):
            yield Defined(path, prefix + node.name, "function", node, (node,), node.lineno, span, lines)
        elif names := _assigned(node):
            for name in names:
                yield Defined(path, prefix + name, "constant", node, (node,), node.lineno, span, lines)
        else:
            yield Defined(path, prefix + MODULE_LEVEL, "statement", node, (node,), node.lineno, span, lines)


def _span(node: ast.stmt) -> Span:
    """Of a class only its head, where its body has lines of its own."""
    first = _first_line(node)
    if isinstance(node, ast.ClassDef) and (inside := _first_line(node.body[0])) > node.lineno:
        return first, inside - 1, node.col_offset, 0
    return first, node.end_lineno or first, node.col_offset, node.end_col_offset or 0


def _first_line(node: ast.stmt) -> int:
    """Decorators stand above their definition."""
    above = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(one.lineno for one in above)])


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
