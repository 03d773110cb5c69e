"""Type parameters (`def f[T](…)`, `class C[T]`, `type X = …`), which the gated package uses, before Python 3.12.

Source: PEP 695. The text is made readable to the older parser without moving anything else, and what was taken out is
put back into the tree where no program of the older language can have it: so a change of it is always seen.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

import msgspec

_IGNORED = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
_LINE_STARTS = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.NL})
_NEWER = re.compile(rb"^[ \t]*(?:type[ \t]+\w|(?:async[ \t]+)?(?:def|class)[ \t]+\w+[ \t]*\[)", re.MULTILINE)
_BRACKETS = {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}


class _Found(msgspec.Struct):
    """By line of the statement: the parameters of definitions and aliases, and which lines are aliases."""

    parameters: dict[int, str] = msgspec.field(default_factory=dict)
    aliases: set[int] = msgspec.field(default_factory=set)


def parse_newer(source: bytes) -> ast.Module:
    """Parse a file that the interpreter's own grammar refuses. Raises SyntaxError where it is still none."""
    # Reading tokens is slow, and most text that does not parse is simply broken.
    if _NEWER.search(source) is None:
        raise SyntaxError("no type parameters")
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    except (tokenize.TokenError, IndentationError) as error:
        raise SyntaxError(str(error)) from None
    encoding = tokens[0].string
    lines = [list(line) for line in io.StringIO(source.decode(encoding), newline=None)]
    found = _Found()
    for at, token in enumerate(tokens):
        if token.type != tokenize.NAME or tokens[at - 1].type not in _LINE_STARTS:
            continue
        name = at + 2 if token.string == "async" else at + 1
        if token.string == "type" and tokens[name].type == tokenize.NAME and tokens[name + 1].string in ("=", "["):
            _cut_alias(tokens, at, lines, found)
        elif tokens[name - 1].string in ("def", "class") and tokens[name + 1].string == "[":
            found.parameters[token.start[0]] = _cut(tokens, name + 1, lines)
    if not (found.parameters or found.aliases):
        raise SyntaxError("not a matter of type parameters")
    tree = ast.parse("".join("".join(line) for line in lines))
    _put_back(tree, found)
    return tree


def _cut(tokens: list[tokenize.TokenInfo], opening: int, lines: list[list[str]]) -> str:
    """Blank what stands from this bracket to its partner, and tell it."""
    depth, closing = 0, opening
    for closing in range(opening, len(tokens)):
        depth += _BRACKETS.get(tokens[closing].string, 0) if tokens[closing].type == tokenize.OP else 0
        if depth == 0:
            break
    inside = [one.string for one in tokens[opening + 1 : closing] if one.type not in _IGNORED]
    (row, column), (last_row, last_column) = tokens[opening].start, tokens[closing].end
    for number in range(row, last_row + 1):
        line = lines[number - 1]
        first, last = column if number == row else 0, last_column if number == last_row else len(line) - 1
        line[first:last] = " " * (last - first)
        if number < last_row:
            # The definition goes on behind the bracket.
            line[-1] = "\\\n" if line[-1] == "\n" else line[-1]
    return " ".join(inside)


def _cut_alias(tokens: list[tokenize.TokenInfo], at: int, lines: list[list[str]], found: _Found) -> None:
    """`type X = …` as `X      = …`."""
    row, column = tokens[at].start
    if tokens[at + 2].string == "[":
        found.parameters[row] = _cut(tokens, at + 2, lines)
    name = tokens[at + 1]
    end = name.end[1]
    lines[row - 1][column:end] = name.string.ljust(end - column)
    found.aliases.add(row)


def _put_back(tree: ast.Module, found: _Found) -> None:
    for node in list(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and line in found.parameters:
            node.decorator_list.append(ast.copy_location(_marked("type parameters", found.parameters[line]), node))
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                block[:] = [_alias(one, found) if one.lineno in found.aliases else one for one in block]


def _alias(node: ast.stmt, found: _Found) -> ast.stmt:
    if not isinstance(node, ast.Assign):
        raise SyntaxError("an alias that is none")
    mark = ast.copy_location(_marked("type alias", found.parameters.get(node.lineno, "")), node)
    node.value = ast.copy_location(ast.Call(mark, [node.value], []), node.value)
    return node


def _marked(kind: str, text: str) -> ast.expr:
    """An expression that no source has: no identifier holds a space."""
    mark = ast.Subscript(ast.Name(kind, ast.Load()), ast.Constant(text), ast.Load())
    for node in ast.walk(mark):
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = 1, 0, 1, 0  # type: ignore[attr-defined]
    return mark
