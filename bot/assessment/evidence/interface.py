"""What others see of a definition: public names, parameters, defaults, fields, constants, the methods of actors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bot.assessment.definitions import Defined
from bot.assessment.evidence.model import Evidence
from bot.assessment.vocabulary import Vocabulary
from bot.config.schema import Frequency, Question

_CONSTANT_WEIGHT, _INTERFACE_WEIGHT = 30, 20
_API = "public API that pipelines are written against"
_PROTOCOL = "called from other processes: the actor protocol"
# Their parameters are the language's, not ours.
_CALLED_BY_PYTHON = ("__exit__", "__aexit__", "__eq__", "__lt__", "__getattr__", "__setattr__", "__repr__")
_CACHES = ("lru_cache", "cache", "cached_property")


def altered(before: Defined, after: Defined, vocabulary: Vocabulary) -> Iterator[Evidence]:
    """A definition that both sides have."""
    if before.kind != after.kind:
        yield _evidence(after, f"{after.name} is another kind of thing", _API, ("design",))
    elif isinstance(before.node, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(
        after.node, ast.FunctionDef | ast.AsyncFunctionDef
    ):
        yield from _signature(before, before.node, after, after.node, vocabulary)
    elif after.kind == "class":
        yield from _class(before, after, vocabulary)
    elif after.kind == "constant":
        yield from _constant(before, after, vocabulary)


def appeared(item: Defined, vocabulary: Vocabulary, side: str) -> Iterator[Evidence]:
    """A definition that only one side has; `side` is "new" or "gone"."""
    role = vocabulary.role(item.path)
    if item.kind == "function" and item.public and item.owner and vocabulary.actor(item.owner):
        yield _evidence(item, f"{side} method {item.name}", _PROTOCOL, ("design",))
    elif item.kind in ("function", "class") and item.public and role.api and not item.tail.startswith("__"):
        yield _evidence(item, f"{side} public {item.kind} {item.name}", _API, ("design",))
    elif side == "gone" and item.kind == "function" and item.public and not item.tail.startswith("__"):
        yield _evidence(item, f"{side} public function {item.name}", "others may call it", (*role.questions, "design"))


def _signature(
    before: Defined,
    old: ast.FunctionDef | ast.AsyncFunctionDef,
    after: Defined,
    new: ast.FunctionDef | ast.AsyncFunctionDef,
    vocabulary: Vocabulary,
) -> Iterator[Evidence]:
    was, now = parameters(old.args), parameters(new.args)
    for name, default in now.items():
        if name in was and was[name] != default:
            rule = vocabulary.name(name, text=_is_text(default))
            if rule is not None and not rule.questions:
                continue
            role = vocabulary.role(after.path)
            sized: tuple[Question, ...] = role.questions if _is_number(default) else ()
            questions = rule.questions if rule else sized or (("design",) if after.public else ())
            if questions:
                what = f"default of {name} in {after.name}: {was[name] or 'none'} → {default or 'none'}"
                yield _evidence(after, what, rule.why if rule else _API, questions, _CONSTANT_WEIGHT)
    if was.keys() != now.keys() and after.public and after.tail not in _CALLED_BY_PYTHON:
        changes = [f"+{name}" for name in now if name not in was] + [f"-{name}" for name in was if name not in now]
        why = _PROTOCOL if after.owner and vocabulary.actor(after.owner) else _API
        yield _evidence(after, f"parameters of {after.name}: {', '.join(changes)}", why, ("design",))
    elif list(was) != list(now) and was.keys() == now.keys():
        yield _evidence(after, f"order of parameters of {after.name}", _API, ("design",))
    if type(old) is not type(new):
        yield _evidence(
            after, f"{after.name} became {'' if 'Async' in type(new).__name__ else 'not '}async", _API, ("design",)
        )
    decorators = [{ast.unparse(item) for item in node.decorator_list} for node in (old, new)]
    for decorator in sorted(decorators[0] ^ decorators[1]):
        cached = any(word in decorator for word in _CACHES)
        if cached or after.public:
            asked: tuple[Question, ...] = ("memory", "cpu") if cached else ("design",)
            why = "keeps results alive instead of computing them" if cached else _API
            yield _evidence(after, f"decorator {decorator} of {after.name}", why, asked)


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


def _class(before: Defined, after: Defined, vocabulary: Vocabulary) -> Iterator[Evidence]:
    if before.text != after.text:
        yield _evidence(after, f"bases or decorators of {after.name}", "what its instances are and hold", ("design",))


def _constant(before: Defined, after: Defined, vocabulary: Vocabulary) -> Iterator[Evidence]:
    old, new = value_of(before.node), value_of(after.node)
    if old == new:
        if _is_field(before.node) != _is_field(after.node) and after.owner:
            yield _evidence(
                after, f"{after.name} is no longer the field it was", "changes what the constructor takes", ("design",)
            )
        return
    rule = vocabulary.name(after.tail, text=_is_text(new))
    what = f"{after.tail} {_short(old)} → {_short(new)}"
    role = vocabulary.role(after.path)
    if _errors(old) or _errors(new):
        yield _evidence(after, what, "which errors are retried and which are fatal", ("design",), _CONSTANT_WEIGHT)
    elif rule is not None:
        if rule.questions:
            yield _evidence(after, what, rule.why, rule.questions, _CONSTANT_WEIGHT)
    elif _is_number(new) and role.questions:
        yield _evidence(after, what, f"a number that {role.what} goes by", role.questions, _CONSTANT_WEIGHT)
    elif after.tail == "__all__":
        yield _evidence(after, "__all__ lists other names", _API, ("design",))
    elif _is_text(new) and _is_text(old):
        yield _evidence(after, what, "a text that other code may compare or store", ("design",), _CONSTANT_WEIGHT)


def value_of(node: ast.stmt) -> str:
    """The text of what is assigned."""
    value = getattr(node, "value", None)
    return ast.unparse(value) if isinstance(value, ast.AST) else ""


def _is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign)


def _errors(text: str) -> bool:
    return text.startswith("(") and ("Error" in text or "Exception" in text)


def _is_number(text: str) -> bool:
    return any(char.isdigit() for char in text) and not any(quote in text for quote in "'\"")


def _is_text(text: str) -> bool:
    return text[:1] in ("'", '"')


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def _evidence(
    item: Defined, what: str, why: str, questions: tuple[Question, ...], weight: int = _INTERFACE_WEIGHT
) -> Evidence:
    frequency: Frequency = "planning" if item.kind == "function" else "import"
    return Evidence(item.path, item.line, what, why, frequency, tuple(dict.fromkeys(questions)), weight)
