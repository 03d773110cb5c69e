"""Both sides of a change without the code that their defaults leave out.

Work that is put behind a flag which is off is gone for whoever does not know the flag, and work whose flag is turned on
is new: compared as they are by default, both look like what they are.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from bot.assessment.changes import Changed, Side
from bot.assessment.definitions import Defined
from bot.assessment.evidence.expressions import copied, local_names
from bot.assessment.evidence.interface import parameters
from bot.assessment.switches import Known, Switches
from bot.assessment.triviality.source import dump

_Pair = tuple[Defined | None, Defined | None]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_ASKING = (ast.If, ast.IfExp, ast.While)
_LITERALS = {"False": False, "True": True, "None": None}


def by_default(changed: Changed, base: Side, head: Side) -> tuple[Side, Side] | None:
    """Both sides with the changed definitions, and what reads a changed flag beside them, as they are by default. None
    where both sides leave out the same."""
    sides = (base, head)
    switches = [Switches([item for items in side.values() for item in items.values()]) for side in sides]
    found = [{path: dict(items) for path, items in side.items()} for side in sides]
    asleep: tuple[set[str], set[str]] = (set(), set())
    differs = False
    for pair in _pairs(changed, base, head, switches):
        one, other = (_awake(item, pair[1 - number], switches[number]) for number, item in enumerate(pair))
        if one[1] == other[1]:
            continue
        for number, (item, (left, cut)) in enumerate(zip(pair, (one, other), strict=True)):
            if item is not None and left is not None and cut:
                found[number][item.path][item.name] = left
                asleep[number].update(item.identifiers - left.identifiers)
                differs = True
    if not differs:
        return None
    paths = changed.by_path()
    return _without_the_unreached(paths, found[0], asleep[0]), _without_the_unreached(paths, found[1], asleep[1])


def _pairs(changed: Changed, base: Side, head: Side, switches: list[Switches]) -> Iterator[_Pair]:
    yield from (*changed.altered, *changed.moved)
    yield from ((item, None) for item in changed.removed)
    yield from ((None, item) for item in changed.added)
    flags = {(new.path, new.tail) for _, new in changed.altered if new.kind == "constant"}
    altered = {(item.path, item.name) for item in changed.after}
    for path, flag in sorted(flags):
        if switches[0].value(flag) != switches[1].value(flag):
            for name, item in head[path].items():
                if (path, name) not in altered and item.tail != flag and item.names(flag):
                    yield base[path].get(name), item


def _without_the_unreached(paths: Iterable[str], side: Side, asleep: Set[str]) -> Side:
    """Private functions that only sleeping code mentions do not run either."""
    kept = {path: dict(items) for path, items in side.items()}
    waiting = set(asleep)
    while waiting:
        items = [item for path in kept for item in kept[path].values()]
        gone = [
            item
            for path in paths
            for item in kept[path].values()
            if item.kind == "function" and item.tail in waiting and item.tail.startswith("_")
            if not item.tail.endswith("__") and not any(one.names(item.tail) for one in items if one is not item)
        ]
        for item in gone:
            del kept[item.path][item.name]
        waiting = {name for item in gone for name in item.identifiers}
    return kept


def _awake(item: Defined | None, other: Defined | None, switches: Switches) -> tuple[Defined | None, Counter[str]]:
    """The definition without what is left out, and that."""
    cut: Counter[str] = Counter()
    tests = [node.test for node in item.nodes if isinstance(node, _ASKING)] if item and item.kind != "class" else []
    if item is None or not tests:
        return item, cut
    new = _new_parameters(item, other)
    # Which names are locals is asked for only where it matters: of most definitions it does not.
    if all(switches.of(test, new) is None for test in tests):
        return item, cut
    folding = _Folding(switches, dict.fromkeys(local_names(item.nodes)) | new, cut)
    if all(folding.known(test) is None for test in tests):
        return item, cut
    node = folding.visit(copied(item.node))
    before = item.written[:-1] if item.kind == "function" else ()
    return replace(item, node=node, written=(*before, node), spans=(), lines=()), cut


def _new_parameters(item: Defined, other: Defined | None) -> dict[str, Known]:
    """Parameters that only this side has are what their defaults say: who called it knows nothing of them."""
    if other is None or not isinstance(item.node, _Function) or not isinstance(other.node, _Function):
        return {}
    defaults = parameters(item.node.args)
    new = defaults.keys() - parameters(other.node.args).keys()
    return {name: (value,) for name in new if (value := _LITERALS.get(defaults[name], ...)) is not ...}


class _Folding(ast.NodeTransformer):
    """Takes the branch that is taken by default, and what stands behind its end."""

    def __init__(self, switches: Switches, local: Mapping[str, Known], cut: Counter[str]) -> None:
        """`cut` counts what is left out, each with what was asked before it."""
        self._switches = switches
        self._local = local
        self._cut = cut

    def known(self, test: ast.expr) -> bool | None:
        """Is it on or off? `while True` is no switch."""
        value = self._switches.of(test, self._local)
        return None if value is None or (isinstance(test, ast.Constant) and test.value is True) else bool(value[0])

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        on = self.known(node.test)
        if on is None:
            return self.generic_visit(node)
        self._leave_out(node.test, [node.orelse if on else node.body])
        taken: ast.AST = self.visit(node.body if on else node.orelse)
        return taken

    def _leave_out(self, test: ast.expr, nodes: Sequence[ast.AST]) -> None:
        self._cut[" ".join(map(dump, (test, *nodes)))] += 1

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements:
                left = self._left(statements)
                setattr(node, name, left or ([ast.Pass()] if name == "body" else []))
        return super().generic_visit(node)

    def _left(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        left: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            on = self.known(statement.test) if isinstance(statement, ast.If | ast.While) else None
            if on is None or not isinstance(statement, ast.If | ast.While):
                left.append(statement)
            elif isinstance(statement, ast.If):
                self._leave_out(statement.test, statement.orelse if on else statement.body)
                taken = self._left(statement.body if on else statement.orelse)
                left += taken
                if taken and isinstance(taken[-1], _ENDS):
                    self._leave_out(statement.test, statements[number + 1 :])
                    break
            elif on:
                left.append(statement)
            else:
                self._leave_out(statement.test, statement.body)
        return left
