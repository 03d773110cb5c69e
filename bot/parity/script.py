"""The tier table of `scripts/ci/submit_perf_run.py`, which launched treatments by hand: read, never run."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

from bot.parity.model import Shape, Unread, Unreadable, Value

PATH = PurePosixPath("scripts/ci/submit_perf_run.py")
_TABLE = "TIERS"
_KEYS = ("ferry_module", "cpu", "memory", "disk", "priority", "enable_extra_resources")


def read(text: str, gate: int) -> Shape | Unreadable:
    """The shape that the script gives gate `gate`."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Unreadable("is not Python that can be read")
    entry = _entry(tree, str(gate))
    if not isinstance(entry, ast.Call):
        return Unreadable(f"has no `{_TABLE}` with an entry for gate {gate}")
    given = {word.arg: _literal(word.value) for word in entry.keywords if word.arg is not None}
    opaque = tuple("**…" for word in entry.keywords if word.arg is None) + tuple(map(ast.unparse, entry.args))
    values: dict[str, Value] = {key: _text(given[key]) for key in _KEYS if given.get(key) not in (None, False)}
    # Only False makes a flag of it there.
    if given.get("preemptible") is False:
        values["preemptible"] = False
    for key in ("region", "extra"):
        if given.get(key) is not None:
            only = _text(given[key])
            values[key] = (only,) if isinstance(only, str) else only
    if given.get("ferry_args"):
        values["arguments"] = _text(given["ferry_args"])
    return Shape(values, _environment(given.get("extra_env")), opaque)


def _entry(tree: ast.Module, gate: str) -> ast.expr | None:
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        named = any(isinstance(target, ast.Name) and target.id == _TABLE for target in targets)
        table = statement.value if named and isinstance(statement, ast.Assign | ast.AnnAssign) else None
        for key, entry in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            if isinstance(key, ast.Constant) and str(key.value) == gate:
                return entry
    return None


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return Unread(ast.unparse(node)[:80])


def _text(value: object) -> Value:
    if isinstance(value, bool | Unread):
        return value
    return " ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _environment(pairs: object) -> dict[str, str | Unread]:
    if isinstance(pairs, tuple | list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return {str(key): str(text) for key, text in pairs}
    return {}
