"""Imports of standard library modules that do nothing but define names, and imports for type checkers only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise

from bot.assessment.triviality.index import Index
from bot.assessment.triviality.names import bound_here, module_bindings
from bot.assessment.triviality.pair import Pair, Side, Surroundings
from bot.assessment.triviality.rule import Rule, on_each_side

# Importing these, in any order, only defines names. Left out: whatever starts, patches, registers or reads settings.
_PURE = """
abc argparse array ast asyncio atexit base64 bisect bz2 codecs collections concurrent configparser contextlib
contextvars copy csv dataclasses datetime decimal difflib email enum errno fcntl fnmatch fractions functools gc
getpass glob graphlib gzip hashlib heapq hmac html http importlib inspect io ipaddress itertools json keyword
linecache logging lzma math mmap multiprocessing numbers operator os pathlib pickle platform posixpath pprint queue
random re reprlib resource sched secrets select selectors shlex shutil signal socket sqlite3 ssl stat statistics
string struct subprocess sys tarfile tempfile textwrap threading time timeit tomllib traceback tracemalloc types
typing unicodedata urllib uuid warnings weakref xml zipfile zlib zoneinfo
"""
PURE = frozenset(_PURE.split())
_WORD = re.compile(r"\w+")


def is_pure(statement: ast.stmt) -> bool:
    """An import of nothing but such modules, by plain names."""
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] in PURE for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        known = statement.level == 0 and statement.module is not None and statement.module.partition(".")[0] in PURE
        return known and all(alias.name != "*" for alias in statement.names)
    return False


def _order(side: Side, pair: Pair) -> list[str]:
    """Cut runs of such imports into one statement a name, sorted; everything else stays where it is."""
    ordered: list[ast.stmt] = []
    run: list[ast.stmt] = []
    written: list[str] = []
    for statement in [*side.tree.body, None]:
        if statement is not None and is_pure(statement):
            run.append(statement)
            written.append(ast.unparse(statement))
            continue
        ordered += _sorted(run)
        run = []
        if statement is not None:
            ordered.append(statement)
    side.tree.body = ordered
    return written


def _sorted(run: list[ast.stmt]) -> list[ast.stmt]:
    single = {ast.dump(one): (binds, one) for statement in run for binds, one in _cut(statement)}
    sources: dict[str, set[str]] = {}
    for binds, one in single.values():
        # `import os` and `import os.path` bind one name to one module; any other double binding depends on order.
        plain = isinstance(one, ast.Import) and one.names[0].asname is None
        sources.setdefault(binds, set()).add("" if plain else ast.dump(one))
    if any(len(found) > 1 for found in sources.values()):
        return run
    return [single[key][1] for key in sorted(single)]


def _cut(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    assert isinstance(statement, ast.Import | ast.ImportFrom)  # noqa: S101 — `is_pure` chose them
    for alias in statement.names:
        asname = None if alias.asname == alias.name and "." not in alias.name else alias.asname
        one = ast.alias(alias.name, asname)
        if isinstance(statement, ast.Import):
            yield asname or alias.name.partition(".")[0], ast.Import([one])
        else:
            yield asname or alias.name, ast.ImportFrom(statement.module, [one], 0)


def _drop_unused(pair: Pair) -> bool:
    """After `_order` each such import binds one name. Adding one is always idle; removing one needs the package."""
    taken: list[list[str]] = []
    reached: set[str] | None = None
    if any(is_pure(statement) for statement in pair.base.touched):
        reached = _reached_from_outside(pair.around) if pair.around.known else None
    for number, side in enumerate(pair.sides):
        other = {ast.dump(one) for one in pair.sides[1 - number].touched if is_pure(one)}
        mine: list[str] = []
        for statement in list(side.touched):
            if not (is_pure(statement) and isinstance(statement, ast.Import | ast.ImportFrom)):
                continue
            alias = statement.names[0]
            name = alias.asname or alias.name.partition(".")[0]
            only_here = ast.dump(statement) not in other
            removed = side is pair.base and only_here
            if not removed and only_here and not _comes_unseen(statement, pair.around):
                continue
            if removed and (reached is None or name in reached or _loads_for_others(statement, pair.around)):
                continue
            if not _used(name, side.tree):
                mine.append(name)
                side.drop(statement)
        taken.append(mine)
    return taken[0] != taken[1]


def _loads_for_others(statement: ast.Import | ast.ImportFrom, around: Surroundings) -> bool:
    """`import concurrent.futures` also makes `concurrent.futures` work wherever only `concurrent` is imported."""
    alias = statement.names[0].name
    path = alias if isinstance(statement, ast.Import) else f"{statement.module}.{alias}"
    steps = set(pairwise(path.split(".")))
    return around.facts is None or any(steps & facts.asked for facts in around.facts)


def _comes_unseen(statement: ast.Import | ast.ImportFrom, around: Surroundings) -> bool:
    """Will a new import succeed, and does no other file get the name it brings?"""
    if around.path.endswith("__init__.py") or _reached_by_star(around):
        return False
    alias = statement.names[0].name
    module = alias if isinstance(statement, ast.Import) else str(statement.module)
    try:
        found = import_module(module)
    except ImportError:
        return False
    return isinstance(statement, ast.Import) or hasattr(found, alias)


def _reached_by_star(around: Surroundings) -> bool:
    return around.facts is None or any(name == "*" for _, name in around.index.asked_of.get(around.stem, ()))


def _used(name: str, tree: ast.Module) -> bool:
    """Does the module itself use or rebind the name, in any role or as a word in a string?"""
    bound = 0
    for node in ast.walk(tree):
        bound += bound_here(node).count(name)
        if isinstance(node, ast.Name) and node.id == name:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and name in _WORD.findall(node.value):
            return True
        if isinstance(node, ast.Constant) and node.value == name:
            return True
        if isinstance(node, ast.Name) and node.id in {"globals", "vars", "eval", "exec", "dir", "locals"}:
            return True
    return bound != 1


def _reached_from_outside(around: Surroundings) -> set[str] | None:
    """Names that other files may read off this module. None when that cannot be told."""
    module, index = around.stem, around.index
    # What a package's own file imports is there for users of the package.
    if module == "__init__" or around.facts is None or module in index.once("renamed", lambda: _renamed(index)):
        return None
    # The module itself as a value: whoever has it may ask it for any name.
    if index.once("handed", lambda: _handed(index)).get(module, set()) - {around.path}:
        return None
    told = (*index.asked_of.get(module, ()), *index.steps_of.get(module, ()))
    found = {name for path, name in told if path != around.path}
    return None if "*" in found else found


def _handed(index: Index) -> dict[str, set[str]]:
    """What is imported and used as a value → the files that do."""
    found: dict[str, set[str]] = {}
    for path, _, facts in index.read:
        for name in facts.handed & {name for _, name in facts.imported} if facts is not None else ():
            found.setdefault(name, set()).add(path)
    return found


def _renamed(index: Index) -> set[str]:
    """What any file imports under another name."""
    return {name for facts in index.facts or () for name in facts.renamed}


def _drop_type_checking(side: Side, pair: Pair) -> list[str]:
    found = module_bindings(side.tree).get("TYPE_CHECKING")
    from_typing = isinstance(found, ast.ImportFrom) and found.module == "typing"
    genuine = from_typing and side.bound("TYPE_CHECKING") == 1
    taken = []
    for statement in list(side.touched) if genuine else []:
        if isinstance(statement, ast.If) and _imports_alone(statement):
            taken.append(ast.dump(statement))
            side.drop(statement)
    return taken


def _imports_alone(block: ast.If) -> bool:
    """`if TYPE_CHECKING:` and imports: what it would bind does not exist at run time, so nothing can depend on it."""
    return (
        isinstance(block.test, ast.Name)
        and block.test.id == "TYPE_CHECKING"
        and not block.orelse
        and all(isinstance(one, ast.Import | ast.ImportFrom) for one in block.body)
    )


IMPORT_ORDER = Rule(
    "import order",
    "neighbouring imports of standard library modules that only define names bind the same names in any order",
    on_each_side(_order),
)
UNUSED_IMPORTS = Rule(
    "unused imports",
    "such a module is loaded anyway or only defines names, and nothing in the module or the package uses this name",
    _drop_unused,
)
TYPE_CHECKING_IMPORTS = Rule(
    "type-checking imports",
    "TYPE_CHECKING of the typing module is False at run time: the block never runs",
    on_each_side(_drop_type_checking),
)
