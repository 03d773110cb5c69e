"""One line a file, as a reviewer would write it: the weightiest effect, or how the code was rearranged."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import basename

from bot.assessment.changes import Changed
from bot.assessment.definitions import Defined, callee
from bot.assessment.evidence.constants import value_of
from bot.assessment.evidence.facts import LOGGERS
from bot.assessment.evidence.interface import parameters
from bot.assessment.evidence.model import Evidence
from bot.assessment.trees import all_same, same

MOST_NAMES, MOST_PARTS = 3, 4
NOTHING_MORE = "no hot path, size or rule changes"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def of_evidence(evidence: Sequence[Evidence]) -> str:
    """The weightiest finding and what it does; how many more there are."""
    first = evidence[0]
    more = f" (and {len(evidence) - 1} more)" if len(evidence) > 1 else ""
    return f"{first.what}: {first.why}{more}"


def of_definitions(paths: Iterable[str], changed: Changed) -> dict[str, str]:
    """Such as "extracts _route from ScatterWriter.write; no hot path, size or rule changes", by path."""
    apart = changed.by_path()
    renames: dict[str, list[str]] = {}
    for old, new in changed.moved:
        renames.setdefault(old.tail, []).append(new.tail)
    nothing = Changed((), (), (), ())
    return {path: _of_definitions(path, apart.get(path, nothing), renames) for path in paths}


def _of_definitions(path: str, changed: Changed, renames: Mapping[str, list[str]]) -> str:
    parts = list(dict.fromkeys([*_moves(path, changed), *_rearranged(changed, renames)]))
    if not parts:
        return "changes imports only"
    more = [f"{len(parts) - MOST_PARTS} more changes"] if len(parts) > MOST_PARTS else []
    return "; ".join([*parts[:MOST_PARTS], *more, NOTHING_MORE])


def _moves(path: str, changed: Changed) -> Iterator[str]:
    """Renames, and code that came from or went to another place."""
    pairs = list(changed.moved)
    whole = {new.name for _, new in pairs if new.kind == "class"}
    pairs = [pair for pair in pairs if pair[1].owner not in whole]
    for old, new in pairs:
        if old.path == new.path == path:
            yield f"renames {old.name} to {new.name}" if old.tail != new.tail else f"moves {old.name} to {new.name}"
    into = [(old, new) for old, new in pairs if new.path == path != old.path]
    out = [(old, new) for old, new in pairs if old.path == path != new.path]
    for others, verb, found in (
        ({old.path for old, _ in into}, "moves in", [new for _, new in into]),
        ({new.path for _, new in out}, "moves out", [old for old, _ in out]),
    ):
        if found:
            where = "from" if verb == "moves in" else "to"
            yield f"{verb} {_listed(found)} {where} {', '.join(sorted(map(basename, others))[:2])}"


def _rearranged(changed: Changed, renames: Mapping[str, list[str]]) -> Iterator[str]:
    altered = changed.altered
    added, removed = _without_members(changed.added), _without_members(changed.removed)
    explained: set[str] = set()
    for verb, way, items, side in (("extracts", "from", added, 1), ("inlines", "into", removed, 0)):
        for item in list(items):
            users = [pair[1] for pair in altered if _calls(pair[side], item) and not _calls(pair[1 - side], item)]
            if item.kind == "function" and users:
                yield f"{verb} {item.name} {way} {_listed(users)}"
                items.remove(item)
                explained |= {user.name for user in users}
    ways: dict[tuple[str, str], list[Defined]] = {}
    for before, after in altered:
        if after.name not in explained and not _only_renames(before, after, renames):
            ways.setdefault(_way(before, after), []).append(after)
    for (said, further), found in ways.items():
        yield f"{said}{_listed(found)}{further}"
    for verb, items in (("adds", added), ("removes", removed)):
        if items:
            yield f"{verb} {_listed(items)}"


def _way(before: Defined, after: Defined) -> tuple[str, str]:
    """How one definition was changed: what is said before its name, and after it."""
    if after.kind == "constant":
        old, new = value_of(before.node), value_of(after.node)
        return ("", f" {_short(old)} → {_short(new)}") if old != new else ("changes the annotation of ", "")
    if after.kind != "function":
        return "changes ", ""
    if same(before.node, after.node, _quiet):
        return "changes log lines or error texts of ", ""
    if _same_bodies(before, after):
        return ("changes annotations of " if _called_alike(before, after) else "changes the signature of "), ""
    if same(before.node, after.node, _nameless):
        return "names literals in ", ""
    loops, comprehensions = (
        [sum(isinstance(node, kinds) for node in item.nodes) for item in (before, after)]
        for kinds in ((ast.For, ast.AsyncFor), _COMPREHENSIONS)
    )
    if loops[1] < loops[0] and comprehensions[1] > comprehensions[0]:
        return "rewrites a loop of ", " as a comprehension"
    return "reworks ", ""


def _quiet(node: ast.AST) -> ast.AST:
    """Without what is only said: log calls and the arguments of raised errors."""
    if isinstance(node, ast.Expr):
        call = node.value
        logged = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and callee(call) in LOGGERS
        return ast.Pass() if logged else node
    if isinstance(node, ast.Raise):
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc, None)
    return node


def _nameless(node: ast.AST) -> ast.AST:
    """Literals and names of constants look alike."""
    if isinstance(node, ast.Constant):
        return ast.Name("_")
    if isinstance(node, ast.Name | ast.Attribute):
        return ast.Name("_") if (node.id if isinstance(node, ast.Name) else node.attr).isupper() else node
    return node


def _same_bodies(before: Defined, after: Defined) -> bool:
    return all_same(getattr(before.node, "body", []), getattr(after.node, "body", []))


def _called_alike(before: Defined, after: Defined) -> bool:
    sides = [item.node for item in (before, after)]
    taken = [parameters(node.args) for node in sides if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return len(taken) == len(sides) and list(taken[0].items()) == list(taken[1].items())


def _calls(caller: Defined, item: Defined) -> bool:
    return caller.name != item.name and caller.names(item.tail)


def _only_renames(before: Defined, after: Defined, renames: Mapping[str, list[str]]) -> bool:
    if not renames or len(before.nodes) != len(after.nodes):
        return False
    text = before.text
    for old in before.identifiers & renames.keys():
        for new in renames[old]:
            text = text.replace(f"'{old}'", f"'{new}'")
    return text == after.text


def _without_members(items: Sequence[Defined]) -> list[Defined]:
    classes = {item.name for item in items if item.kind == "class"}
    return [item for item in items if item.owner not in classes]


def _listed(items: Iterable[Defined]) -> str:
    names = list(dict.fromkeys(item.name for item in items))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
