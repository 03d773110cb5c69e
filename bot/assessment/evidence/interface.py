"""What others see of a definition: public names, parameters, defaults, fields, the methods of actors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.assessment.callgraph import CallGraph
from bot.assessment.definitions import Defined
from bot.assessment.evidence.constants import CONSTANT_WEIGHT, altered_constant, is_number, is_text
from bot.assessment.evidence.model import Evidence, interface_evidence
from bot.assessment.evidence.uses import always_passed, called_in_package, used_inside
from bot.assessment.vocabulary import Vocabulary
from bot.config.modules import Question

_API = "public API that pipelines are written against"
_PROTOCOL = "called from other processes: the actor protocol"
_MESSAGE = "the shape of what coordinator and workers send each other"
# Their parameters are the language's, not ours.
_CALLED_BY_PYTHON = ("__exit__", "__aexit__", "__eq__", "__lt__", "__getattr__", "__setattr__", "__repr__")
_CACHES = ("lru_cache", "cache", "cached_property")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def altered(before: Defined, after: Defined, graph: CallGraph, vocabulary: Vocabulary) -> Iterator[Evidence]:
    """A definition that both sides have; `graph` is the head's."""
    if before.kind != after.kind:
        yield interface_evidence(after, f"{after.name} is now a {after.kind}", _API, ("design",))
    elif isinstance(before.node, _Function) and isinstance(after.node, _Function):
        yield from _defaults(before.node, after, after.node, graph, vocabulary)
        yield from _parameters(before.node, after, after.node, graph, vocabulary)
        yield from _decorators(before.node, after, after.node)
    elif after.kind == "class":
        if _head(before.node) != _head(after.node):
            what = f"bases or decorators of {after.name}"
            yield interface_evidence(after, what, "what its instances are and hold", ("design",))
    elif after.kind == "constant":
        yield from altered_constant(before, after, graph, vocabulary)


def appeared(item: Defined, vocabulary: Vocabulary, messages: frozenset[str], side: str) -> Iterator[Evidence]:
    """A definition that only one side has; `side` is "new" or "gone". `messages` are the classes actors exchange."""
    role = vocabulary.role(item.path)
    if item.kind == "function" and item.public and item.owner and vocabulary.actor(item.owner):
        yield interface_evidence(item, f"{side} method {item.name}", _PROTOCOL, ("design",))
    elif item.kind == "constant" and item.owner and isinstance(item.node, ast.AnnAssign):
        if item.owner in messages:
            yield interface_evidence(item, f"{side} field {item.name}", _MESSAGE, ("design",))
        elif role.api and item.public and "ClassVar" not in item.text:
            yield interface_evidence(item, f"{side} public field {item.name}", _API, ("design",))
    elif item.kind in ("function", "class") and item.public and role.api and not item.tail.startswith("__"):
        yield interface_evidence(item, f"{side} public {item.kind} {item.name}", _API, ("design",))
    elif side == "gone" and item.kind == "function" and item.public and not item.tail.startswith("__"):
        what = f"{side} public function {item.name}"
        yield interface_evidence(item, what, "others may call it", (*role.questions, "design"))


def _defaults(
    old: _Function, after: Defined, new: _Function, graph: CallGraph, vocabulary: Vocabulary
) -> Iterator[Evidence]:
    was, now = parameters(old.args), parameters(new.args)
    role = vocabulary.role(after.path)
    for name, default in now.items():
        # A value that all had to give until now may be left out: whoever does so is in the diff.
        if not was.get(name) or was[name] == default:
            continue
        if not role.api and always_passed(after, name, graph):
            continue
        rule = vocabulary.name(name, text=is_text(default))
        if rule is None and (used := used_inside(name, after, graph, vocabulary)):
            rule = used[1]
        if rule is not None and not rule.questions:
            continue
        sized: tuple[Question, ...] = role.questions if is_number(default) else ()
        questions = rule.questions if rule else sized or (("design",) if after.public else ())
        if questions:
            what = f"default of {name} in {after.name}: {was[name]} → {default or 'none'}"
            yield interface_evidence(after, what, rule.why if rule else _API, questions, CONSTANT_WEIGHT)


def _parameters(
    old: _Function, after: Defined, new: _Function, graph: CallGraph, vocabulary: Vocabulary
) -> Iterator[Evidence]:
    was, now = parameters(old.args), parameters(new.args)
    protocol = bool(after.owner) and vocabulary.actor(after.owner)
    api = vocabulary.role(after.path).api
    why = _PROTOCOL if protocol else _API if api else "called from outside its module"
    if was.keys() != now.keys() and after.public and after.tail not in _CALLED_BY_PYTHON:
        gone = [name for name in was if name not in now]
        required = [name for name in now if name not in was and not now[name] and not name.startswith("*")]
        # Inside the package the callers are in the diff, or they still fit.
        if protocol or api or ((gone or required) and not called_in_package(after, graph)):
            changes = [f"+{name}" for name in now if name not in was] + [f"-{name}" for name in gone]
            yield interface_evidence(after, f"parameters of {after.name}: {', '.join(changes)}", why, ("design",))
    elif list(was) != list(now) and was.keys() == now.keys():
        yield interface_evidence(after, f"order of parameters of {after.name}", why, ("design",))
    if type(old) is not type(new):
        became = f"{after.name} became {'' if isinstance(new, ast.AsyncFunctionDef) else 'not '}async"
        yield interface_evidence(after, became, why, ("design",))


def _decorators(old: _Function, after: Defined, new: _Function) -> Iterator[Evidence]:
    sides = [set(_decorated(node)) for node in (old, new)]
    for decorator in sorted(sides[0] ^ sides[1]):
        cached = any(word in decorator for word in _CACHES)
        if cached or after.public:
            asked: tuple[Question, ...] = ("memory", "cpu") if cached else ("design",)
            why = "keeps results alive instead of computing them" if cached else _API
            yield interface_evidence(after, f"decorator {decorator} of {after.name}", why, asked)


def _head(node: ast.stmt) -> list[str]:
    """Bases, keywords and decorators of a class."""
    if not isinstance(node, ast.ClassDef):
        return []
    return [ast.unparse(part) for part in (*node.bases, *node.keywords)] + _decorated(node)


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[str]:
    """Without the type parameters that reading a newer grammar leaves among the decorators: they are for checkers."""
    texts = [ast.unparse(item) for item in node.decorator_list]
    return [text for text in texts if not text.startswith("type parameters[")]


def parameters(arguments: ast.arguments) -> dict[str, str]:
    """Name → text of the default, in order."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [*zip(plain, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    found = {arg.arg: ast.unparse(default) if default is not None else "" for arg, default in pairs}
    for star, arg in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if arg is not None:
            found[star + arg.arg] = ""
    return found
