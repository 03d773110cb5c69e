"""How often a function runs: known frequencies of some, spread along calls and loops to the rest.

A call inside a loop over records runs once per record, whatever the frequency of the function around it. Names are
resolved by their last part, which is right within one package more often than any type inference of it would be.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

from bot.assessment.definitions import Defined
from bot.assessment.vocabulary import Vocabulary, rank
from bot.config.schema import Frequency

# One step up for a loop whose words say nothing.
_INSIDE: dict[Frequency, Frequency] = {"stage": "shard", "shard": "chunk", "chunk": "record"}
# Names so ordinary that a method of that name elsewhere is probably another one.
_ORDINARY = frozenset(
    ["get", "close", "write", "read", "add", "append", "flush", "items", "put", "pop", "update", "join", "submit"]
)
# Views of a mapping: whether many rows or a handful of names stand in it, its own name says.
_VIEWS = frozenset(["items", "keys", "values"])
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def callee(call: ast.Call) -> str:
    """The last part of what is called; empty for a call of anything without a name."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def inside(frequency: Frequency, loop: ast.AST, vocabulary: Vocabulary) -> Frequency:
    """The frequency of a loop's body."""
    over = _over(loop)
    said = vocabulary.loop(over) if over else None
    if said == "import" or frequency in ("import", "record"):
        return frequency
    if frequency == "planning":
        return frequency
    if said is not None:
        return said if rank(said) > rank(frequency) else frequency
    if isinstance(loop, ast.For | ast.AsyncFor) or not isinstance(loop, ast.While):
        return _INSIDE.get(frequency, frequency)
    return "chunk" if frequency == "shard" else frequency


def _over(loop: ast.AST) -> str:
    if isinstance(loop, ast.For | ast.AsyncFor):
        return " ".join(_names([loop.target, loop.iter]))
    if isinstance(loop, ast.While):
        return " ".join(_names([loop.test]))
    if isinstance(loop, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return " ".join(_names([part for comp in loop.generators for part in (comp.target, comp.iter)]))
    return ""


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for child in ast.walk(node):
            if isinstance(child, ast.Name):
                yield child.id
            elif isinstance(child, ast.Attribute) and child.attr not in _VIEWS:
                yield child.attr


def visit(node: ast.AST, frequency: Frequency, vocabulary: Vocabulary) -> Iterator[tuple[ast.AST, Frequency]]:
    """Every node with how often it is reached, outermost first. What a loop goes over is reached once."""
    yield node, frequency
    within = inside(frequency, node, vocabulary) if isinstance(node, _LOOPS) else frequency
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST):
                continue
            once = name in ("iter", "orelse", "target") or (name == "generators" and index == 0)
            yield from visit(child, frequency if once and isinstance(node, _LOOPS) else within, vocabulary)


# (name, is it an attribute, how often).
Site = tuple[str, bool, Frequency]


class CallGraph:
    """The definitions of one side of a change and how often each runs."""

    def __init__(
        self,
        files: dict[str, dict[str, Defined]],
        vocabulary: Vocabulary,
        sites: dict[tuple[int, Frequency], list[Site]] | None = None,
    ) -> None:
        """`sites` is shared by the graphs of both sides: what a definition calls, by its identity and frequency."""
        self._vocabulary = vocabulary
        self._by_tail: dict[str, list[Defined]] = defaultdict(list)
        self._frequency: dict[tuple[str, str], Frequency] = {}
        self._sites = sites if sites is not None else {}
        known = [item for found in files.values() for item in found.values()]
        self.functions = [item for item in known if item.kind == "function"]
        self.fields = [item for item in known if item.kind == "constant" and item.owner]
        self._known = known
        for item in self.functions:
            self._by_tail[item.tail].append(item)
        self._spread(self.functions)

    def named(self, tail: str) -> list[Defined]:
        """The functions and methods of that name."""
        return self._by_tail.get(tail, [])

    def frequency(self, item: Defined) -> Frequency:
        """How often the definition's body runs; module level and class bodies run at import."""
        if item.kind != "function":
            return "import"
        known = self._frequency.get((item.path, item.name))
        return known or self._vocabulary.role(item.path).frequency

    def read(self, name: str) -> Frequency:
        """How often a constant is read, by the most frequent function that names it."""
        return max((self.frequency(item) for item in self.readers(name)), key=rank, default="import")

    def readers(self, name: str) -> list[Defined]:
        """The functions that mention a name."""
        mark = f"'{name}'"
        return [item for item in self.functions if mark in item.text]

    def mentions(self, name: str) -> list[Defined]:
        """Every definition of the package that reads a name, as a callback too, class bodies and constants included."""
        mark = f"'{name}'"
        return [item for item in self._known if mark in item.text and item.tail != name]

    def calls(self, name: str) -> list[ast.Call]:
        """Every call of that name in the package, module level and class bodies included."""
        mark = f"'{name}'"
        return [
            node
            for item in self._known
            if mark in item.text
            for node in ast.walk(item.node)
            if isinstance(node, ast.Call) and callee(node) == name
        ]

    def _spread(self, functions: list[Defined]) -> None:
        known = {(item.path, item.name): self._vocabulary.runs(item.name) for item in functions}
        self._frequency = {key: frequency for key, frequency in known.items() if frequency is not None}
        fixed = set(self._frequency)
        waiting = functions
        # Frequencies only rise and there are seven: a handful of rounds reaches the end of any chain that matters.
        for _ in range(6):
            risen = {target for item in waiting for target in self._push(item, fixed)}
            waiting = [item for item in functions if (item.path, item.name) in risen]
            if not waiting:
                return

    def _push(self, item: Defined, fixed: set[tuple[str, str]]) -> list[tuple[str, str]]:
        """Spread one definition's frequency to what it calls; the keys that rose."""
        risen = []
        for name, method, frequency in self._calls(item):
            for target in self._resolve(item, name, method):
                key = (target.path, target.name)
                if key in fixed or target is item:
                    continue
                if key not in self._frequency or rank(frequency) > rank(self._frequency[key]):
                    self._frequency[key] = frequency
                    risen.append(key)
        return risen

    def _calls(self, item: Defined) -> list[Site]:
        frequency = self.frequency(item)
        key = (id(item), frequency)
        if key not in self._sites:
            self._sites[key] = list(
                {
                    (callee(node), isinstance(node.func, ast.Attribute), often)
                    for node, often in visit(item.node, frequency, self._vocabulary)
                    if isinstance(node, ast.Call) and callee(node)
                }
            )
        return self._sites[key]

    def _resolve(self, caller: Defined, name: str, method: bool) -> list[Defined]:
        found = self._by_tail.get(name, [])
        if method and name in _ORDINARY:
            return [item for item in found if item.path == caller.path and item.owner == caller.owner]
        return [item for item in found if bool(item.owner) == method or not method][:4]
