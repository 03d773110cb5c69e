"""What a definition does, as facts that survive a refactoring.

A fact is a call, a condition, a computation, a raised or caught class, a thing held, with local names taken out:
extracted into a helper, moved to another file or written as an early return, the same work yields the same facts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

import msgspec

from bot.assessment.callgraph import callee, visit
from bot.assessment.definitions import Defined
from bot.assessment.triviality.source import Definition
from bot.assessment.vocabulary import Vocabulary, words_of
from bot.config.schema import Frequency

Kind = Literal["call", "argument", "condition", "compute", "raise", "except", "hold", "sort", "lock", "yield", "state"]
_BLOCKING_ARGUMENTS = ("key", "reverse")
LOGGERS = frozenset(["debug", "info", "warning", "error", "exception", "critical", "log"])
_HOLDERS = frozenset(["list", "tuple", "set", "dict", "frozenset"])
_SETTINGS = frozenset(["kwargs", "options", "config", "settings", "attributes", "labels", "headers", "env", "params"])
_LOCKS = frozenset(["lock", "locked", "rlock", "mutex", "cond", "condition", "semaphore", "sem"])
_OPPOSITE = {"is not": "is", "not in": "in", "!=": "=="}


class Fact(msgspec.Struct, frozen=True):
    """`text` is what is compared, `shown` the same with its own locals; `names` may mean something."""

    kind: Kind
    text: str
    names: tuple[str, ...]
    line: int
    frequency: Frequency
    path: str
    owner: str
    shown: str

    @property
    def key(self) -> tuple[str, str]:
        """Equal keys mean equal work."""
        return self.kind, self.text


def facts_of(item: Defined, frequency: Frequency, vocabulary: Vocabulary) -> list[Fact]:
    """Every fact of a definition, given how often it runs. Log messages and error texts yield none."""
    reader = _Reader(item, local_names(item.node))
    found: list[Fact] = []
    for node, often in visit(item.node, frequency, vocabulary):
        for kind, text, names in reader.read(node):
            line = getattr(node, "lineno", item.line)
            found.append(Fact(kind, text, names, line, often, item.path, item.name, reader.shown(text)))
    return found


def local_names(node: ast.AST) -> frozenset[str]:
    """Parameters and everything that is assigned inside."""
    found = set()
    for child in ast.walk(node):
        if isinstance(child, ast.arg):
            found.add(child.arg)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            found.add(child.id)
        elif isinstance(child, ast.ExceptHandler) and child.name:
            found.add(child.name)
    return frozenset(found)


_Found = tuple[Kind, str, tuple[str, ...]]


class _Reader:
    def __init__(self, item: Defined, local: frozenset[str]) -> None:
        self._local = local
        self._item = item
        self._silent: set[int] = set()
        self._assigned_once = _single_assignments(item.node)
        self._said: list[tuple[str, str]] = []

    def read(self, node: ast.AST) -> Iterator[_Found]:
        if id(node) in self._silent:
            return
        if isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield from self._test(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from self._test(test)
        elif isinstance(node, ast.BinOp | ast.UnaryOp):
            yield from self._compute(node)
        elif isinstance(node, ast.AugAssign):
            operator = ast.unparse(ast.BinOp(ast.Name("_"), node.op, ast.Name("_")))[2:-2].strip()
            place = self._text(node.target)
            yield "state", f"{place} {operator}= {self._text(node.value)}", self._names(node)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            yield from self._raise(node.exc)
        elif isinstance(node, ast.ExceptHandler):
            text = ast.unparse(node.type) if node.type else "everything"
            yield "except", f"except {text}", tuple(_identifiers(node.type))
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from self._with(node)
        elif isinstance(node, ast.Yield):
            yield "yield", "yield", ()
        elif isinstance(node, ast.YieldFrom):
            yield "yield", "yield from", ()
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
            yield "hold", f"all of {self._over(node.generators[0].iter)}", self._names(node.generators[0].iter)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield from self._gathers(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.BinOp):
            yield "compute", f"at [{self._text(node.slice)}]", self._names(node)
        elif isinstance(node, ast.Delete):
            yield "call", "del", ("del",)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from self._assign(node)

    def _call(self, node: ast.Call) -> Iterator[_Found]:
        name = callee(node)
        if not name:
            return
        # A local that holds a function says nothing about what is called.
        if isinstance(node.func, ast.Name) and name in self._local:
            name = "_"
        if name in LOGGERS and isinstance(node.func, ast.Attribute):
            for part in ast.walk(node):
                self._silent.add(id(part))
            yield "call", name, (name,)
            return
        if name in _HOLDERS and node.args and not isinstance(node.args[0], ast.List | ast.Tuple | ast.Dict):
            yield "hold", f"all of {self._over(node.args[0])}", self._names(node.args[0])
            return
        if name == "join" and len(node.args) == 1 and not _number(node.args[0]):
            # Of texts or paths, not of threads.
            return
        if name == "sorted" and node.args and _settings(node.args[0]):
            return
        if name == "sorted" and node.args:
            yield "hold", f"all of {self._over(node.args[0])}", self._names(node.args[0])
        yield "call", name, (name,)
        if name in ("sorted", "sort", "merge", "groupby", "nsmallest", "nlargest", "min", "max"):
            order = [
                f"{word.arg}={self._text(word.value)}" for word in node.keywords if word.arg in _BLOCKING_ARGUMENTS
            ]
            yield "sort", f"{name}({', '.join(order)})", (name,)
        for word in node.keywords:
            if word.arg is None:
                yield "argument", f"{name}(**)", (name,)
            elif _constant(word.value):
                yield "argument", f"{name}({word.arg}={ast.unparse(word.value)})", (word.arg, name)
        for index, value in enumerate(node.args):
            if _number(value) or _named_constant(value):
                yield "argument", f"{name}(#{index}={ast.unparse(value)})", (name, *_identifiers(value))

    def _over(self, node: ast.expr) -> str:
        if isinstance(node, ast.GeneratorExp):
            node = node.generators[0].iter
        # Counting what is gone through holds nothing of it.
        while isinstance(node, ast.Call) and callee(node) == "enumerate" and node.args:
            node = node.args[0]
        return self._text(node)

    def _test(self, test: ast.expr) -> Iterator[_Found]:
        if isinstance(test, ast.BoolOp):
            for part in test.values:
                yield from self._test(part)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._test(test.operand)
        elif asked := self._asked(test):
            yield "condition", asked, self._names(test)
        elif not isinstance(test, ast.Constant):
            yield "condition", _either_way(test, self._text(test)), self._names(test)

    def _asked(self, test: ast.expr) -> str:
        """`fs.exists(path)` and `StoragePath(path).exists()` ask the same."""
        if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute) or test.keywords:
            return ""
        receiver = test.func.value
        given = [*test.args, *(receiver.args if isinstance(receiver, ast.Call) else [receiver])]
        known = all(isinstance(part, ast.Name) and part.id in self._local for part in given)
        return f"{test.func.attr}()" if known else ""

    def _compute(self, node: ast.BinOp | ast.UnaryOp) -> Iterator[_Found]:
        if isinstance(node, ast.UnaryOp):
            return
        if _is_text(node):
            return
        # Operator by operator: an intermediate result may have a name or none.
        flat = ast.BinOp(self._operand(node.left), node.op, self._operand(node.right))
        yield "compute", self._text(flat), self._names(node)

    def _operand(self, node: ast.expr) -> ast.expr:
        return node if isinstance(node, ast.Constant | ast.Name | ast.Attribute) else ast.Name("_")

    def _raise(self, raised: ast.expr) -> Iterator[_Found]:
        if isinstance(raised, ast.Call):
            # The text of a message decides nothing.
            for argument in (*raised.args, *(word.value for word in raised.keywords)):
                for part in ast.walk(argument):
                    if isinstance(part, ast.BinOp | ast.JoinedStr | ast.Constant | ast.Call):
                        self._silent.add(id(part))
            self._silent.add(id(raised))
            raised = raised.func
        if isinstance(raised, ast.Name) and raised.id in self._local:
            return
        yield "raise", f"raise {ast.unparse(raised)}", tuple(_identifiers(raised))

    def _with(self, node: ast.With | ast.AsyncWith) -> Iterator[_Found]:
        for entry in node.items:
            text = self._text(entry.context_expr)
            if is_lock(entry.context_expr):
                yield "lock", f"with {text}", self._names(entry.context_expr)
                for part in (p for child in node.body for p in ast.walk(child)):
                    if isinstance(part, ast.Call) and callee(part):
                        yield "lock", f"{callee(part)} under {text}", (callee(part),)
            elif isinstance(entry.context_expr, ast.Call) and callee(entry.context_expr) == "suppress":
                yield "except", f"except {ast.unparse(entry.context_expr)}", ("suppress",)

    def _gathers(self, node: ast.For | ast.AsyncFor) -> Iterator[_Found]:
        """A loop that appends holds what a comprehension would."""
        for child in node.body:
            call = child.value if isinstance(child, ast.Expr) else None
            if isinstance(call, ast.Call) and callee(call) in ("append", "add", "extend"):
                yield "hold", f"all of {self._over(node.iter)}", self._names(node.iter)
                return

    def _assign(self, node: ast.Assign | ast.AnnAssign) -> Iterator[_Found]:
        value, targets = node.value, node.targets if isinstance(node, ast.Assign) else [node.target]
        if value is None:
            return
        for target in targets:
            if isinstance(target, ast.Attribute):
                yield "state", f"{self._text(target)} = {self._text(value)}", (target.attr,)
            elif isinstance(target, ast.Subscript):
                yield "state", f"{self._text(target)} = {self._text(value)}", self._names(target)

    def _text(self, node: ast.AST) -> str:
        text = ast.unparse(_Anonymous(self._local).visit(copied(node)))
        self._said.append((text, ast.unparse(node)))
        return text

    def shown(self, text: str) -> str:
        """A text that was just read, with the names that stand in the source."""
        done, rest = "", text
        for anonymous, original in self._said:
            before, found, after = rest.partition(anonymous)
            if found:
                done, rest = done + before + original, after
        self._said.clear()
        return done + rest

    def _names(self, node: ast.AST) -> tuple[str, ...]:
        """Identifiers of an expression, and of what its locals were computed from in this definition."""
        direct = list(dict.fromkeys(_identifiers(node)))
        further = [name for local in direct for name in self._assigned_once.get(local, ())]
        return tuple(dict.fromkeys([*direct, *further]))


class _Anonymous(ast.NodeTransformer):
    """Locals become `_`, calls keep their name, texts go."""

    def __init__(self, local: frozenset[str]) -> None:
        self._local = local

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("_") if node.id in self._local else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("text")

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg("_")


def copied(node: ast.AST) -> ast.AST:
    """A tree of its own, to be changed."""
    twin = type(node)()
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            value = [copied(item) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST):
            value = copied(value)
        setattr(twin, name, value)
    for name in ("lineno", "col_offset"):
        if hasattr(node, name):
            setattr(twin, name, getattr(node, name))
    return twin


def _settings(node: ast.expr) -> bool:
    """Is this a view of keyword arguments or of another handful of settings?"""
    return any(not _SETTINGS.isdisjoint(words_of(name)) for name in _identifiers(node))


def is_lock(node: ast.expr) -> bool:
    """By a word of the name that is entered: `self._lock`, `cond`, `locks[name]`, but not `open(block_size=…)`."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return not _LOCKS.isdisjoint(words_of(name))


def _either_way(test: ast.expr, text: str) -> str:
    """`x is not None` guards what `x is None` leaves early from."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        for opposite, plain in _OPPOSITE.items():
            if f" {opposite} " in text:
                return text.replace(f" {opposite} ", f" {plain} ", 1)
    return text


def _single_assignments(node: ast.AST) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    if not isinstance(node, Definition):
        return found
    for child in ast.walk(node):
        if isinstance(child, ast.Assign) and len(child.targets) == 1 and isinstance(child.targets[0], ast.Name):
            found[child.targets[0].id] = tuple(dict.fromkeys(_identifiers(child.value)))[:6]
    return found


def _identifiers(node: ast.AST | None) -> Iterator[str]:
    for child in ast.walk(node) if node is not None else ():
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def _constant(node: ast.expr) -> bool:
    return _number(node) or _named_constant(node) or isinstance(node, ast.Constant)


def _number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _number(node.operand)
    if isinstance(node, ast.BinOp):
        return _number(node.left) and _number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _named_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.isupper()


def _is_text(node: ast.BinOp) -> bool:
    parts = (node.left, node.right)
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in parts
    )
