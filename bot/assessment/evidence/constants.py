"""Constants and fields with another value: what they size, time or name, by their own name or by where they go."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.model import Evidence, interface_evidence
from bot.assessment.evidence.uses import use_of
from bot.assessment.trees import walk
from bot.assessment.vocabulary import Vocabulary, rank
from bot.config.modules import NameRule

CONSTANT_WEIGHT = 30
_LONG = 40
_WRAPPERS = ("default_factory", "default")
_API = "public API that pipelines are written against"


def altered_constant(before: Defined, after: Defined, graph: CallGraph, vocabulary: Vocabulary) -> Iterator[Evidence]:
    """A constant or class field that both sides have; `graph` is the head's."""
    old, new = value_of(before.node), value_of(after.node)
    if old == new:
        if _is_field(before.node) != _is_field(after.node) and after.owner:
            what = f"{after.name} is {'now' if _is_field(after.node) else 'no longer'} a field"
            yield interface_evidence(after, what, "changes what the constructor takes", ("design",))
        return
    what = f"{after.tail} {_short(old)} → {_short(new)}"
    if len(old) > _LONG and (changes := _changed_keywords(before.node, after.node)):
        what = f"{after.tail}: " + ", ".join(f"{name} {was} → {now}" for name, was, now in changes[:3])
    role = vocabulary.role(after.path)
    if _errors(old) or _errors(new):
        why = "which errors are retried and which are fatal"
        yield interface_evidence(after, what, why, ("design",), CONSTANT_WEIGHT)
    elif told := _told(before, after, graph, vocabulary):
        place, rule = told
        if rule.questions:
            used = "" if place == after.tail or place in what else f", used as {place}"
            yield interface_evidence(after, what + used, rule.why, rule.questions, CONSTANT_WEIGHT)
    elif is_number(new) and role.questions:
        yield interface_evidence(after, what, f"tunes {role.what}", role.questions, CONSTANT_WEIGHT)
    elif after.tail == "__all__":
        yield interface_evidence(after, "__all__ lists other names", _API, ("design",))
    elif is_text(new) and is_text(old):
        why = "a text that other code may compare or store"
        yield interface_evidence(after, what, why, ("design",), CONSTANT_WEIGHT)


def _told(before: Defined, after: Defined, graph: CallGraph, vocabulary: Vocabulary) -> tuple[str, NameRule] | None:
    """By the keyword its changed part is given to, by the constant's own name, by what it is used as."""
    new = value_of(after.node)
    for keyword, _, _ in _changed_keywords(before.node, after.node):
        if (rule := vocabulary.name(keyword)) is not None:
            return keyword, rule
    if (rule := vocabulary.name(after.tail, text=is_text(new))) is not None:
        return after.tail, rule
    if is_number(new) and (used := use_of(after.tail, graph, vocabulary)):
        return used
    return _built_with(after, graph, vocabulary)


def _built_with(after: Defined, graph: CallGraph, vocabulary: Vocabulary) -> tuple[str, NameRule] | None:
    """An encoder or a lock that is made once costs wherever it is used."""
    for node in after.nodes:
        rule = vocabulary.call(callee(node)) if isinstance(node, ast.Call) else None
        if rule is not None and rule.questions and rank(graph.read(after.tail)) >= rank(rule.least):
            return after.tail, NameRule(words=(after.tail,), questions=rule.questions, why=rule.why)
    return None


def _changed_keywords(before: ast.AST, after: ast.AST) -> list[tuple[str, str, str]]:
    """`ram` where `Resources(cpu=1, ram="1g")` became `Resources(cpu=1, ram="4g")`."""
    sides = [
        {word.arg: ast.unparse(word.value) for word in walk(node) if isinstance(word, ast.keyword) and word.arg}
        for node in (before, after)
    ]
    return [
        (name, sides[0].get(name, "none"), sides[1].get(name, "none"))
        for name in sorted(sides[0].keys() | sides[1].keys())
        if sides[0].get(name) != sides[1].get(name) and name not in _WRAPPERS
    ]


def value_of(node: ast.stmt) -> str:
    """The text of what is assigned."""
    value = getattr(node, "value", None)
    return ast.unparse(value) if isinstance(value, ast.AST) else ""


def _is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign)


def _errors(text: str) -> bool:
    return text.startswith("(") and ("Error" in text or "Exception" in text)


def is_number(text: str) -> bool:
    """A number or a product of numbers."""
    return any(char.isdigit() for char in text) and not any(quote in text for quote in "'\"")


def is_text(text: str) -> bool:
    """A quoted text."""
    return text[:1] in ("'", '"')


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."
