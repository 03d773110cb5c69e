"""The same effects in another order: what is waited for, counted, written or given back before or after what."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.facts import LOGGERS
from bot.assessment.evidence.model import Evidence
from bot.assessment.vocabulary import Vocabulary, rank
from bot.config.modules import Question

_PROTOCOL = "the order of calls between coordinator and workers, and what waits for what"
_RULE = "a rule of stages, plans or retries goes by that order"
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXIT = "exit"
_EFFECTS = (ast.Call, *_EXITS, ast.Assign, ast.AugAssign)
Effect = tuple[str, str, int]


def reordered(before: Defined, after: Defined, graph: CallGraph, vocabulary: Vocabulary) -> Iterator[Evidence]:
    """Nothing where an effect is new or gone: that is told by the facts."""
    if after.kind != "function":
        return
    strict = vocabulary.rule(after.name) or bool(after.owner and after.public and vocabulary.actor(after.owner))
    sides = [_settled(_effects(item, strict, vocabulary)) for item in (before, after)]
    old, new = ([text for text, _, _ in side] for side in sides)
    if old == new or sorted(old) != sorted(new):
        return
    moved = [sides[1][place] for place in _moved(old, new) if sides[1][place][0] != _EXIT]
    if not moved:
        return
    judged = _judged(after, [name for _, name, _ in moved], strict, graph, vocabulary)
    if judged is not None:
        questions, why = judged
        names = ", ".join(dict.fromkeys(name for _, name, _ in moved))
        what = f"another order in {after.name}: {names}"
        yield Evidence(after.path, moved[0][2], what, why, graph.frequency(after), questions, 12)


def _judged(
    item: Defined, names: list[str], strict: bool, graph: CallGraph, vocabulary: Vocabulary
) -> tuple[tuple[Question, ...], str] | None:
    rules = [rule for name in names if (rule := vocabulary.call(name)) is not None]
    if any(rule.questions == ("design",) for rule in rules):
        return ("design",), _PROTOCOL
    if strict:
        return ("design",), _RULE
    role = vocabulary.role(item.path)
    if role.questions and rank(graph.frequency(item)) >= rank("shard"):
        return role.questions, f"an effect before or after another, in {role.what}"
    return None


def _effects(item: Defined, strict: bool, vocabulary: Vocabulary) -> list[Effect]:
    """Calls that do something, states that are set, and ways out, in the order of the text.

    A call whose result is used is taken for a computation, unless it is one of the protocol or the order is `strict`.
    """
    found: list[tuple[int, int, Effect]] = []
    discarded = {id(node.value) for node in item.nodes if isinstance(node, ast.Expr)}
    for node in item.nodes:
        if not isinstance(node, _EFFECTS):
            continue
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        if isinstance(node, ast.Call):
            name = callee(node)
            rule = vocabulary.call(name)
            telling = strict or id(node) in discarded or (rule is not None and rule.questions == ("design",))
            if name and telling and name not in LOGGERS and not vocabulary.cheap(name) and not name[0].isupper():
                # An inner call is made before the outer one; ends tell them apart.
                where = (node.end_lineno or line, node.end_col_offset or column)
                found.append((*where, (f"call {name}", name, line)))
        elif isinstance(node, _EXITS):
            found.append((node.end_lineno or line, node.end_col_offset or column, (_EXIT, _EXIT, line)))
        elif isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                held = target.value if isinstance(target, ast.Subscript) else target
                if isinstance(held, ast.Attribute):
                    end = (node.end_lineno or line, node.end_col_offset or column)
                    found.append((*end, (f"state {ast.unparse(held)}", held.attr, line)))
    return [effect for _, _, effect in sorted(found)]


def _settled(effects: list[Effect]) -> list[Effect]:
    """States set one after the other have no order that anybody could see."""
    settled: list[Effect] = []
    run: list[Effect] = []
    for effect in effects:
        if effect[0].startswith("state "):
            run.append(effect)
            continue
        settled += [*sorted(run), effect]
        run = []
    return settled + sorted(run)


def _moved(old: list[str], new: list[str]) -> list[int]:
    """The places in `new` of what is not where it was."""
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [place for tag, _, _, first, last in blocks if tag in ("insert", "replace") for place in range(first, last)]
