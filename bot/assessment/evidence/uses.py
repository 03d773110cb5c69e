"""What a value is for, told by where it goes: a constant says little, the parameter it is passed to says what it sizes.

Also who passes a parameter: a default that every caller overrides has no effect.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.facts import LOGGERS
from bot.assessment.trees import children, walk
from bot.assessment.vocabulary import Vocabulary
from bot.config.modules import NameRule

# What a value is passed on through, without becoming anything else.
_THROUGH = (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.BoolOp, ast.Starred, ast.Tuple, ast.List, ast.Dict, ast.Subscript)
_OWN = ("self", "cls")


def use_of(name: str, graph: CallGraph, vocabulary: Vocabulary) -> tuple[str, NameRule] | None:
    """What a constant of the package is used as: the nearest name around a use that stands for something."""
    silent = None
    for reader in graph.readers(name):
        for place in _places(reader, name, graph):
            rule = vocabulary.name(place)
            if rule is not None and rule.questions:
                return place, rule
            silent = silent or ((place, rule) if rule is not None else None)
    return silent


def used_inside(parameter: str, item: Defined, graph: CallGraph, vocabulary: Vocabulary) -> tuple[str, NameRule] | None:
    """The same for a parameter, inside its function."""
    for place in _places(item, parameter, graph):
        rule = vocabulary.name(place)
        if rule is not None and place != parameter:
            return place, rule
    return None


def _places(reader: Defined, name: str, graph: CallGraph) -> Iterator[str]:
    above = {child: parent for parent in reader.nodes for child in children(parent)}
    for node in reader.nodes:
        named = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if named == name and isinstance(getattr(node, "ctx", None), ast.Load):
            yield from _upwards(node, above, reader, graph)


def _upwards(node: ast.AST, above: dict[ast.AST, ast.AST], reader: Defined, graph: CallGraph) -> Iterator[str]:
    """Names around one use, the nearest first, up to its statement."""
    child = node
    while (parent := above.get(child)) is not None:
        if isinstance(parent, ast.keyword):
            yield parent.arg or ""
        elif isinstance(parent, ast.Call) and child in parent.args:
            if callee(parent) in LOGGERS:
                yield "log"
            yield from _parameter(parent, parent.args.index(child), graph)
            if callee(parent) not in ("int", "float", "max", "min", "round", "abs"):
                return
        elif isinstance(parent, ast.Compare | ast.BinOp):
            yield from (name for other in children(parent) if other is not child for name in _names(other))
        elif isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            yield from (name for target in targets for name in _names(target))
            return
        elif isinstance(parent, ast.Return):
            yield reader.tail
            return
        elif not isinstance(parent, _THROUGH) and isinstance(parent, ast.stmt):
            return
        child = parent


def _parameter(call: ast.Call, index: int, graph: CallGraph) -> Iterator[str]:
    """The name of the parameter that takes a positional argument."""
    for item in graph.named(callee(call))[:1]:
        if isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef):
            found = [arg.arg for arg in (*item.node.args.posonlyargs, *item.node.args.args) if arg.arg not in _OWN]
            yield from found[index : index + 1]


def _names(node: ast.AST) -> Iterator[str]:
    for child in walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def called_in_package(item: Defined, graph: CallGraph) -> bool:
    """Does the package itself call the function or build the class, or hand it on?"""
    return bool(graph.mentions(_called_as(item)))


def always_passed(item: Defined, parameter: str, graph: CallGraph) -> bool:
    """Is there a caller in the package, and does every one give this parameter a value?"""
    calls = graph.calls(_called_as(item))
    if not calls or not isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = item.node.args
    plain = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args) if arg.arg not in _OWN]
    return all(_passes(call, parameter, plain) for call in calls)


def _called_as(item: Defined) -> str:
    return item.owner.rpartition(".")[2] if item.tail == "__init__" else item.tail


def _passes(call: ast.Call, parameter: str, plain: list[str]) -> bool:
    if any(word.arg == parameter for word in call.keywords):
        return True
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    return parameter in plain[: len(call.args)]


def messages(graph: CallGraph, vocabulary: Vocabulary) -> frozenset[str]:
    """The classes whose instances actors exchange: named in signatures of their methods, or held by such a class."""
    found: set[str] = set()
    waiting = {
        name
        for item in graph.functions
        if item.public and item.owner and vocabulary.actor(item.owner)
        for name in _annotated(item.node)
    }
    while waiting:
        found |= waiting
        waiting = {name for held in graph.fields if held.owner in waiting for name in _annotated(held.node)} - found
    return frozenset(found)


def _annotated(node: ast.stmt) -> Iterator[str]:
    """The identifiers of a node's annotations."""
    annotations: list[ast.expr | None] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        annotations = [arg.annotation for arg in (*node.args.args, *node.args.kwonlyargs)] + [node.returns]
    elif isinstance(node, ast.AnnAssign):
        annotations = [node.annotation]
    for annotation in annotations:
        yield from _names(annotation) if annotation is not None else ()
