"""Edits that change nothing at run time. All should be proven trivial, and 98 of 100 must be."""

from __future__ import annotations

import ast
import copy
import itertools
import re
import symtable
from collections.abc import Iterator
from random import Random

from bench.assessment.generator.edit import Edit, Source, changed, in_hint, in_text, is_docstring, is_log_call

_WORDS = ("shard", "after", "while", "chunk", "reading", "done", "slow")
_STANDARD = (
    "logging",
    "os",
    "re",
    "time",
    "io",
    "enum",
    "itertools",
    "functools",
    "threading",
    "heapq",
    "pickle",
    "sys",
)
SHARE_REWRITTEN = 0.1
_FUTURE = b"from __future__ import annotations\n"


def reformat(of: Source, random: Random) -> Iterator[Edit]:
    """Another writer's layout, and single expressions in brackets."""
    yield from changed("reformat", of, ast.unparse(of.tree).encode())
    yield from changed("reformat", of, b"\n" + of.text + b"\n\n")
    for node in ast.walk(of.tree):
        if isinstance(node, ast.Call | ast.BinOp | ast.Compare | ast.IfExp) and not in_text(of, node):
            yield from changed("brackets", of, of.replace(node, f"( {of.written(node)} )"))


def comments(of: Source, random: Random) -> Iterator[Edit]:
    for node in ast.walk(of.tree):
        if isinstance(node, ast.stmt):
            at = of.starts[node.lineno - 1]
            indent = of.text[at : at + node.col_offset]
            if indent.strip() == b"":
                note = indent + f"# {' '.join(random.choices(_WORDS, k=4))}\n".encode()
                yield from changed("comment", of, of.text[:at] + note + of.text[at:])


def docstrings(of: Source, random: Random) -> Iterator[Edit]:
    for node in ast.walk(of.tree):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) or not node.body:
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            yield from changed("docstring", of, of.replace(first, f'"""{" ".join(random.choices(_WORDS, k=5))}."""'))
            if len(node.body) > 1 and not isinstance(node, ast.Module):
                yield from changed("docstring", of, of.replace(first, ""))
        elif first.lineno > getattr(node, "lineno", first.lineno):
            at = of.starts[first.lineno - 1]
            if of.text[at : at + first.col_offset].strip() == b"":
                line = b" " * first.col_offset + b'"""Added."""\n'
                yield from changed("docstring", of, of.text[:at] + line + of.text[at:])


