"""From the files of a diff to the definitions that differ: altered, moved, new or gone, on both sides.

A definition that leaves one file and stands in another, or under another class, is one that moved, not two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from bot.assessment.definitions import Defined, definitions
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.triviality.source import UNPARSABLE, parsed, unreadable

Side = dict[str, dict[str, Defined]]


class Changed(msgspec.Struct, frozen=True):
    """The definitions that differ. `altered` and `moved` are (before, after); a file of moved code has both."""

    altered: tuple[tuple[Defined, Defined], ...]
    moved: tuple[tuple[Defined, Defined], ...]
    added: tuple[Defined, ...]
    removed: tuple[Defined, ...]

    @property
    def before(self) -> list[Defined]:
        """What the base did."""
        return [*(old for old, _ in (*self.altered, *self.moved)), *self.removed]

    @property
    def after(self) -> list[Defined]:
        """What the head does."""
        return [*(new for _, new in (*self.altered, *self.moved)), *self.added]

    def by_path(self) -> dict[str, Changed]:
        """The same, file by file; what moved between two files is in both."""
        kept: dict[str, list[list[Any]]] = {}
        for number, pairs in enumerate((self.altered, self.moved)):
            for pair in pairs:
                for path in {item.path for item in pair}:
                    kept.setdefault(path, [[], [], [], []])[number].append(pair)
        for number, items in enumerate((self.added, self.removed), 2):
            for item in items:
                kept.setdefault(item.path, [[], [], [], []])[number].append(item)
        return {path: Changed(*map(tuple, lists)) for path, lists in kept.items()}


def read_sides(changes: Sequence[FileChange], package: PackageView | None) -> tuple[Side, Side, dict[str, str]]:
    """The definitions of both sides, and what could not be read: path → why. A renamed file has one name."""
    known: dict[tuple[str, bytes], dict[str, Defined]] = {}
    sides: tuple[Side, Side] = ({}, {})
    broken: dict[str, str] = {}
    for change in changes:
        for side, name, source in ((sides[0], "base", change.base), (sides[1], "head", change.head)):
            try:
                side[change.path] = definitions(change.path, source) if source is not None else {}
            except UNPARSABLE as error:
                broken[change.path] = unreadable(name, error)
    touched = {name for change in changes for name in (change.path, change.old_path) if name}
    for side, sources in zip(sides, (package.base, package.head) if package else ({}, {}), strict=True):
        for path, source in sources.items():
            if path in touched:
                continue
            # Most files are the same on both sides: read once.
            if (path, source) not in known:
                try:
                    known[path, source] = definitions(path, source)
                except UNPARSABLE:
                    known[path, source] = {}
            side[path] = known[path, source]
    return *sides, broken


def changed_definitions(paths: Iterable[str], base: Side, head: Side) -> Changed:
    """Compare the named files' definitions; texts are without comments, docstrings and positions."""
    altered, gone, new = [], [], []
    for path in paths:
        before, after = base.get(path, {}), head.get(path, {})
        altered += [
            (item, after[name]) for name, item in before.items() if name in after and not item.same(after[name])
        ]
        gone += [item for name, item in before.items() if name not in after]
        new += [item for name, item in after.items() if name not in before]
    moved = _moved(gone, new)
    left = [{id(pair[number]) for pair in moved} for number in (0, 1)]
    gone = [item for item in gone if id(item) not in left[0]]
    new = [item for item in new if id(item) not in left[1]]
    return Changed(tuple(altered), tuple(moved), tuple(new), tuple(gone))


def _moved(gone: list[Defined], new: list[Defined]) -> list[tuple[Defined, Defined]]:
    """What left one place and stands in another: under its own name, or doing just the same under another."""
    named: dict[tuple[str, str], list[Defined]] = {}
    shaped: dict[tuple[str, str], list[Defined]] = {}
    for item in new:
        named.setdefault((item.kind, item.tail), []).append(item)
    for item in new if gone else ():
        shaped.setdefault((item.kind, _nameless(item)), []).append(item)
    taken: set[int] = set()
    moved = []
    for item in gone:
        near = named.get((item.kind, item.tail), [])
        twin = next((other for other in near if id(other) not in taken), None)
        if twin is None and item.kind != "statement":
            near = shaped.get((item.kind, _nameless(item)), [])
            twin = next((other for other in near if id(other) not in taken), None)
        if twin is not None:
            taken.add(id(twin))
            moved.append((item, twin))
    return moved


def _nameless(item: Defined) -> str:
    return item.text.replace(f"'{item.tail}'", "''")


def imported(source: bytes | None) -> frozenset[str]:
    """The names that a module's own level imports; empty where it does not parse."""
    tree = parsed(source or b"")
    if tree is None:
        return frozenset()
    statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return frozenset(alias.asname or alias.name for node in statements for alias in node.names)
