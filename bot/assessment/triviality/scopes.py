"""Local variables of functions and comprehensions: which name belongs to which scope.

Source: the language reference, "Naming and binding". Class bodies are transparent to the functions inside them; the
first iterable of a comprehension and the defaults, decorators and hints of a function belong to the scope around it; a
walrus inside a comprehension binds in the function around it.
"""

from __future__ import annotations

import ast
import re

import msgspec

from bot.assessment.triviality.source import Comprehension, Definition, Function


class Scope(msgspec.Struct, eq=False):
    """One function, comprehension, class body or module. `fixed` names must keep their spelling."""

    kind: str
    outer: Scope | None
    bound: set[str] = msgspec.field(default_factory=set)
    fixed: set[str] = msgspec.field(default_factory=set)
    # (node, field) of every place where the name is written, in order of appearance.
    places: dict[str, list[tuple[ast.AST, str]]] = msgspec.field(default_factory=dict)

    def binder(self, name: str) -> Scope | None:
        """The scope that this name means when it is read here; None for the module, builtins and anything unclear."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "module":
            if name in scope.bound and (scope.kind != "class" or scope is self):
                return scope if scope.kind != "class" else None
            scope = scope.outer
        return None


class Resolver(ast.NodeVisitor):
    """Collects bindings first and then, scope by scope, the places where each local name is written."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self._here = Scope("module", None)
        self._uses: list[tuple[Scope, str, ast.AST, str]] = []

    def resolve(self, statement: ast.stmt) -> list[Scope]:
        """Function and comprehension scopes of one top-level statement, with their places filled."""
        self.visit(statement)
        for scope, name, node, where in self._uses:
            binder = scope.binder(name)
            if binder is not None:
                binder.places.setdefault(name, []).append((node, where))
            self._unclear(scope, name)
        return self.scopes

    def _unclear(self, scope: Scope, name: str) -> None:
        """A class body that binds a name looks it up by a rule of its own: nobody around may rename it."""
        if scope.kind == "class" and name in scope.bound:
            outer: Scope | None = scope.outer
            while outer is not None:
                outer.fixed.add(name)
                outer = outer.outer

    def _bind(self, name: str, scope: Scope | None = None) -> None:
        (scope or self._here).bound.add(name)

    def _use(self, name: str, node: ast.AST, where: str) -> None:
        self._uses.append((self._here, name, node, where))

    def _enter(self, kind: str) -> Scope:
        scope = Scope(kind, self._here)
        self.scopes.append(scope)
        self._here = scope
        return scope

    def _leave(self) -> None:
        assert self._here.outer is not None  # noqa: S101 — only called after `_enter`
        self._here = self._here.outer

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        self._use(node.id, node, "id")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        target = self._here
        while target.kind == "comprehension" and target.outer is not None:
            target = target.outer
        self._bind(node.target.id, target)
        self._use(node.target.id, node.target, "id")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        if node.name:
            self._bind(node.name)
            self._use(node.name, node, "name")
        for statement in node.body:
            self.visit(statement)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._pattern(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._pattern(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._pattern(node, node.rest)

    def _pattern(self, node: ast.AST, name: str | None) -> None:
        if name:
            self._bind(name)
            self._here.fixed.add(name)
        self.generic_visit(node)

    def _fix(self, names: list[str]) -> None:
        scope: Scope | None = self._here
        while scope is not None:
            scope.fixed.update(names)
            scope = scope.outer

    def visit_Global(self, node: ast.Global) -> None:
        self._fix(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self._fix(node.names)

    def visit_alias(self, node: ast.alias) -> None:
        name = node.asname or node.name.partition(".")[0]
        self._bind(name)
        self._here.fixed.add(name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: Function) -> None:
        self._bind(node.name)
        self._here.fixed.add(node.name)
        self._fix(_in_type_parameters(node))
        for outside in [
            *node.decorator_list,
            *_evaluated_outside(node.args),
            *([node.returns] if node.returns else []),
        ]:
            self.visit(outside)
        scope = self._enter("function")
        self._parameters(node.args, scope)
        for statement in node.body:
            self.visit(statement)
        if getattr(node, "type_params", None):
            scope.fixed.update(scope.bound)
        self._leave()

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for outside in _evaluated_outside(node.args):
            self.visit(outside)
        self._parameters(node.args, self._enter("function"))
        self.visit(node.body)
        self._leave()

    def _parameters(self, arguments: ast.arguments, scope: Scope) -> None:
        """A caller may name any parameter."""
        for argument in _all_arguments(arguments):
            scope.bound.add(argument.arg)
            scope.fixed.add(argument.arg)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name)
        self._here.fixed.add(node.name)
        self._fix(_in_type_parameters(node))
        for outside in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
            self.visit(outside)
        self._enter("class")
        for statement in node.body:
            self.visit(statement)
        self._leave()

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: Comprehension) -> None:
        self.visit(node.generators[0].iter)
        self._enter("comprehension")
        for number, generator in enumerate(node.generators):
            self.visit(generator.target)
            if number:
                self.visit(generator.iter)
            for condition in generator.ifs:
                self.visit(condition)
        for value in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self.visit(value)
        self._leave()


def _in_type_parameters(node: Definition) -> list[str]:
    """Names that bounds and defaults of type parameters look up, when somebody asks for them."""
    texts = [ast.unparse(one) for one in getattr(node, "type_params", ())]
    # Before Python 3.12 they are text; see `grammar`.
    texts += [ast.unparse(one) for one in node.decorator_list if isinstance(one, ast.Subscript)]
    return re.findall(r"\w+", " ".join(texts))


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return found + [one for one in (arguments.vararg, arguments.kwarg) if one is not None]


def _evaluated_outside(arguments: ast.arguments) -> list[ast.expr]:
    hints = [one.annotation for one in _all_arguments(arguments) if one.annotation is not None]
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None), *hints]
