"""The same work inside a lock on one side and outside of it on the other."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.expressions import is_lock
from bot.assessment.evidence.facts import LOGGERS
from bot.assessment.evidence.model import Evidence
from bot.assessment.trees import children


def rescoped(before: Defined, after: Defined, graph: CallGraph) -> Iterator[Evidence]:
    """Calls that both sides make equally often, but not equally often under a lock; an extracted helper is not one."""
    if after.kind != "function":
        return
    if not _locks(before) and not _locks(after):
        return
    (held, made, _), (now_held, now_made, lines) = _calls(before), _calls(after)
    if not held and not now_held:
        return
    same = {name for name in made.keys() & now_made.keys() if made[name] == now_made[name]}
    for way, names in (("out of", _more(held, now_held, same)), ("into", _more(now_held, held, same))):
        if names:
            what = f"{', '.join(names[:3])} moved {way} the lock in {after.name}"
            why = "lock contention, and what other threads may see half done"
            yield Evidence(after.path, lines[names[0]], what, why, graph.frequency(after), ("cpu", "design"), 12)


def _more(one: Counter[str], other: Counter[str], same: set[str]) -> list[str]:
    return [name for name in one if name in same and one[name] > other[name]]


def _calls(item: Defined) -> tuple[Counter[str], Counter[str], dict[str, int]]:
    """Calls under a lock, all calls, and a line of each."""
    held: Counter[str] = Counter()
    made: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for node, locked in _walk(item.node, False):
        name = callee(node) if isinstance(node, ast.Call) else ""
        if name and name not in LOGGERS:
            made[name] += 1
            held[name] += locked
            lines.setdefault(name, getattr(node, "lineno", item.line))
    return +held, made, lines


def _locks(item: Defined) -> bool:
    return any(isinstance(node, ast.With | ast.AsyncWith) and _is_locked(node) for node in item.nodes)


def _is_locked(node: ast.With | ast.AsyncWith) -> bool:
    return any(is_lock(entry.context_expr) for entry in node.items)


def _walk(node: ast.AST, locked: bool) -> Iterator[tuple[ast.AST, bool]]:
    yield node, locked
    inner = locked or (isinstance(node, ast.With | ast.AsyncWith) and _is_locked(node))
    for child in children(node):
        yield from _walk(child, inner)
