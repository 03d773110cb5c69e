"""Type hints that nothing reads at run time.

Under `from __future__ import annotations` a hint is never evaluated: it is text beside the function, class or module.
Such text matters only to a reader. Readers are: a decorator (single dispatch, validation), a class machinery (pydantic,
NamedTuple, TypedDict, data classes looking for ClassVar), and code that asks for hints or is handed the class.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from bot.assessment.triviality.names import module_bindings
from bot.assessment.triviality.pair import Pair, Side
from bot.assessment.triviality.places import hints_of
from bot.assessment.triviality.readers import (
    CALLABLE_READERS,
    HINT_READERS,
    handed_on,
    plain_bases,
    plain_decorators,
    special_hints,
)
from bot.assessment.triviality.rule import Rule
from bot.assessment.triviality.source import Definition, Function, bodies

# Whoever imports one of these may hand its functions and classes to readers of hints.
_READERS_IN_MODULE = frozenset(
    {"pydantic", "typer", "fastapi", "beartype", "typeguard", "cattrs", "attrs", "attr", "hydra", "draccus"}
    | CALLABLE_READERS
)
# Evaluating these alone has no effect and cannot fail, so they are inert even without the `__future__` import.
_LOOKUPS = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr, ast.Load)
_BRACKETS = {"list": 1, "set": 1, "frozenset": 1, "dict": 2, "Iterator": 1, "Iterable": 1, "Sequence": 1, "Mapping": 2}
_BUILTINS = frozenset(
    {"int", "str", "float", "bool", "bytes", "object", "list", "dict", "set", "tuple", "type", "frozenset"}
)


def _drop_hints(pair: Pair) -> bool:
    if pair.around.mentions(HINT_READERS) or any(side.modules() & _READERS_IN_MODULE for side in pair.sides):
        return False
    if pair.around.handed_to(CALLABLE_READERS):
        return False
    # The head first: what must stay there stays in the base too.
    evaluated = {ast.dump(hint) for hint in _evaluated_at_import(pair.base.tree)}
    head = _Stripper(pair.head, pair, lambda hint: ast.dump(hint) in evaluated)
    for statement in pair.head.touched:
        head.strip(statement)
    # The base runs: none of its hints fails, and leaving out one that only looks names up changes nothing.
    base = _Stripper(pair.base, pair, lambda hint: _looks_up(hint) and ast.dump(hint) not in head.refused)
    for statement in pair.base.touched:
        base.strip(statement)
    return base.taken != head.taken


def _evaluated_at_import(block: ast.Module | ast.ClassDef) -> Iterator[ast.expr]:
    """Hints that surely ran when the module was made: not those inside functions or under conditions."""
    for one in block.body:
        if isinstance(one, Function):
            arguments = [node for node in ast.walk(one.args) if isinstance(node, ast.arg)]
            yield from (hint for node in (one, *arguments) for hint in hints_of(node))
        elif isinstance(one, ast.ClassDef):
            yield from _evaluated_at_import(one)
        else:
            yield from hints_of(one)


def _looks_up(hint: ast.expr) -> bool:
    return all(isinstance(one, _LOOKUPS) for one in ast.walk(hint))


class _Stripper:
    """Walks the touched statements knowing the class around them: hints of a class are data, of a function are not."""

    def __init__(self, side: Side, pair: Pair, known_to_evaluate: Callable[[ast.expr], bool]) -> None:
        self.taken: list[str] = []
        self.refused: set[str] = set()
        self._known_to_evaluate = known_to_evaluate
        self._pair = pair
        self._lazy = any(
            isinstance(one, ast.ImportFrom) and one.module == "__future__" and one.names[0].name == "annotations"
            for one in side.tree.body
        )
        self._bound = module_bindings(side.tree)
        self._tree = side.tree
        self._side = side
        self._top: ast.stmt | None = None

    def strip(self, statement: ast.stmt) -> None:
        """Take the hints out of one top-level statement."""
        self._top = statement
        self.visit_statement(statement, None)

    def visit_statement(self, node: ast.AST, owner: ast.AST | None) -> None:
        if isinstance(node, Function):
            self._function(node, owner)
        for field in ast.iter_child_nodes(node):
            if isinstance(field, ast.stmt | ast.ExceptHandler | ast.match_case):
                self.visit_statement(field, node if isinstance(node, Definition) else owner)
        for body in bodies(node):
            around = node if isinstance(node, Definition) else owner
            body[:] = [self._assignment(one, around) if isinstance(one, ast.AnnAssign) else one for one in body]
        if owner is None and isinstance(node, ast.AnnAssign):
            self._module_level(node)

    def _function(self, node: Function, owner: ast.AST | None) -> None:
        if not plain_decorators(node, self._tree) or (isinstance(owner, ast.ClassDef) and not self._plain_class(owner)):
            return
        arguments = node.args
        for argument in [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]:
            if argument is not None and self._inert(argument.annotation):
                self._take(argument.annotation)
                argument.annotation = None
        if self._inert(node.returns):
            self._take(node.returns)
            node.returns = None

    def _assignment(self, node: ast.AnnAssign, owner: ast.AST | None) -> ast.stmt:
        """What is left of an annotated assignment inside a definition."""
        if isinstance(owner, ast.ClassDef):
            if self._field_is_inert(node, owner):
                self._take(node.annotation)
                node.annotation = ast.Constant(None)
            return node
        # In a function the hint of a plain name is not even evaluated; without a value it still makes the name local.
        if isinstance(owner, Function) and isinstance(node.target, ast.Name):
            self._take(node.annotation)
            if node.value is not None:
                return ast.Assign([ast.Name(node.target.id, ast.Store())], node.value)
            node.annotation = ast.Constant(None)
        elif isinstance(owner, Function) and node.value is not None:
            self._take(node.annotation)
            return ast.Assign([node.target], node.value)
        return node

    def _module_level(self, node: ast.AnnAssign) -> None:
        if not self._inert(node.annotation) or not isinstance(node.target, ast.Name):
            return
        self._take(node.annotation)
        node.annotation = ast.Constant(None)

    def _inert(self, hint: ast.expr | None) -> bool:
        if hint is None or self._lazy or self._harmless(hint):
            return hint is not None
        if self._known_to_evaluate(hint) and (self._side is self._pair.base or self._all_defined(hint)):
            return True
        self.refused.add(ast.dump(hint))
        return False

    def _harmless(self, hint: ast.expr) -> bool:
        """Is evaluating it sure to succeed and to do nothing?"""
        if isinstance(hint, ast.Constant):
            return hint.value is None or isinstance(hint.value, str)
        return self._type(hint) or (isinstance(hint, ast.Name) and self._defined_above(hint.id))

    def _all_defined(self, hint: ast.expr) -> bool:
        """Does every name in it still mean what it meant? Only for a hint that is evaluated in the base too."""
        names = {one.id for one in ast.walk(hint) if isinstance(one, ast.Name)}
        return _looks_up(hint) and all(self._known(name) or self._defined_above(name) for name in names)

    def _type(self, hint: ast.expr) -> bool:
        """A known type, one of a known kind with known types in its brackets, or a union of such."""
        if isinstance(hint, ast.Name):
            return self._known(hint.id)
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            sides = (hint.left, hint.right)
            nothing = [isinstance(one, ast.Constant) and one.value is None for one in sides]
            return not all(nothing) and all(none or self._type(one) for none, one in zip(nothing, sides, strict=True))
        if isinstance(hint, ast.Subscript) and isinstance(hint.value, ast.Name) and hint.value.id in _BRACKETS:
            inside = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
            right = len(inside) == _BRACKETS[hint.value.id]
            return right and self._known(hint.value.id) and all(self._harmless(one) for one in inside)
        return False

    def _known(self, name: str) -> bool:
        """A builtin type that nothing in the file shadows, or one imported once, by its name, from where it is made."""
        if name in _BUILTINS:
            return self._side.bound(name) == 0
        found = self._bound.get(name)
        plain = isinstance(found, ast.ImportFrom) and found.module == "collections.abc" and name in _BRACKETS
        return plain and self._side.bound(name) == 1 and self._bound_first(name)

    def _defined_above(self, name: str) -> bool:
        """Does a definition or an import, the only one of this name in the file, stand above this statement?"""
        found = self._bound.get(name)
        if found is None or self._side.bound(name) != 1 or self._top is None:
            return False
        return self._tree.body.index(found) < self._tree.body.index(self._top)

    def _bound_first(self, name: str) -> bool:
        """Is the import above everything but other imports and docstrings?"""
        above = self._tree.body[: self._tree.body.index(self._bound[name])]
        return all(isinstance(one, ast.Import | ast.ImportFrom | ast.Expr) for one in above)

    def _take(self, hint: ast.expr | None) -> None:
        self.taken.append(ast.dump(hint) if hint is not None else "")

    def _plain_class(self, owner: ast.ClassDef) -> bool:
        return plain_decorators(owner, self._tree) and plain_bases(owner, self._tree)

    def _field_is_inert(self, node: ast.AnnAssign, owner: ast.ClassDef) -> bool:
        """The name stays a field; what the hint says may differ where only people and type checkers read it."""
        if not self._lazy or not self._plain_class(owner) or owner not in self._tree.body:
            return False
        text = ast.unparse(node.annotation)
        # Asked of the whole package, which is read only for the rare change of a class's field.
        special = special_hints(self._pair.around)
        if special is None or any(word in text for word in special):
            return False
        if not self._pair.around.known:
            # Elsewhere somebody may read fields as a schema; no schema can be made of a callable's signature.
            return text.startswith("Callable[") and not handed_on(owner.name, self._pair.around)
        return not handed_on(owner.name, self._pair.around)


ANNOTATIONS = Rule(
    "annotations",
    "unevaluated text of hints; no decorator, class machinery, hint reader or schema in the package looks at it",
    _drop_hints,
)
