"""The whole analysis of a pull request's Python: evidence for each file, pooled so that moved work meets itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from bot.assessment.callgraph import CallGraph, Site, visit
from bot.assessment.changes import Changed, Side
from bot.assessment.definitions import Defined
from bot.assessment.evidence.differences import differences
from bot.assessment.evidence.interface import altered, appeared
from bot.assessment.evidence.locks import rescoped
from bot.assessment.evidence.meaning import meaning, named
from bot.assessment.evidence.model import Evidence
from bot.assessment.evidence.order import reordered
from bot.assessment.evidence.pointed import Edit, edits_in_place
from bot.assessment.evidence.uses import messages
from bot.assessment.vocabulary import Vocabulary, rank
from bot.config.modules import Frequency, Question


def analyse(changed: Changed, base: Side, head: Side, vocabulary: Vocabulary) -> dict[str, list[Evidence]]:
    """Path → evidence, the weightiest first, one for each line and set of questions."""
    sites: dict[tuple[int, Frequency], list[Site]] = {}
    graphs = (CallGraph(base, vocabulary, sites), CallGraph(head, vocabulary, sites))
    found = [_as_used(item, graphs[1], vocabulary) for item in _interface(changed, graphs[1], vocabulary)]
    renamed = {(old.tail, new.tail) for old, new in changed.moved if old.tail != new.tail}
    for pair in (*changed.altered, *changed.moved):
        found += _pointed(*pair, graphs, vocabulary, renamed)
    found += [item for pair in (*changed.altered, *changed.moved) for item in reordered(*pair, graphs[1], vocabulary)]
    found += [item for pair in (*changed.altered, *changed.moved) for item in rescoped(*pair, graphs[1])]
    functions = [[item for item in side if item.kind != "constant"] for side in (changed.before, changed.after)]
    for difference in differences(functions[0], functions[1], graphs, vocabulary, renamed):
        if (item := meaning(difference, vocabulary)) is not None:
            found.append(item)
    return _sorted(found)


def also_by_default(found: dict[str, list[Evidence]], awake: dict[str, list[Evidence]]) -> dict[str, list[Evidence]]:
    """With what is so only where nobody sets a flag, and said to be."""
    every = [item for items in found.values() for item in items]
    told = {item.what for item in every}
    new = [item for items in awake.values() for item in items if item.what not in told]
    return _sorted(every + [msgspec.structs.replace(item, what=f"{item.what}, by default") for item in new])


def _sorted(found: list[Evidence]) -> dict[str, list[Evidence]]:
    by_path: dict[str, list[Evidence]] = defaultdict(list)
    seen = set()
    for item in sorted(found, key=lambda item: item.order):
        key = (item.path, item.line, item.questions)
        if key not in seen:
            seen.add(key)
            by_path[item.path].append(item)
    return dict(by_path)


def _interface(changed: Changed, graph: CallGraph, vocabulary: Vocabulary) -> Iterator[Evidence]:
    for before, after in (*changed.altered, *changed.moved):
        yield from altered(before, after, graph, vocabulary)
    exchanged = messages(graph, vocabulary)
    for side, items in (("new", changed.added), ("gone", changed.removed)):
        for item in items:
            yield from appeared(item, vocabulary, exchanged, side)


def _as_used(item: Evidence, graph: CallGraph, vocabulary: Vocabulary) -> Evidence:
    """A constant counts as often as the code that reads it."""
    if item.frequency != "import":
        return item
    return msgspec.structs.replace(item, frequency=graph.read(item.what.split(" ", 1)[0]))


def _pointed(
    before: Defined,
    after: Defined,
    graphs: tuple[CallGraph, CallGraph],
    vocabulary: Vocabulary,
    renamed: set[tuple[str, str]],
) -> Iterator[Evidence]:
    if after.kind != "function":
        return
    graph = graphs[1]
    edits = [
        edit
        for edit in edits_in_place(before, after)
        # A definition under another name, and a value that got or lost its name, are what they were.
        if edit.statement and (edit.old, edit.new) not in renamed and not _same_value(edit, graphs)
    ]
    if not edits:
        return
    lines: dict[int, Frequency] = {}
    for node, frequency in visit(after, graph.frequency(after), vocabulary):
        line = getattr(node, "lineno", 0)
        if line not in lines or rank(frequency) > rank(lines[line]):
            lines[line] = frequency
    for edit in edits:
        if item := _edit(edit, after, lines.get(edit.line, graph.frequency(after)), vocabulary):
            yield item


def _same_value(edit: Edit, graphs: tuple[CallGraph, CallGraph]) -> bool:
    """Does one side write by name what the other writes out, and do all constants of that name have that value?"""
    return graphs[1].values(edit.new) == {edit.old} or graphs[0].values(edit.old) == {edit.new}


def _edit(edit: Edit, item: Defined, frequency: Frequency, vocabulary: Vocabulary) -> Evidence | None:
    what = f"{item.name}: {edit.old} → {edit.new} in {edit.statement}"
    role, rule = vocabulary.role(item.path), named(edit.names, vocabulary)
    for text in (edit.old, edit.new):
        if " " in text.strip("'\"") and text[:1] in ("'", '"'):
            return None
    if rule is not None and rule.questions:
        # Another call or name in a rule is another rule, whatever it is called on.
        further: tuple[Question, ...] = ("design",) if vocabulary.rule(item.name) and edit.old.isidentifier() else ()
        questions = tuple(dict.fromkeys((*rule.questions, *further)))
        return Evidence(item.path, edit.line, what, rule.why, frequency, questions, 15)
    if rule is not None:
        return None
    if role.questions and rank(frequency) >= rank("shard"):
        return Evidence(item.path, edit.line, what, f"part of {role.what}", frequency, role.questions, 10)
    if vocabulary.rule(item.name):
        return Evidence(item.path, edit.line, what, "a rule of stages, plans or retries", frequency, ("design",), 10)
    return None
