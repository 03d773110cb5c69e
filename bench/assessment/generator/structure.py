"""Mutations of statements and definitions: what runs, in which order, under which name and how often."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from random import Random

from bench.assessment.generator.edit import Edit, Source, changed, is_log_call

_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Raise, ast.Return, ast.If, ast.For, ast.With)
_HEADER = b"from __future__ import annotations\n"


def _blocks(of: Source) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(of.tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.Module | ast.ClassDef):
                yield block


def _line(of: Source, node: ast.AST) -> int:
    return of.starts[node.lineno - 1]  # type: ignore[attr-defined]


def _swapped(of: Source, one: ast.stmt, two: ast.stmt) -> bytes:
    """Two neighbouring statements in the other order, with what lies between them left between."""
    (a, b), (c, d) = of.span(one), of.span(two)
    return of.text[:a] + of.text[c:d] + of.text[b:c] + of.text[a:b] + of.text[d:]


def order(of: Source, random: Random) -> Iterator[Edit]:
    """Neighbours change places; a log call moves; a statement goes into a loop or a branch."""
    for block in _blocks(of):
        for one, two in itertools.pairwise(block):
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                continue
            if isinstance(one, _SIMPLE) and isinstance(two, _SIMPLE) and ast.dump(one) != ast.dump(two):
                logs = any(isinstance(each, ast.Expr) and is_log_call(each.value) for each in (one, two))
                yield from changed("moved log call" if logs else "statement order", of, _swapped(of, one, two))
            if isinstance(one, ast.Expr) and is_log_call(one.value) and isinstance(two, ast.For | ast.While):
                first, last = of.span(one)
                at = of.span(two.body[0])[0]
                head = of.text[:first] + b"pass" + of.text[last:at] + of.text[first:last].replace(b"\n", b" ") + b"; "
                yield from changed("log call into loop", of, head + of.text[at:])


def statements(of: Source, random: Random) -> Iterator[Edit]:
    """A statement vanishes, runs conditionally, or control flows another way."""
    for node in ast.walk(of.tree):
        if isinstance(node, ast.Assert):
            yield from changed("removed assert", of, of.replace(node, "pass"))
        removable = isinstance(node, ast.Assign | ast.AugAssign | ast.Raise | ast.Delete | ast.Global | ast.Nonlocal)
        if removable and not isinstance(of.parents[node], ast.Module | ast.ClassDef):
            yield from changed(f"removed {type(node).__name__.lower()}", of, of.replace(node, "pass"))
        if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Constant):
            yield from changed("negated test", of, of.replace(node.test, f"not ({of.written(node.test)})"))
        if isinstance(node, ast.Return) and node.value is not None:
            yield from changed("return", of, of.replace(node, "return"))
        if isinstance(node, ast.Break | ast.Continue):
            yield from changed("loop", of, of.replace(node, "continue" if isinstance(node, ast.Break) else "break"))
        if isinstance(node, ast.Await):
            yield from changed("await", of, of.replace(node, of.written(node.value)))


def imports(of: Source, random: Random) -> Iterator[Edit]:
    if _HEADER in of.text:
        yield from changed("removed future import", of, of.text.replace(_HEADER, b"", 1))
    found = [node for node in of.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = ("zephyr", "fray", "iris", "rigging", "finelog", "fsspec", "pyarrow", "cloudpickle", "msgspec", "zstandard")
    foreign = [node for node in found if ast.unparse(node).split()[1].split(".")[0] in ours]
    for one, two in itertools.pairwise(foreign):
        yield from changed("import order with effects", of, _swapped(of, one, two))
    for node in foreign:
        yield from changed("removed import", of, of.replace(node, "pass"))


def definitions(of: Source, random: Random) -> Iterator[Edit]:
    """Names that callers use, defaults, decorators, and the fields that class machinery reads."""
    for node in ast.walk(of.tree):
        if isinstance(node, ast.FunctionDef):
            yield from _function(of, node)
        if isinstance(node, ast.ClassDef):
            yield from changed("slots", of, _insert(of, node, "__slots__ = ()"))
            yield from _class(of, node)


def _function(of: Source, node: ast.FunctionDef) -> Iterator[Edit]:
    if not node.name.startswith("_"):
        head = of.text[: _line(of, node)] + of.text[_line(of, node) :].replace(
            b"def " + node.name.encode(), b"def other", 1
        )
        yield from changed("public name", of, head)
    for default in node.args.defaults + [one for one in node.args.kw_defaults if one]:
        other = "None" if ast.unparse(default) != "None" else "0"
        yield from changed("default", of, of.replace(default, other))
    for decorator in node.decorator_list:
        first, last = of.span(decorator)
        yield from changed("decorator", of, of.text[: first - 1] + b"#" + of.text[last:])
    if not node.decorator_list:
        indent = b" " * node.col_offset
        head = of.text[: _line(of, node)] + indent + b"@staticmethod\n" + of.text[_line(of, node) :]
        yield from changed("decorator", of, head)
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        if argument.arg not in ("self", "cls"):
            renamed = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == argument.arg]
            if not any(isinstance(up, ast.JoinedStr) for one in renamed for up in of.up(one)):
                yield from changed("parameter name", of, _respelled(of, argument, renamed))


def _respelled(of: Source, argument: ast.arg, uses: list[ast.Name]) -> bytes:
    length = len(argument.arg.encode())
    places = sorted({of.span(one)[0] for one in [argument, *uses]}, reverse=True)
    head = of.text
    for at in places:
        head = head[: at + length] + b"_" + head[at + length :]
    return head


def _insert(of: Source, node: ast.ClassDef, line: str) -> bytes:
    last = node.body[-1]
    at = of.span(last)[1]
    return of.text[:at] + b"\n" + b" " * last.col_offset + line.encode() + of.text[at:]


def _class(of: Source, node: ast.ClassDef) -> Iterator[Edit]:
    if not any("dataclass" in ast.unparse(one) for one in node.decorator_list):
        return
    for field in node.body:
        if isinstance(field, ast.AnnAssign):
            name = ast.unparse(field.target)
            value = f" = {of.written(field.value)}" if field.value else " = None"
            yield from changed("field without hint", of, of.replace(field, name + value))
            hint = f"ClassVar[{of.written(field.annotation)}]"
            yield from changed("class variable", of, of.replace(field.annotation, hint))
    yield from changed("new field", of, _insert(of, node, "extra: int = 0"))


def reached(of: Source, random: Random) -> Iterator[Edit]:
    """Definitions and docstrings that are reached by a string, an export or `__doc__`."""
    for node in of.tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        first, last = of.span(node)
        if node.decorator_list:
            first = of.span(node.decorator_list[0])[0] - 1
        gone = of.text[:first] + b"pass" + of.text[last:]
        by_string = f'\nREACHED = getattr(__import__(__name__), "{node.name}", None)\n'.encode()
        yield from changed("dead code by string", of, gone, by_string)
        yield from changed("dead code by export", of, gone, f'\n__all__ = ["{node.name}"]\n'.encode())
        doc = node.body[0]
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            head = of.replace(doc, '"""Other."""')
            yield from changed("docstring that is read", of, head, f"\nTEXT = {node.name}.__doc__\n".encode())


STRUCTURE = (order, statements, imports, definitions, reached)
