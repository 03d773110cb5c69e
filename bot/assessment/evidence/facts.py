"""What a definition does, as facts that survive a refactoring.

A fact is a call, a condition, a computation, a raised or caught class, a thing held, with local names taken out:
extracted into a helper, moved to another file or written as an early return, the same work yields the same facts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from bot.assessment.callgraph import often
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.expressions import (
    anonymous,
    either_way,
    identifiers,
    is_constant,
    is_lock,
    is_named_constant,
    is_number,
    is_settings,
    is_text,
    local_names,
    single_assignments,
)
from bot.assessment.trees import walk
from bot.assessment.vocabulary import Vocabulary
from bot.config.modules import Frequency

Kind = Literal["call", "argument", "condition", "compute", "raise", "except", "hold", "sort", "lock", "yield", "state"]
Key = tuple[str, str]
"""A kind and a text."""
_BLOCKING_ARGUMENTS = ("key", "reverse")
LOGGERS = frozenset(["debug", "info", "warning", "error", "exception", "critical", "log"])
_HOLDERS = frozenset(["list", "tuple", "set", "dict", "frozenset"])


class Fact(msgspec.Struct, frozen=True, eq=False):
    """`text` is what is compared. The rest is for the few facts in which the sides differ, and made when asked for."""

    kind: Kind
    text: str
    about: tuple[str, ...] | ast.AST
    line: int
    frequency: Frequency
    # Texts that were read without locals, each with its expression.
    said: tuple[tuple[str, ast.AST], ...]
    item: Defined

    @property
    def path(self) -> str:
        """The file it is in."""
        return self.item.path

    @property
    def owner(self) -> str:
        """The definition it is in."""
        return self.item.name

    @property
    def key(self) -> Key:
        """Equal keys mean equal work."""
        return self.kind, self.text

    @property
    def names(self) -> tuple[str, ...]:
        """Names that may mean something: of an expression its identifiers, and what its locals were computed from."""
        if isinstance(self.about, tuple):
            return self.about
        direct = list(dict.fromkeys(identifiers(self.about)))
        assigned = single_assignments(self.item)
        further = [name for local in direct for name in assigned.get(local, ())]
        return tuple(dict.fromkeys([*direct, *further]))

    @property
    def shown(self) -> str:
        """The text with the names that stand in the source."""
        done, rest = "", self.text
        for nameless, node in self.said:
            before, found, after = rest.partition(nameless)
            if found:
                done, rest = done + before + ast.unparse(node), after
        return done + rest


def facts_of(item: Defined, frequency: Frequency, vocabulary: Vocabulary) -> list[Fact]:
    """Every fact of a definition, given how often it runs. Log messages and error texts yield none."""
    reader = _Reader(local_names(item.nodes))
    found: list[Fact] = []
    places, at = often(item, frequency, vocabulary), item.reached.places
    for number, node in enumerate(item.reached.nodes):
        read = _READERS.get(node.__class__)
        if read is None or id(node) in reader.silent:
            continue
        for kind, text, about in read(reader, node):
            line = getattr(node, "lineno", item.line)
            found.append(Fact(kind, text, about, line, places[at[number]], reader.said(), item))
    return found


_Found = tuple[Kind, str, tuple[str, ...] | ast.AST]


class _Reader:
    def __init__(self, local: frozenset[str]) -> None:
        self._local = local
        # Nodes that say nothing, by identity: parts of log messages and error texts.
        self.silent: set[int] = set()
        self._said: list[tuple[str, ast.AST]] = []

    def said(self) -> tuple[tuple[str, ast.AST], ...]:
        """What was read since the last time."""
        said = tuple(self._said)
        self._said.clear()
        return said

    def _branch(self, node: ast.If | ast.IfExp | ast.While | ast.Assert) -> Iterator[_Found]:
        yield from self._test(node.test)

    def _filters(self, node: ast.comprehension) -> Iterator[_Found]:
        for test in node.ifs:
            yield from self._test(test)

    def _augmented(self, node: ast.AugAssign) -> Iterator[_Found]:
        operator = ast.unparse(ast.BinOp(ast.Name("_"), node.op, ast.Name("_")))[2:-2].strip()
        place = self._text(node.target)
        yield "state", f"{place} {operator}= {self._text(node.value)}", node

    def _caught(self, node: ast.ExceptHandler) -> Iterator[_Found]:
        text = ast.unparse(node.type) if node.type else "everything"
        yield "except", f"except {text}", tuple(identifiers(node.type))

    def _yields(self, node: ast.Yield | ast.YieldFrom) -> Iterator[_Found]:
        yield "yield", "yield from" if isinstance(node, ast.YieldFrom) else "yield", ()

    def _collects(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> Iterator[_Found]:
        yield "hold", f"all of {self._over(node.generators[0].iter)}", node.generators[0].iter

    def _subscript(self, node: ast.Subscript) -> Iterator[_Found]:
        if not isinstance(node.ctx, ast.Load):
            return
        if isinstance(node.slice, ast.BinOp):
            yield "compute", f"at [{self._text(node.slice)}]", node
        elif isinstance(node.slice, ast.Slice) and isinstance(node.slice.upper, ast.Constant):
            # The first few instead of all, or another few.
            yield "compute", f"at [{self._text(node.slice)}]", node

    def _deletes(self, node: ast.Delete) -> Iterator[_Found]:
        yield "call", "del", ("del",)

    def _call(self, node: ast.Call) -> Iterator[_Found]:
        name = callee(node)
        if not name:
            return
        # A local that holds a function says nothing about what is called.
        if isinstance(node.func, ast.Name) and name in self._local:
            name = "_"
        if name in LOGGERS and isinstance(node.func, ast.Attribute):
            for part in walk(node):
                self.silent.add(id(part))
            yield "call", name, (name,)
            return
        if name in _HOLDERS and node.args and not isinstance(node.args[0], ast.List | ast.Tuple | ast.Dict):
            yield "hold", f"all of {self._over(node.args[0])}", node.args[0]
            return
        if name == "join" and len(node.args) == 1 and not is_number(node.args[0]):
            # Of texts or paths, not of threads.
            return
        if name == "sorted" and node.args and is_settings(node.args[0]):
            return
        if name == "sorted" and node.args:
            yield "hold", f"all of {self._over(node.args[0])}", node.args[0]
        yield "call", name, (name,)
        if name in ("sorted", "sort", "merge", "groupby", "nsmallest", "nlargest", "min", "max"):
            order = [
                f"{word.arg}={self._text(word.value)}" for word in node.keywords if word.arg in _BLOCKING_ARGUMENTS
            ]
            yield "sort", f"{name}({', '.join(order)})", (name,)
        for word in node.keywords:
            if word.arg is None:
                yield "argument", f"{name}(**)", (name,)
            elif is_constant(word.value):
                yield "argument", f"{name}({word.arg}={ast.unparse(word.value)})", (word.arg, name)
        for index, value in enumerate(node.args):
            if is_number(value) or is_named_constant(value):
                yield "argument", f"{name}(#{index}={ast.unparse(value)})", (name, *identifiers(value))

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
            yield "condition", asked, test
        elif not isinstance(test, ast.Constant):
            yield "condition", either_way(test, self._text(test)), test

    def _asked(self, test: ast.expr) -> str:
        """`fs.exists(path)` and `StoragePath(path).exists()` ask the same."""
        if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute) or test.keywords:
            return ""
        receiver = test.func.value
        given = [*test.args, *(receiver.args if isinstance(receiver, ast.Call) else [receiver])]
        known = all(isinstance(part, ast.Name) and part.id in self._local for part in given)
        return f"{test.func.attr}()" if known else ""

    def _compute(self, node: ast.BinOp) -> Iterator[_Found]:
        if is_text(node):
            return
        # Operator by operator: an intermediate result may have a name or none.
        flat = ast.BinOp(self._operand(node.left), node.op, self._operand(node.right))
        yield "compute", self._text(flat), node

    def _operand(self, node: ast.expr) -> ast.expr:
        return node if isinstance(node, ast.Constant | ast.Name | ast.Attribute) else ast.Name("_")

    def _raise(self, node: ast.Raise) -> Iterator[_Found]:
        raised = node.exc
        if raised is None:
            return
        if isinstance(raised, ast.Call):
            # The text of a message decides nothing.
            for argument in (*raised.args, *(word.value for word in raised.keywords)):
                for part in walk(argument):
                    if isinstance(part, ast.BinOp | ast.JoinedStr | ast.Constant | ast.Call):
                        self.silent.add(id(part))
            self.silent.add(id(raised))
            raised = raised.func
        if isinstance(raised, ast.Name) and raised.id in self._local:
            return
        yield "raise", f"raise {ast.unparse(raised)}", tuple(identifiers(raised))

    def _with(self, node: ast.With | ast.AsyncWith) -> Iterator[_Found]:
        for entry in node.items:
            text = self._text(entry.context_expr)
            if is_lock(entry.context_expr):
                yield "lock", f"with {text}", entry.context_expr
                for part in (p for child in node.body for p in walk(child)):
                    if isinstance(part, ast.Call) and callee(part):
                        yield "lock", f"{callee(part)} under {text}", (callee(part),)
            elif isinstance(entry.context_expr, ast.Call) and callee(entry.context_expr) == "suppress":
                yield "except", f"except {ast.unparse(entry.context_expr)}", ("suppress",)

    def _gathers(self, node: ast.For | ast.AsyncFor) -> Iterator[_Found]:
        """A loop that appends holds what a comprehension would."""
        for child in node.body:
            call = child.value if isinstance(child, ast.Expr) else None
            if isinstance(call, ast.Call) and callee(call) in ("append", "add", "extend"):
                yield "hold", f"all of {self._over(node.iter)}", node.iter
                return

    def _assign(self, node: ast.Assign | ast.AnnAssign) -> Iterator[_Found]:
        value, targets = node.value, node.targets if isinstance(node, ast.Assign) else [node.target]
        if value is None:
            return
        for target in targets:
            if isinstance(target, ast.Attribute):
                yield "state", f"{self._text(target)} = {self._text(value)}", (target.attr,)
            elif isinstance(target, ast.Subscript):
                yield "state", f"{self._text(target)} = {self._text(value)}", target

    def _text(self, node: ast.AST) -> str:
        text = anonymous(node, self._local)
        self._said.append((text, node))
        return text


_READERS: dict[type[ast.AST], Callable[[_Reader, Any], Iterator[_Found]]] = {
    ast.Call: _Reader._call,
    **dict.fromkeys((ast.If, ast.IfExp, ast.While, ast.Assert), _Reader._branch),
    ast.comprehension: _Reader._filters,
    ast.BinOp: _Reader._compute,
    ast.AugAssign: _Reader._augmented,
    ast.Raise: _Reader._raise,
    ast.ExceptHandler: _Reader._caught,
    **dict.fromkeys((ast.With, ast.AsyncWith), _Reader._with),
    **dict.fromkeys((ast.Yield, ast.YieldFrom), _Reader._yields),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp), _Reader._collects),
    **dict.fromkeys((ast.For, ast.AsyncFor), _Reader._gathers),
    ast.Subscript: _Reader._subscript,
    ast.Delete: _Reader._deletes,
    **dict.fromkeys((ast.Assign, ast.AnnAssign), _Reader._assign),
}
