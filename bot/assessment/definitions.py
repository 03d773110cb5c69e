"""Which definitions of a Python module a change touches, by name: what a reviewer wants to read first."""

from __future__ import annotations

import ast

from bot.assessment.trivial import UNPARSABLE, Definition, dump, parse, without_docstrings

MOST_NAMES = 6
MODULE_LEVEL = "module level"


def describe_python(base: bytes | None, head: bytes | None) -> str | None:
    """Such as "changed: scatter, Writer.flush; added: merge". None where a side does not parse or nothing differs."""
    try:
        before, after = (_definitions(side or b"") for side in (base, head))
    except UNPARSABLE:
        return None
    groups = {
        "changed": [name for name in after if name in before and before[name] != after[name]],
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
    }
    return "; ".join(f"{verb}: {_listed(names)}" for verb, names in groups.items() if names) or None


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown


def _definitions(source: bytes) -> dict[str, str]:
    """Name → text of the tree, in order of appearance; methods and assigned names count by themselves."""
    found: dict[str, str] = {}
    for node in without_docstrings(parse(source)).body:
        for name, text in _named(node):
            # A name defined twice (overloads, branches) is one entry that holds both texts.
            found[name] = found.get(name, "") + text
    return found


def _named(node: ast.stmt, prefix: str = "") -> list[tuple[str, str]]:
    if isinstance(node, ast.ClassDef):
        head = ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list)
        parts = [pair for child in node.body for pair in _named(child, f"{prefix}{node.name}.")]
        return [(prefix + node.name, dump(head)), *parts]
    if isinstance(node, Definition):
        return [(prefix + node.name, dump(node))]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if not names:
        return [(prefix.rstrip(".") or MODULE_LEVEL, dump(node))]
    return [(prefix + name, dump(node)) for name in names]
