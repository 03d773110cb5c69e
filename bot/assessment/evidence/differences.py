"""What the definitions of two sides do differently, once moved and extracted work is matched.

The facts of all changed definitions of the pull request are pooled, so that work which moved to a helper, to another
method or to another file meets itself again. What a definition newly delegates to unchanged code is looked up there.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Literal

import msgspec

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.facts import Fact, Key, facts_of
from bot.assessment.evidence.moved import delegated, handed_on, named_before, named_values, renamed_in
from bot.assessment.trees import children
from bot.assessment.vocabulary import Vocabulary, rank

Side = Literal["added", "removed", "more often", "repeated", "fewer"]
_WHOLE = frozenset(["read_bytes", "write_bytes", "read_text", "write_text"])
_BRANCHES = (ast.If, ast.IfExp, ast.Match)
_ATTRIBUTE = re.compile(r"\b_(?:\.\w+)+")


class Difference(msgspec.Struct, frozen=True):
    """One fact and how the sides differ in it. `repeated` and `fewer`: on both sides, but not as many times."""

    side: Side
    fact: Fact


class _Sides(msgspec.Struct, frozen=True):
    """The facts of both sides, base first: in order, by number, and calls as one path through the code makes them.

    `excused` are keys of facts whose work has only moved or got another name. `as_many`: neither side has more
    definitions, so that numbers of facts can be compared.
    """

    facts: tuple[list[Fact], list[Fact]]
    counts: tuple[Counter[Key], Counter[Key]]
    paths: tuple[Counter[str], Counter[str]]
    excused: tuple[set[Key], set[Key]]
    as_many: bool


def differences(
    before: Iterable[Defined],
    after: Iterable[Defined],
    graphs: tuple[CallGraph, CallGraph],
    vocabulary: Vocabulary,
    renamed: Set[tuple[str, str]] = frozenset(),
) -> list[Difference]:
    """In order of appearance; what was added first. `renamed` are definitions that only have another name."""
    old, new = list(before), list(after)
    changed = {item.tail for item in (*old, *new) if item.kind == "function"}
    facts = (_facts(old, graphs[0], changed, vocabulary), _facts(new, graphs[1], changed, vocabulary))
    counts = (Counter(fact.key for fact in facts[0]), Counter(fact.key for fact in facts[1]))
    # A call in each of two branches is made once.
    paths = (_on_one_path(old), _on_one_path(new))
    # Work that moved into, or out of, a function that both sides have.
    removed = delegated(new, old, changed, graphs[1], vocabulary) | handed_on(facts[0], new)
    added = delegated(old, new, changed, graphs[0], vocabulary) | handed_on(facts[1], old)
    for old_key, new_key in (*renamed_in(facts[0], renamed), *named_values(facts, graphs)):
        if counts[0][old_key] == counts[1][new_key]:
            removed.add(old_key)
            added.add(new_key)
    added |= named_before(facts[1], counts, paths)
    removed |= named_before(facts[0], (counts[1], counts[0]), paths)
    sides = _Sides(facts, counts, paths, (removed, added), len(old) == len(new))
    gained = _first_of_each(_gained(sides), set())
    told = {_place(item.fact) for item in gained}
    return _unmatched([*gained, *_first_of_each(_lost(sides), told)])


def _facts(items: list[Defined], graph: CallGraph, changed: set[str], vocabulary: Vocabulary) -> list[Fact]:
    return [
        fact
        for item in items
        for fact in facts_of(item, graph.frequency(item), vocabulary)
        # Calls among the changed definitions are plumbing: what they do is in the pool.
        if not (fact.kind == "call" and fact.text in changed)
    ]


def _gained(sides: _Sides) -> Iterator[Difference]:
    """What the head does that the base does not, or more often."""
    counts, paths, excused = sides.counts, sides.paths, sides.excused[1]
    highest: dict[Key, int] = {}
    for fact in sides.facts[0]:
        highest[fact.key] = max(highest.get(fact.key, 0), rank(fact.frequency))
    for fact in sides.facts[1]:
        if fact.key not in counts[0]:
            if fact.key not in excused:
                yield Difference("added", fact)
        elif rank(fact.frequency) > highest[fact.key] and fact.key not in excused:
            yield Difference("more often", fact)
        elif fact.kind == "call" and paths[1][fact.text] <= paths[0][fact.text]:
            continue
        elif counts[1][fact.key] > counts[0][fact.key] and sides.as_many:
            yield Difference("repeated", fact)


def _lost(sides: _Sides) -> Iterator[Difference]:
    """What the head no longer does, or not as many times."""
    counts, excused = sides.counts, sides.excused[0]
    for fact in sides.facts[0]:
        if sides.as_many and _fewer(fact, sides):
            yield Difference("fewer", fact)
        elif fact.key not in counts[1] and fact.key not in excused:
            yield Difference("removed", fact)


def _fewer(fact: Fact, sides: _Sides) -> bool:
    counts, paths = sides.counts, sides.paths
    if _given_less(fact, counts):
        return True
    if fact.kind not in ("call", "except") or not 0 < counts[1][fact.key] < counts[0][fact.key]:
        return False
    return fact.key not in sides.excused[0] and (fact.kind != "call" or paths[1][fact.text] < paths[0][fact.text])


def _first_of_each(found: Iterable[Difference], told: set[tuple[Key, str, str]]) -> list[Difference]:
    """One difference for each fact of a definition, without those that were told already."""
    first: dict[tuple[Key, str, str], Difference] = {}
    for item in found:
        first.setdefault(_place(item.fact), item)
    return [item for place, item in first.items() if place not in told]


def _place(fact: Fact) -> tuple[Key, str, str]:
    return fact.key, fact.path, fact.owner


def _given_less(fact: Fact, counts: Sequence[Counter[Key]]) -> bool:
    """As many calls as before, and one of them is no longer given this."""
    call = ("call", fact.text.partition("(")[0])
    return (
        fact.kind == "argument" and 0 < counts[1][fact.key] < counts[0][fact.key] and counts[0][call] == counts[1][call]
    )


def _unmatched(found: list[Difference]) -> list[Difference]:
    """Without the pairs that differ only in how a helper is given what it works on: `op.kind == "a"`, `kind == "a"`."""
    ends: list[list[Difference]] = [[], []]
    for item in found:
        if item.side in ("added", "removed"):
            ends[item.side == "added"].append(item)
    # In order of appearance; only those that may be alike are compared.
    alike: dict[tuple[str, str], list[Difference]] = {}
    whole: list[Difference] = []
    order = {id(old): number for number, old in enumerate(ends[0])}
    for old in ends[0]:
        alike.setdefault((old.fact.kind, _bare(old.fact.text)), []).append(old)
        if old.fact.kind == "call" and (old.fact.text in _WHOLE or old.fact.text.startswith("open")):
            whole.append(old)
    gone: set[int] = set()
    for new in ends[1]:
        near = [old for old in alike.get((new.fact.kind, _bare(new.fact.text)), ()) if old.fact.owner != new.fact.owner]
        near += [old for old in whole if _same_file(old.fact, new.fact)]
        partner = min((old for old in near if id(old) not in gone), key=lambda old: order[id(old)], default=None)
        if partner is not None:
            gone |= {id(partner), id(new)}
    return [item for item in found if id(item) not in gone]


def _same_file(old: Fact, new: Fact) -> bool:
    """A small file opened and read or written whole, then by the path's own method, or the other way round."""
    if old.kind != "call" or new.kind != "call" or old.owner != new.owner:
        return False
    return any(one in _WHOLE and other.startswith("open") for one, other in _both(old.text, new.text))