def hints(of: Source, random: Random) -> Iterator[Edit]:
    """Hints of functions and locals: any text where it stays unevaluated, else an evaluated type of the language."""
    lazy = _FUTURE in of.text
    known, bare = ("list[object]", "object") if lazy else ("list[int] | None", "int")
    for node in ast.walk(of.tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        if node.returns is not None and (lazy or _simple(node.returns)):
            yield from changed("return hint", of, of.replace(node.returns, bare))
        for argument in node.args.args:
            if argument.annotation is not None and (lazy or _simple(argument.annotation)):
                yield from changed("argument hint", of, of.replace(argument.annotation, known))
            elif argument.annotation is None and argument.arg not in ("self", "cls"):
                yield from changed("argument hint", of, of.replace(argument, f"{argument.arg}: {bare}"))
        for inner in node.body:
            if isinstance(inner, ast.Assign) and len(inner.targets) == 1 and isinstance(inner.targets[0], ast.Name):
                name = inner.targets[0]
                if not any(isinstance(one, ast.Global | ast.Nonlocal) for one in ast.walk(node)):
                    yield from changed("local hint", of, of.replace(name, f"{name.id}: object"))


def _simple(hint: ast.expr) -> bool:
    """Evaluating it does nothing, by the language itself."""
    return isinstance(hint, ast.Constant) or (isinstance(hint, ast.Name) and hint.id in ("int", "str", "bool", "float"))


def unused(of: Source, random: Random) -> Iterator[Edit]:
    """What nothing reaches goes: a private function, a constant, an import; and an import for type checkers comes."""
    number = random.randrange(100, 999)
    last = of.text.rstrip(b"\n") + b"\n"
    hinted = "(rows: list[int]) -> list[int]:\n    'Sorted.'\n    return sorted(rows)\n"
    gone = {
        "dead function": f"\n\ndef _left_behind_{number}{hinted}",
        "dead constant": f"\n_LEFT_BEHIND_{number} = {number}\n",
    }
    for kind, text in gone.items():
        yield Edit(kind, last + text.encode(), last)
    for node in of.tree.body:
        if isinstance(node, ast.Import) and node.names[0].name in _STANDARD:
            at = of.starts[node.lineno - 1]
            if b"statistics" not in of.text:
                yield from changed("unused import", of, of.text[:at] + b"import statistics\n" + of.text[at:])


def private_names(of: Source, random: Random) -> Iterator[Edit]:
    """Functions and constants that their module alone writes, and functions that are only called."""
    called = [one.func for one in ast.walk(of.tree) if isinstance(one, ast.Call)]
    for node in of.tree.body:
        kind, name = _definition(node)
        word = re.compile(rf"\b{name}\b".encode())
        if not name.startswith("_") or word.search(of.elsewhere):
            continue
        uses = [one for one in ast.walk(of.tree) if isinstance(one, ast.Name) and one.id == name]
        handed = kind == "private function" and any(one not in called for one in uses)
        if uses and not handed and len(word.findall(of.text)) == len(uses) + (kind == "private function"):
            yield Edit(kind, of.text, word.sub(f"{name}_2".encode(), of.text))


def _definition(node: ast.stmt) -> tuple[str, str]:
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return "private function", node.name
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
        return "private constant", ast.unparse(node.targets[0])
    return "", ""


def local_names(of: Source, random: Random) -> Iterator[Edit]:
    """Renames, decided by the interpreter's own symbol table."""
    for table in _functions(symtable.symtable(of.text.decode(), "m", "exec")):
        node = next(
            (
                one
                for one in ast.walk(of.tree)
                if isinstance(one, ast.FunctionDef)
                and one.name == table.get_name()
                and _first_line(one) == table.get_lineno()
            ),
            None,
        )
        if node is None:
            continue
        for symbol in table.get_symbols():
            name = symbol.get_name()
            plain = (
                symbol.is_local() and symbol.is_assigned() and not symbol.is_parameter() and not symbol.is_imported()
            )
            if not plain or symbol.is_namespace() or _meant_otherwise(table, name) or name.startswith("_"):
                continue
            yield from _renamed(of, node, name, f"{name}_{random.choice(_WORDS)}", random)


def _first_line(node: ast.FunctionDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


def _functions(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if child.get_type() == "function":
            yield child
        yield from _functions(child)


def _meant_otherwise(table: symtable.SymbolTable, name: str) -> bool:
    """Does any scope inside bind the same name, or is it declared nonlocal there?"""
    for child in table.get_children():
        if name in child.get_identifiers():
            symbol = child.lookup(name)
            if not symbol.is_free() or symbol.is_assigned() or child.get_type() == "class":
                return True
        if _meant_otherwise(child, name):
            return True
    return False


def _renamed(of: Source, node: ast.FunctionDef, name: str, new: str, random: Random) -> Iterator[Edit]:
    uses = [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name]
    strings = any(isinstance(one, ast.ExceptHandler | ast.MatchAs) and one.name == name for one in ast.walk(node))
    if strings or any(in_hint(of, one) for one in uses):
        return
    if any(isinstance(above, ast.JoinedStr) for one in uses for above in of.up(one)):
        # Writing the whole file anew is slow, and a few such renames show as much as all.
        if random.random() > SHARE_REWRITTEN:
            return
        tree = copy.deepcopy(of.tree)
        twin = next(one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.lineno == node.lineno)
        for one in ast.walk(twin):
            if isinstance(one, ast.Name) and one.id == name:
                one.id = new
        yield from changed("local name", of, ast.unparse(tree).encode())
        return
    head = of.text
    for at in sorted({of.span(one)[0] for one in uses}, reverse=True):
        head = head[:at] + new.encode() + head[at + len(name.encode()) :]
    yield from changed("local name", of, head)


def import_order(of: Source, random: Random) -> Iterator[Edit]:
    lines = of.text.splitlines(keepends=True)
    pattern = re.compile(
        rf"import ({'|'.join(_STANDARD)})\n|from ({'|'.join(_STANDARD)}) import \w+(, \w+)*\n".encode()
    )
    at = [number for number, line in enumerate(lines) if pattern.fullmatch(line)]
    runs = [(one, two) for one, two in itertools.pairwise(at) if two == one + 1]
    for one, two in runs:
        moved = list(lines)
        moved[one], moved[two] = moved[two], moved[one]
        yield from changed("import order", of, b"".join(moved))


def string_joins(of: Source, random: Random) -> Iterator[Edit]:
    for node in ast.walk(of.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 3:
            if any(isinstance(above, ast.JoinedStr) for above in of.up(node)) or is_docstring(of, node):
                continue
            if not in_hint(of, node):
                cut = random.randrange(1, len(node.value))
                yield from changed("string join", of, of.replace(node, f"({node.value[:cut]!r} {node.value[cut:]!r})"))


def log_text(of: Source, random: Random) -> Iterator[Edit]:
    for node in [one for one in ast.walk(of.tree) if is_log_call(one)]:
        assert isinstance(node, ast.Call)
        new = copy.deepcopy(node)
        message = new.args[0] if new.args else None
        word = f"{random.choice(_WORDS)} "
        if isinstance(message, ast.Constant) and isinstance(message.value, str):
            message.value = word + message.value
        elif isinstance(message, ast.JoinedStr) and isinstance(message.values[0], ast.Constant):
            message.values[0].value = word + str(message.values[0].value)
        yield from changed("log text", of, of.replace(node, ast.unparse(new)))


PRESERVING = (
    *(reformat, comments, docstrings, hints, unused, private_names, local_names, import_order, string_joins, log_text),
)
