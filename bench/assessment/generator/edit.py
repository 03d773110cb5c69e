"""One generated change, and how places in a source are found and replaced without touching anything else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

LEVELS = frozenset({"debug", "info", "warning", "error", "critical", "exception"})


@dataclass(frozen=True, slots=True)
class Edit:
    """What was done, and the source before and after. Mutations that need a reader add it on both sides."""

    kind: str
    base: bytes
    head: bytes


@dataclass(frozen=True, slots=True)
class Source:
    """One real file with its tree, the parent of each node, and the nodes whose text positions can be trusted."""

    text: bytes
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]
    starts: list[int]
    # The text of the other files of its package.
    elsewhere: bytes = b""

    def replace(self, node: ast.AST, new: str) -> bytes:
        """The text with this node written differently."""
        first, last = self.span(node)
        return self.text[:first] + new.encode() + self.text[last:]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """First byte and the byte behind the last."""
        place: ast.expr = node  # type: ignore[assignment]
        assert place.end_lineno is not None
        assert place.end_col_offset is not None
        first = self.starts[place.lineno - 1] + place.col_offset
        return first, self.starts[place.end_lineno - 1] + place.end_col_offset

    def written(self, node: ast.AST) -> str:
        first, last = self.span(node)
        return self.text[first:last].decode()

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, from the inside out."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above


Maker = Callable[[Source, Random], Iterator[Edit]]


def source(text: bytes, elsewhere: bytes = b"") -> Source:
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return Source(text, tree, parents, starts, elsewhere)


def changed(kind: str, of: Source, head: bytes, reader: bytes = b"") -> Iterator[Edit]:
    """The edit, unless the result is the same text. Whether it is Python is asked when it is drawn."""
    if head != of.text:
        yield Edit(kind, of.text + reader, head + reader)


def is_log_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in LEVELS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "logger"
    )


def is_docstring(of: Source, node: ast.AST) -> bool:
    above = of.parents.get(node)
    return isinstance(above, ast.Expr)


def in_hint(of: Source, node: ast.AST) -> bool:
    """Is the node part of a type hint?"""
    child = node
    for above in of.up(node):
        if child in (getattr(above, "annotation", None), getattr(above, "returns", None)):
            return True
        child = above
    return False


def in_text(of: Source, node: ast.AST) -> bool:
    """Inside an f-string, where older interpreters give no usable positions, or in the words of a log message."""
    child = node
    for above in of.up(node):
        if isinstance(above, ast.JoinedStr):
            return True
        if isinstance(above, ast.Call) and is_log_call(above) and above.args and above.args[0] is child:
            return True
        child = above
    return False


def usable(of: Source, wanted: type[ast.AST] | tuple[type[ast.AST], ...]) -> list[ast.AST]:
    """Nodes of a kind that run and can be replaced in place."""
    found = [node for node in ast.walk(of.tree) if isinstance(node, wanted)]
    return [node for node in found if not in_text(of, node) and not in_hint(of, node) and not is_docstring(of, node)]
