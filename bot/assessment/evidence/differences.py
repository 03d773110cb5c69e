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
from bot.assessment.evidence.facts import Fact, facts_of
from bot.assessment.trees import children
from bot.assessment.vocabulary import Vocabulary, rank

Side = Literal["added", "removed", "more often", "repeated", "fewer"]


_WHOLE = frozenset(["read_bytes", "write_bytes", "read_text", "write_text"])
_BRANCHES = (ast.If, ast.IfExp, ast.Match)
_NAME = re.compile(r"\w+")
_ATTRIBUTE = re.compile(r"\b_(?:\.\w+)+")


class Difference(msgspec.Struct, frozen=True):
    """One fact and how the sides differ in it. `repeated` and `fewer`: on both sides, but not as many times."""

    side: Side
    fact: Fact


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
    pools = [
        [
            fact
            for item in items
            for fact in facts_of(item, graph.frequency(item), vocabulary)
            # Calls among the changed definitions are plumbing: what they do is in the pool.
            if not (fact.kind == "call" and fact.text in changed)
        ]
        for items, graph in zip((old, new), graphs, strict=True)
    ]
    counts = [Counter(fact.key for fact in pool) for pool in pools]
    # A call in each of two branches is made once.
    paths = [_on_one_path(items) for items in (old, new)]
    # Work that moved into, or out of, a function that both sides have.
    excused_removed = _delegated(new, old, changed, graphs[1], vocabulary)
    excused_added = _delegated(old, new, changed, graphs[0], vocabulary)
    mentioned = [_mentioned(old), _mentioned(new)]
    excused_removed |= {("call", name) for name in mentioned[1]}
    excused_added |= {("call", name) for name in mentioned[0]}
    excused_removed |= {("argument", text) for text in _renamed_values(pools[0], new)}
    excused_added |= {("argument", text) for text in _renamed_values(pools[1], old)}
    for old_key, new_key in (*_renamed_in(pools[0], renamed), *_named_values(pools, graphs)):
        if counts[0][old_key] == counts[1][new_key]:
            excused_removed.add(old_key)
            excused_added.add(new_key)
    excused_added |= _named_before(pools[1], counts, paths)
    excused_removed |= _named_before(pools[0], (counts[1], counts[0]), paths)
    highest: dict[tuple[str, str], int] = {}
    for fact in pools[0]:
        highest[fact.key] = max(highest.get(fact.key, 0), rank(fact.frequency))
    found, seen = [], set()
    for fact in pools[1]:
        if (fact.key, fact.path, fact.owner) in seen:
            continue
        if fact.key not in counts[0]:
            if fact.key not in excused_added:
                found.append(Difference("added", fact))
                seen.add((fact.key, fact.path, fact.owner))
        elif rank(fact.frequency) > highest[fact.key] and fact.key not in excused_added:
            found.append(Difference("more often", fact))
            seen.add((fact.key, fact.path, fact.owner))
        elif fact.kind == "call" and paths[1][fact.text] <= paths[0][fact.text]:
            continue
        elif counts[1][fact.key] > counts[0][fact.key] and len(old) == len(new):
            found.append(Difference("repeated", fact))
            seen.add((fact.key, fact.path, fact.owner))
    for fact in pools[0]:
        if (fact.key, fact.path, fact.owner) in seen:
            continue
        fewer = fact.kind in ("call", "except") and 0 < counts[1][fact.key] < counts[0][fact.key]
        fewer = fewer and (fact.kind != "call" or paths[1][fact.text] < paths[0][fact.text])
        fewer = fewer and fact.key not in excused_removed
        fewer = fewer or _given_less(fact, counts)
        if fewer and len(old) == len(new):
            found.append(Difference("fewer", fact))
            seen.add((fact.key, fact.path, fact.owner))
        elif fact.key not in counts[1] and fact.key not in excused_removed:
            found.append(Difference("removed", fact))
            seen.add((fact.key, fact.path, fact.owner))
    return _unmatched(found)


_Key = tuple[str, str]


def _renamed_in(pool: list[Fact], renamed: Set[tuple[str, str]]) -> Iterator[tuple[_Key, _Key]]:
    """(old, new) keys of facts that speak of definitions which have another name now."""
    names = dict(renamed)
    for fact in pool if names else ():
        text = _NAME.sub(lambda found: names.get(found.group(), found.group()), fact.text)
        if text != fact.text:
            yield fact.key, (fact.kind, text)


def _named_values(pools: Sequence[list[Fact]], graphs: tuple[CallGraph, CallGraph]) -> Iterator[tuple[_Key, _Key]]:
    """(old, new) keys of arguments that one side writes out and the other passes as a constant of that value."""
    for number, graph in enumerate(graphs):
        for fact in pools[number]:
            before, equals, value = fact.text.removesuffix(")").rpartition("=")
            written = graph.values(value) if fact.kind == "argument" and equals else set()
            if len(written) == 1 and (text := next(iter(written))):
                pair = fact.key, ("argument", f"{before}={text})")
                yield pair if number == 0 else (pair[1], pair[0])


_Counts = Sequence[Counter[tuple[str, str]]]


def _given_less(fact: Fact, counts: _Counts) -> bool:
    """As many calls as before, and one of them is no longer given this."""
    call = ("call", fact.text.partition("(")[0])
    return (
        fact.kind == "argument" and 0 < counts[1][fact.key] < counts[0][fact.key] and counts[0][call] == counts[1][call]
    )


def _named_before(pool: list[Fact], counts: _Counts, paths: list[Counter[str]]) -> set[tuple[str, str]]:
    """Results that are gone through at once and had a name on the other side, whose call is made as often there."""
    if counts[0]["hold", "all of _"] <= counts[1]["hold", "all of _"]:
        return set()
    found = set()
    for fact in pool:
        name = callee(fact.about) if isinstance(fact.about, ast.Call) else ""
        if fact.kind == "hold" and name and paths[0][name] == paths[1][name]:
            found.add(fact.key)
    return found


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


def _delegated(
    callers: list[Defined], others: list[Defined], changed: set[str], graph: CallGraph, vocabulary: Vocabulary
) -> set[tuple[str, str]]:
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
