"""What one file says about names, read in one walk and kept by its bytes.

Every rule asks the whole package the same few questions, and nearly every file of it is the same from one question to
the next: so each file is read once, and a question to the package is a look into sets.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Hashable
from typing import TypeVar

import msgspec

from bot.assessment.trees import TEXTS, walk
from bot.assessment.triviality.escapes import (
    MAY_ESCAPE,
    class_of_an_instance,
    computes_exports,
    dict_of_a_class,
    frame_of_instances,
    given_attributes,
    harmless_for_a_class,
)
from bot.assessment.triviality.names import bound_here
from bot.assessment.triviality.places import harmless_places, hints_of, is_union, names_in, passes_itself
from bot.assessment.triviality.source import parsed, written

# Words in a hint that change what a data class makes of a field.
FIELD_KINDS = ("ClassVar", "InitVar", "KW_ONLY", "Annotated", "Final")
_WORD = re.compile(r"\w+")
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr"})
# Calling one of these under any name reaches names that are not written down.
READERS_OF_NAMES = frozenset({"vars", "eval", "exec", "globals", "locals"})
_FIELDS_READ = frozenset({"fields", "make_dataclass", "*"})
# Both sides of the largest diff that GitHub shows, 3,000 files; of many their statements are the same.
MOST_FILES = 8192
MOST_STATEMENTS = 8192

K = TypeVar("K", bound=Hashable)


class ClassFacts(msgspec.Struct, frozen=True):
    """A class, the names of its bases and the words of its fields' hints."""

    name: str
    bases: tuple[str, ...]
    hinted: frozenset[str]


class Facts(msgspec.Struct):
    """Names by the role they have anywhere in one file. Nothing here is changed after the walk."""

    # Every word of every identifier and string.
    words: set[str] = msgspec.field(default_factory=set)
    # How many places bind each name, in any scope: a name bound once means one thing everywhere.
    bound: Counter[str] = msgspec.field(default_factory=Counter)
    # `getattr` and its kin with a name that is not a plain constant.
    guesses: bool = False
    # Names used as values where whoever receives them could look at their hints.
    handed: set[str] = msgspec.field(default_factory=set)
    # The variables among them, and (name, what it is called here) of each import.
    values: set[str] = msgspec.field(default_factory=set)
    called: set[tuple[str, str]] = msgspec.field(default_factory=set)
    # (names given to it, classes in it) of each union of classes that is kept under a name.
    unions: list[tuple[set[str], set[str]]] = msgspec.field(default_factory=list)
    classes: list[ClassFacts] = msgspec.field(default_factory=list)
    # Data class fields are asked for at run time.
    reads_fields: bool = False
    # Names imported under other names, and modules (their last part) that are.
    renamed: set[str] = msgspec.field(default_factory=set)
    # (last part of the module, name) of each import from a module; ("", last part) of each module.
    imported: set[tuple[str, str]] = msgspec.field(default_factory=set)
    # Top-level names of all modules that it imports.
    modules: set[str] = msgspec.field(default_factory=set)
    # (last part of the owner, attribute) of each attribute.
    asked: set[tuple[str, str]] = msgspec.field(default_factory=set)
    # Strings that hold a dot: they may be a path to a definition.
    dotted: set[str] = msgspec.field(default_factory=set)
    # Names that stand for one of `FIELD_KINDS`.
    field_kinds: set[str] = msgspec.field(default_factory=set)
    # Words of what is given other attributes.
    given: set[str] = msgspec.field(default_factory=set)
    # See `escapes`: classes of instances are handed on, what a class holds is read, exports are computed.
    hands_on_classes: bool = False
    reads_class_dicts: bool = False
    computes_exports: bool = False

    def add(self, other: Facts) -> None:
        """Take in what another piece of the same file says."""
        self.bound.update(other.bound)
        self.guesses |= other.guesses
        self.reads_fields |= other.reads_fields
        self.hands_on_classes |= other.hands_on_classes
        self.reads_class_dicts |= other.reads_class_dicts
        self.computes_exports |= other.computes_exports
        self.unions += other.unions
        self.classes += other.classes
        for mine, theirs in (
            (self.words, other.words),
            (self.handed, other.handed),
            (self.renamed, other.renamed),
            (self.dotted, other.dotted),
            (self.modules, other.modules),
            (self.field_kinds, other.field_kinds),
            (self.given, other.given),
        ):
            mine |= theirs
        self.imported |= other.imported
        self.values |= other.values
        self.called |= other.called
        self.asked |= other.asked


def facts_of(source: bytes) -> Facts | None:
    """None where the file does not parse."""
    if source not in _known:
        tree = parsed(source)
        if tree is None:
            return None
        read_facts(tree, source)
    return _known[source]


def read_facts(tree: ast.Module, source: bytes) -> None:
    """Remember the facts of a file while its tree is at hand, before any rule changes it."""
    if source in _known:
        return
    together = Facts()
    for statement, place in zip(tree.body, written(tree, source), strict=True):
        if place is None:
            together.add(_Reader().read(statement))
            continue
        if place not in _statements:
            _remember(_statements, place, _Reader().read(statement), MOST_STATEMENTS)
        together.add(_statements[place])
    _remember(_known, source, together, MOST_FILES)


