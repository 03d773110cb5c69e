"""Work that is only elsewhere: in a function that both sides have, behind another name, or handed on by one.

Each answer is a set of keys of facts, or pairs of them, whose coming or going means nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.facts import Fact, Key, facts_of
from bot.assessment.vocabulary import Vocabulary

_NAME = re.compile(r"\w+")


def handed_on(facts: list[Fact], there: list[Defined]) -> set[Key]:
    """What the other side passes by name: functions, and the values of arguments."""
    called = {("call", name) for name in _mentioned(there)}
    return called | {("argument", text) for text in _renamed_values(facts, there)}


def renamed_in(pool: list[Fact], renamed: Set[tuple[str, str]]) -> Iterator[tuple[Key, Key]]:
    """(old, new) keys of facts that speak of definitions which have another name now."""
    names = dict(renamed)
    for fact in pool if names else ():
        text = _NAME.sub(lambda found: names.get(found.group(), found.group()), fact.text)
        if text != fact.text:
            yield fact.key, (fact.kind, text)


def named_values(pools: Sequence[list[Fact]], graphs: tuple[CallGraph, CallGraph]) -> Iterator[tuple[Key, Key]]:
    """(old, new) keys of arguments that one side writes out and the other passes as a constant of that value."""
    for number, graph in enumerate(graphs):
        for fact in pools[number]:
            before, equals, value = fact.text.removesuffix(")").rpartition("=")
            written = graph.values(value) if fact.kind == "argument" and equals else set()
            if len(written) == 1 and (text := next(iter(written))):
                pair = fact.key, ("argument", f"{before}={text})")
                yield pair if number == 0 else (pair[1], pair[0])


def named_before(pool: list[Fact], counts: Sequence[Counter[Key]], paths: Sequence[Counter[str]]) -> set[Key]:
    """Results that are gone through at once and had a name on the other side, whose call is made as often there."""
    if counts[0]["hold", "all of _"] <= counts[1]["hold", "all of _"]:
        return set()
    found = set()
    for fact in pool:
        name = callee(fact.about) if isinstance(fact.about, ast.Call) else ""
        if fact.kind == "hold" and name and paths[0][name] == paths[1][name]:
            found.add(fact.key)
    return found


def _called(item: Defined) -> dict[str, str]:
    """What a definition calls as it is written (`self._file.close`) -> its last part."""
    return {_written(node.func): callee(node) for node in item.calls}


def _written(node: ast.expr) -> str:
    """As `ast.unparse` has it, which is slow where a path of names is all that there is."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        return f"{_written(node.value)}.{node.attr}"
    return ast.unparse(node)


def delegated(
    callers: list[Defined], others: list[Defined], changed: set[str], graph: CallGraph, vocabulary: Vocabulary
) -> set[Key]:
    """The facts of unchanged functions that only one side calls; a method of the same class comes before any other."""
    known: dict[str, set[str]] = {}
    for item in others:
        known.setdefault(item.tail, set()).update(_called(item))
    found = set()
    for caller in callers:
        for written, name in _called(caller).items():
            if written in known.get(caller.tail, ()) or name in changed:
                continue
            ranked = sorted(graph.named(name), key=lambda item: (item.owner != caller.owner, item.path != caller.path))
            for item in ranked[:1]:
                found |= {fact.key for fact in facts_of(item, graph.frequency(item), vocabulary)}
    return found


def _mentioned(items: Iterable[Defined]) -> set[str]:
    """Names that are read: a function held in a local is still the one that is called."""
    return {
        child.id
        for item in items
        for child in item.nodes
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
    }


def _renamed_values(pool: list[Fact], there: list[Defined]) -> set[str]:
    """Arguments that the other side passes by a name: the same call and keyword, and the value still stands in it."""
    values, keywords = set(), set()
    for item in there:
        for node in item.nodes:
            if isinstance(node, ast.Constant):
                values.add(repr(node.value))
            elif isinstance(node, ast.Call):
                keywords |= {
                    (callee(node), word.arg) for word in node.keywords if not isinstance(word.value, ast.Constant)
                }
    found = set()
    for fact in pool:
        name, _, rest = fact.text.partition("(")
        word, equals, value = rest.removesuffix(")").partition("=")
        if fact.kind == "argument" and equals and (name, word) in keywords and value in values:
            found.add(fact.text)
    return found
