"""Both sides of a change while rules work on them, and what may be known of the files around it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from difflib import SequenceMatcher
from posixpath import dirname

import msgspec

from bot.assessment.package import PackageView
from bot.assessment.triviality.facts import READERS_OF_NAMES, Facts, facts_of
from bot.assessment.triviality.index import Index, stands
from bot.assessment.triviality.source import dump, written


class Side(msgspec.Struct):
    """One side's tree. Rules change `touched`, the top-level statements that the other side does not have."""

    tree: ast.Module
    text: bytes
    touched: list[ast.stmt] = msgspec.field(default_factory=list)
    _kept: dict[int, Hashable] = msgspec.field(default_factory=dict)

    def walk(self) -> Iterator[ast.AST]:
        """Every node of the touched statements."""
        for statement in self.touched:
            # Level by level, looking at what stands below a node only after the rule has seen the node.
            yield from ast.walk(statement)

    def drop(self, statement: ast.stmt) -> None:
        """Remove one top-level statement."""
        self.tree.body = [one for one in self.tree.body if one is not statement]
        self.touched = [one for one in self.touched if one is not statement]

    def bound(self, name: str) -> int:
        """How many places of the file bind this name, in any scope."""
        facts = facts_of(self.text)
        return facts.bound[name] if facts is not None else 0

    def modules(self) -> set[str]:
        """Top-level names of what the file imports, at any place."""
        facts = facts_of(self.text)
        return facts.modules if facts is not None else set()

    def texts(self) -> list[Hashable]:
        """The program as one comparable value for each top-level statement."""
        return [self._kept.get(id(one)) or dump(one) for one in self.tree.body]


class Surroundings(msgspec.Struct, frozen=True):
    """The package around the changed file, with that file in it. Unless `known`, nothing outside it may be assumed."""

    path: str
    index: Index
    known: bool
    # See `PackageView`.
    outside: frozenset[str] = frozenset()

    @property
    def files(self) -> list[tuple[str, bytes]]:
        """Every file of both sides; a file that both sides share comes once."""
        return self.index.files

    @property
    def stem(self) -> str:
        """What the changed module is called."""
        return self.path.rpartition("/")[2].removesuffix(".py")

    def mentions(self, words: Iterable[str]) -> bool:
        """Does any of these stand anywhere in the package, in whatever role?"""
        return self.index.mentions(tuple(words))

    def handed_to(self, modules: frozenset[str]) -> bool:
        """Does a file that imports one of these modules write the name of the changed module?"""
        name = dirname(self.path).rpartition("/")[2] if self.stem == "__init__" else self.stem
        written = re.compile(rf"\b{re.escape(name)}\b".encode())
        return any(written.search(text) for text in self.index.loading(modules))

    @property
    def facts(self) -> list[Facts] | None:
        """Of every file of both sides. None where one file does not parse: it may hold any reader."""
        return self.index.facts

    def where(self, name: str) -> Iterator[tuple[str, ast.Module]]:
        """The trees, not to be changed, of the files that write this name in any role or as a word of a string."""
        return self.index.where(name)

    def any_facts(self, question: Callable[[Facts], object]) -> bool:
        """Is this true of any file? True in doubt, where one does not parse. Each question is asked once."""
        return self.index.once(question, lambda: self.facts is None or any(question(facts) for facts in self.facts))


class Pair(msgspec.Struct, frozen=True):
    base: Side
    head: Side
    around: Surroundings

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.base, self.head

    def equal(self) -> bool:
        return self.base.texts() == self.head.texts()

    def mentions(self, words: Iterable[str]) -> bool:
        """Does any of these words stand in the changed file, on either side?"""
        wanted = tuple(words)
        if any(stands(wanted, side.text) for side in self.sides):
            return True
        # A name in a string of several pieces or with escapes is whole only in the tree.
        facts = [found for side in self.sides if (found := facts_of(side.text))]
        # And `vars(` may be called by another name, or by whom it is handed to.
        called = {word[:-1] for word in wanted if word.endswith("(")} & READERS_OF_NAMES
        return any(not (found.words.isdisjoint(wanted) and found.values.isdisjoint(called)) for found in facts)


def surroundings(path: str, base: bytes, head: bytes, package: PackageView, index: Index) -> Surroundings:
    """The view with this file in it. Known means whole: a tree that lacks the package's own `__init__.py` is a part.

    `index` is of the whole view.
    """
    marker = f"{dirname(path)}/__init__.py"
    if not (path in package.base and path in package.head and marker in package.base and marker in package.head):
        return Surroundings(path, Index({path: base}, {path: head}), False)
    if package.base[path] != base or package.head[path] != head:
        index = Index({**package.base, path: base}, {**package.head, path: head})
    return Surroundings(path, index, True, package.outside)


def drop_written_alike(pair: Pair) -> None:
    """Touched is what is written otherwise on the other side: a quick look, which changes no tree.

    Of what is left there may still be equal statements; what both sides have as often is the same, wherever it stands.
    """
    places = [written(side.tree, side.text) for side in pair.sides]
    for number, side in enumerate(pair.sides):
        there = Counter(places[1 - number])
        for one, place in zip(side.tree.body, places[number], strict=True):
            if place is not None and there[place]:
                there[place] -= 1
            else:
                side.touched.append(one)


def align(pair: Pair) -> None:
    """Find the statements that only one side has; the others are equal already and no rule needs to look at them."""
    places = [written(side.tree, side.text) for side in pair.sides]
    shared = set(places[0]) & set(places[1]) - {None}
    texts: list[list[Hashable]] = [
        [place if place in shared else dump(one) for one, place in zip(side.tree.body, places[number], strict=True)]
        for number, side in enumerate(pair.sides)
    ]
    match = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
    same: tuple[set[int], set[int]] = (set(), set())
    for block in match.get_matching_blocks():
        same[0].update(range(block.a, block.a + block.size))
        same[1].update(range(block.b, block.b + block.size))
    for number, side in enumerate(pair.sides):
        side.touched = [one for at, one in enumerate(side.tree.body) if at not in same[number]]
        side._kept = {id(one): texts[number][at] for at, one in enumerate(side.tree.body) if at in same[number]}
