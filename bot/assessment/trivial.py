"""Is a change proven to mean nothing at run time? Proof is equality of what both sides parse to; doubt is "no".

Comments and formatting vanish by parsing. Docstrings are removed, except in a module that mentions a way to read them.
A file that is new, deleted, renamed, binary, not UTF-8, not parsable or of an unknown kind is never trivial: even an
empty new `shuffle/__init__.py` would hide `shuffle.py`.
"""

from __future__ import annotations

import ast
import tomllib
import warnings
from typing import TypeAlias

import msgspec

from bot.assessment.model import FileChange
from bot.assessment.package import PackageView

# Where one of these stands anywhere in a module, its docstrings may be data: help texts, tests, API descriptions.
DOCSTRING_READERS = ("__doc__", "getdoc", "doctest", "click", "argparse", "docopt", "typer")

# Everything that parsing hostile text is known to raise; deep nesting raises the last two.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Proof(msgspec.Struct, frozen=True):
    """`trivial` and in one phrase why, or why it could not be shown."""

    trivial: bool
    why: str


def prove(change: FileChange, package: PackageView | None = None) -> Proof:
    """Decide one file. Total: never raises on any bytes. `package` is what else could notice the change."""
    if obstacle := _obstacle(change):
        return Proof(False, obstacle)
    base, head = change.base or b"", change.head or b""
    if change.path.endswith(".py"):
        return _prove_python(base, head)
    if change.path.endswith(".toml"):
        return _prove_toml(base, head)
    return Proof(False, "neither Python nor TOML")


def _obstacle(change: FileChange) -> str | None:
    """What makes a comparison of contents meaningless, before looking at any."""
    stories = {
        "added": "new file",
        "deleted": "deleted file",
        "renamed": f"moved from {change.old_path}",
        "special": "a symbolic link, a submodule or another kind of entry changed",
    }
    if change.status in stories:
        return stories[change.status]
    if change.base is None or change.head is None:
        return "too large to read"
    for side, data in (("base", change.base), ("head", change.head)):
        if b"\0" in data:
            return f"binary in the {side}"
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            return f"not UTF-8 in the {side}"
    return None


def _prove_python(base: bytes, head: bytes) -> Proof:
    keep = any(reader.encode() in side for reader in DOCSTRING_READERS for side in (base, head))
    dumps = []
    for side, data in (("base", base), ("head", head)):
        try:
            dumps.append(dump(without_docstrings(parse(data)) if not keep else parse(data)))
        except UNPARSABLE as error:
            return Proof(False, f"the {side} does not parse: {type(error).__name__}")
    if dumps[0] != dumps[1]:
        return Proof(False, "the syntax trees differ")
    return Proof(True, f"equal syntax trees without comments, {'' if keep else 'docstrings '}and formatting")


def _prove_toml(base: bytes, head: bytes) -> Proof:
    try:
        # repr keeps apart what == does not: 1, 1.0 and true.
        equal = repr(tomllib.loads(base.decode())) == repr(tomllib.loads(head.decode()))
    except (ValueError, RecursionError) as error:
        return Proof(False, f"does not parse: {type(error).__name__}")
    return Proof(True, "equal TOML values") if equal else Proof(False, "the TOML values differ")


def parse(source: bytes) -> ast.Module:
    """Parse as the interpreter would, coding line included. Raises one of `UNPARSABLE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def dump(node: ast.AST) -> str:
    """The tree as text without positions; equal text means an equal program."""
    return ast.dump(node)


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Remove every docstring in place. A body left empty becomes `pass`, which it is equal to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | Definition) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
            if not node.body and not isinstance(node, ast.Module):
                node.body.append(ast.Pass())
    return tree
