"""How a constant string is cut into pieces."""

from __future__ import annotations

import ast

from bot.assessment.triviality.pair import Pair, Side
from bot.assessment.triviality.rule import Rule, on_each_side
from bot.assessment.triviality.source import is_text


class _Join(ast.NodeTransformer):
    def __init__(self) -> None:
        self.taken: list[str] = []

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.kind is not None:
            self.taken.append(node.kind)
            node.kind = None
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        # A docstring stays what it is: neither a sum nor an f-string without fields is one.
        if isinstance(node.value, ast.BinOp | ast.JoinedStr | ast.Constant):
            return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = node.left, node.right
        if isinstance(node.op, ast.Add) and isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            for kind in (str, bytes):
                if isinstance(left.value, kind) and isinstance(right.value, kind):
                    self.taken.append(ast.dump(node))
                    return ast.Constant(left.value + right.value)  # type: ignore[operator]
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        merged: list[ast.expr] = []
        for part in node.values:
            last = merged[-1] if merged else None
            if isinstance(part, ast.Constant) and isinstance(last, ast.Constant) and is_text(part) and is_text(last):
                merged[-1] = ast.Constant(str(last.value) + str(part.value))
            elif not (isinstance(part, ast.Constant) and part.value == ""):
                merged.append(part)
        if all(is_text(part) for part in merged) and len(merged) <= 1:
            self.taken.append("f")
            return merged[0] if merged else ast.Constant("")
        node.values = merged
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        # The format after the colon must stay an f-string; only the value is looked into.
        node.value = self.visit(node.value)
        return node


def _join(side: Side, pair: Pair) -> list[str]:
    join = _Join()
    for statement in side.touched:
        join.visit(statement)
    return join.taken


STRING_JOINS = Rule(
    "string joins",
    "the compiler folds pieces of constant strings, with or without f and u, into the one constant they spell",
    on_each_side(_join),
)
