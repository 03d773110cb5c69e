"""How often a function runs: known frequencies of some, spread along calls and loops to the rest.

A call inside a loop over records runs once per record, whatever the frequency of the function around it. Names are
resolved by their last part, which is right within one package more often than any type inference of it would be.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from bot.assessment.definitions import Defined, callee
from bot.assessment.reached import Loop
from bot.assessment.vocabulary import Vocabulary, rank
from bot.config.modules import Frequency

# One step up for a loop whose words say nothing.
_INSIDE: dict[Frequency, Frequency] = {"stage": "shard", "shard": "chunk", "chunk": "record"}
# Names so ordinary that a method of that name elsewhere is probably another one.
_ORDINARY = frozenset(
    ["get", "close", "write", "read", "add", "append", "flush", "items", "put", "pop", "update", "join", "submit"]
)


def inside(frequency: Frequency, loop: Loop, vocabulary: Vocabulary) -> Frequency:
    """The frequency of a loop's body."""
    said = vocabulary.loop(loop.over) if loop.over else None
    if said == "import" or frequency in ("import", "record"):
        return frequency
    if frequency == "planning":
        return frequency
    if said is not None:
        return said if rank(said) > rank(frequency) else frequency
    if not isinstance(loop.node, ast.While):
        return _INSIDE.get(frequency, frequency)
    return "chunk" if frequency == "shard" else frequency


def often(item: Defined, frequency: Frequency, vocabulary: Vocabulary) -> list[Frequency]:
    """How often each place of a definition is reached, given how often it runs."""
    found = [frequency]
    for loop in item.reached.loops:
        found.append(inside(found[loop.around], loop, vocabulary))
    return found


def visit(item: Defined, frequency: Frequency, vocabulary: Vocabulary) -> Iterator[tuple[ast.AST, Frequency]]:
    """Every node with how often it is reached, outermost first. What a loop goes over is reached once."""
    places = often(item, frequency, vocabulary)
    return zip(item.reached.nodes, map(places.__getitem__, item.reached.places), strict=True)


# (name, is it an attribute, how often).
Site = tuple[str, bool, Frequency]
# (path, qualified name).
Key = tuple[str, str]


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
        self._sites = sites if sites is not None else {}
        known = [item for found in files.values() for item in found.values()]
        self.functions = [item for item in known if item.kind == "function"]
        self.fields = [item for item in known if item.kind == "constant" and item.owner]
        self._known = known
        for item in self.functions:
            self._by_tail[item.tail].append(item)

    def named(self, tail: str) -> list[Defined]:
        """The functions and methods of that name."""
        return self._by_tail.get(tail, [])

    def frequency(self, item: Defined) -> Frequency:
        """How often the definition's body runs; module level and class bodies run at import."""
        if item.kind != "function":
            return "import"
        return self._among(self._frequencies, item)

    def read(self, name: str) -> Frequency:
        """How often a constant is read, by the most frequent function that names it."""
        return max((self.frequency(item) for item in self.readers(name)), key=rank, default="import")

    def readers(self, name: str) -> list[Defined]:
        """The functions that mention a name."""
        return [item for item in self.functions if item.names(name)]

    def mentions(self, name: str) -> list[Defined]:
        """Every definition of the package that reads a name, as a callback too, class bodies and constants included."""
        return [item for item in self._known if item.tail != name and item.names(name)]

    def values(self, name: str) -> set[str]:
        """The texts that constants of that name stand for."""
        return self._values.get(name, set())

    @cached_property
    def _values(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for item in self._known:
            if item.kind == "constant":
                value = getattr(item.node, "value", None)
                found[item.tail].add(ast.unparse(value) if isinstance(value, ast.Constant) else "")
        return found

    def calls(self, name: str) -> list[ast.Call]:
        """Every call of that name in the package, module level and class bodies included."""
        return [call for item in self._known if item.names(name) for call in item.calls if callee(call) == name]

    @cached_property
    def _frequencies(self) -> dict[Key, Frequency]:
        """Made when the first is asked for: of the base it may be that none is."""
        known = {(item.path, item.name): self._vocabulary.runs(item.name) for item in self.functions}
        found = {key: frequency for key, frequency in known.items() if frequency is not None}
        fixed = frozenset(found)
        waiting = self.functions
        # Frequencies only rise and there are seven: a handful of rounds reaches the end of any chain that matters.
        for _ in range(6):
            risen = {target for item in waiting for target in self._push(item, found, fixed)}
            waiting = [item for item in self.functions if (item.path, item.name) in risen]
            if not waiting:
                break
        return found

    def _among(self, found: dict[Key, Frequency], item: Defined) -> Frequency:
        return found.get((item.path, item.name)) or self._vocabulary.role(item.path).frequency

    def _push(self, item: Defined, found: dict[Key, Frequency], fixed: frozenset[Key]) -> list[Key]:
        """Spread one definition's frequency to what it calls; the keys that rose."""
        risen = []
        for name, method, frequency in self._calls(item, self._among(found, item)):
            for target in self._resolve(item, name, method):
                key = (target.path, target.name)
                if key in fixed or target is item:
                    continue
                if key not in found or rank(frequency) > rank(found[key]):
                    found[key] = frequency
                    risen.append(key)
        return risen

    def _calls(self, item: Defined, frequency: Frequency) -> list[Site]:
        key = (id(item), frequency)
        if key not in self._sites:
            places = often(item, frequency, self._vocabulary)
            self._sites[key] = list(dict.fromkeys((name, method, places[at]) for name, method, at in item.sites))
        return self._sites[key]

    def _resolve(self, caller: Defined, name: str, method: bool) -> list[Defined]:
        found = self._by_tail.get(name, [])
        if method and name in _ORDINARY:
            return [item for item in found if item.path == caller.path and item.owner == caller.owner]
        return [item for item in found if bool(item.owner) == method or not method][:4]