def _both(one: str, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other), (other, one)


def _bare(text: str) -> str:
    return _ATTRIBUTE.sub("_", text)


def _on_one_path(items: Iterable[Defined]) -> Counter[str]:
    """Callee → how often it is called when every branch is taken that calls it most; loops count once."""
    total: Counter[str] = Counter()
    for item in items:
        if any(isinstance(node, _BRANCHES) for node in item.nodes):
            total.update(_path_calls([item.node]))
        else:
            total.update(filter(None, map(callee, item.calls)))
    return total


def _path_calls(nodes: Iterable[ast.AST]) -> Counter[str]:
    found: Counter[str] = Counter()
    waiting = list(nodes)
    for node in waiting:
        if isinstance(node, ast.Call) and callee(node):
            found[callee(node)] += 1
        if isinstance(node, ast.If | ast.IfExp):
            waiting.append(node.test)
            branches = (node.body, node.orelse) if isinstance(node, ast.If) else ([node.body], [node.orelse])
            found.update(_path_calls(branches[0]) | _path_calls(branches[1]))
        elif isinstance(node, ast.Match):
            waiting.append(node.subject)
            most: Counter[str] = Counter()
            for case in node.cases:
                most |= _path_calls(case.body)
            found.update(most)
        else:
            waiting += children(node)
    return found