def _remember(cache: dict[K, Facts], key: K, facts: Facts, most: int) -> None:
    while len(cache) >= most:
        del cache[next(iter(cache))]
    cache[key] = facts


_known: dict[bytes, Facts] = {}
_statements: dict[Hashable, Facts] = {}


class _Reader:
    def __init__(self) -> None:
        self.facts = Facts()
        # Expressions that hand a class on to nobody, by identity.
        self._fine: set[int] = set()
        self._values: list[tuple[str, ast.expr]] = []
        # Where the class of an instance stands, and where it is handed to nobody.
        self._classes: list[ast.AST] = []
        self._shown: set[int] = set()

    def read(self, tree: ast.stmt) -> Facts:
        facts = self.facts
        for node in walk(tree):
            self._words(node)
            facts.bound.update(bound_here(node))
            self._fine.update(id(child) for child in harmless_places(node))
            if isinstance(node, MAY_ESCAPE):
                self._escapes(node)
            for hint in hints_of(node):
                self._fine.update(id(inner) for inner in ast.walk(hint))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._values.append((node.id, node))
            elif isinstance(node, ast.Attribute):
                self._attribute(node)
            elif isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Assign):
                self._assignment(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            elif isinstance(node, ast.ClassDef):
                facts.classes.append(_class_facts(node))
                if passes_itself(node):
                    facts.handed.add(node.name)
        facts.hands_on_classes = not self._fine.union(self._shown).issuperset(map(id, self._classes))
        left = [(name, node) for name, node in self._values if id(node) not in self._fine]
        facts.handed.update(name for name, _ in left)
        facts.guesses |= not _BY_NAME.isdisjoint(facts.handed)
        facts.values.update(name for name, node in left if isinstance(node, ast.Name))
        return facts

    def _escapes(self, node: ast.AST) -> None:
        """What a program gets at without writing its name; asked of the kinds of nodes that may do so."""
        facts = self.facts
        if class_of_an_instance(node):
            self._classes.append(node)
        self._shown.update(id(child) for child in harmless_for_a_class(node))
        facts.reads_class_dicts |= dict_of_a_class(node)
        facts.computes_exports |= computes_exports(node)
        facts.given |= given_attributes(node)

    def _words(self, node: ast.AST) -> None:
        for name in TEXTS[node.__class__]:
            value = getattr(node, name, None)
            for text in value if isinstance(value, list) else (value,):
                if isinstance(text, bytes):
                    self.facts.words.update(_WORD.findall(text.decode("latin-1")))
                if isinstance(text, str):
                    self.facts.words.update((text,) if text.isidentifier() else _WORD.findall(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            self.facts.dotted.add(node.value)

    def _attribute(self, node: ast.Attribute) -> None:
        self._values.append((node.attr, node))
        owner = node.value
        tail = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
        self.facts.asked.add((tail, node.attr))

    def _call(self, node: ast.Call) -> None:
        builtin = isinstance(node.func, ast.Attribute) and node.func.attr in _BY_NAME
        if builtin or (isinstance(node.func, ast.Name) and node.func.id.endswith("attr")):
            self.facts.guesses |= not (len(node.args) > 1 and isinstance(node.args[1], ast.Constant))
        elif any(isinstance(one, ast.Name) and one.id in _BY_NAME for one in node.args):
            self.facts.guesses = True
        self.facts.reads_fields |= frame_of_instances(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FIELDS_READ:
            self.facts.reads_fields |= "dataclass" in ast.unparse(node.func.value)

    def _assignment(self, node: ast.Assign) -> None:
        named = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if is_union(node.value) and len(named) == len(node.targets):
            inside = list(ast.walk(node.value))
            self._fine.update(id(inner) for inner in inside)
            self.facts.unions.append((named, {inner.id for inner in inside if isinstance(inner, ast.Name)}))
        if any(word in part for part in names_in(node.value) for word in FIELD_KINDS):
            self.facts.field_kinds |= named

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            tail = alias.name.rpartition(".")[2]
            if isinstance(node, ast.ImportFrom) or alias.asname:
                self.facts.called.add((tail, alias.asname or tail))
            else:
                # `import a.b.c` gives the whole path into the hands of this file, under the first name.
                self.facts.called.update((step, "") for step in alias.name.split("."))
            if alias.asname:
                self.facts.renamed.add(tail)
                if tail in FIELD_KINDS:
                    self.facts.field_kinds.add(alias.asname)
            if isinstance(node, ast.Import):
                self.facts.imported.add(("", tail))
                self.facts.modules.add(alias.name.partition(".")[0])
            else:
                self.facts.modules.add((node.module or "").partition(".")[0])
                self.facts.imported.add(((node.module or "").rpartition(".")[2], alias.name))
                self.facts.reads_fields |= node.module == "dataclasses" and alias.name in _FIELDS_READ


def _class_facts(node: ast.ClassDef) -> ClassFacts:
    bases = [ast.unparse(one.value if isinstance(one, ast.Subscript) else one) for one in node.bases]
    hints = [one.annotation for one in node.body if isinstance(one, ast.AnnAssign)]
    hinted = {word for hint in hints for text in names_in(hint) for word in _WORD.findall(text)}
    return ClassFacts(node.name, tuple(bases), frozenset(hinted))
