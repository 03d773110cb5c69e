"""Is a change proven to mean nothing at run time? Proof is equality after sound normalisations; doubt is "no".

A file that is new, deleted, renamed, binary, not UTF-8, not parsable or of an unknown kind is never trivial: even an
empty new `shuffle/__init__.py` would hide `shuffle.py`.
"""

from __future__ import annotations

import tomllib

import msgspec

from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.triviality.annotations import ANNOTATIONS
from bot.assessment.triviality.apart import apart
from bot.assessment.triviality.deadcode import DEAD_CODE, may_hold_dead_code
from bot.assessment.triviality.docstrings import DOCSTRINGS, IDLE_STATEMENTS
from bot.assessment.triviality.imports import IMPORT_ORDER, TYPE_CHECKING_IMPORTS, UNUSED_IMPORTS, is_pure
from bot.assessment.triviality.index import Index
from bot.assessment.triviality.locals import LOCAL_NAMES
from bot.assessment.triviality.logtext import LOG_TEXT
from bot.assessment.triviality.pair import Pair, Side, align, drop_written_alike, surroundings
from bot.assessment.triviality.privates import PRIVATE_NAMES
from bot.assessment.triviality.source import UNPARSABLE, compiles, parse, parsed_or_raise, unreadable
from bot.assessment.triviality.strings import STRING_JOINS

# In this order: what is later may rely on what is earlier, such as a message without pieces or a module without hints.
RULES = (
    DOCSTRINGS,
    IDLE_STATEMENTS,
    STRING_JOINS,
    LOG_TEXT,
    ANNOTATIONS,
    DEAD_CODE,
    TYPE_CHECKING_IMPORTS,
    UNUSED_IMPORTS,
    PRIVATE_NAMES,
    LOCAL_NAMES,
)
FORMATTING = "formatting and comments"
NOTHING_KNOWN = PackageView({}, {})
# A program that reads its own source text sees comments and formatting.
SOURCE_READERS = (
    *("getsource", "linecache", "co_firstlineno", "f_lineno", "tb_lineno", "co_lnotab", "findsource", "get_source"),
    *(".lineno", "extract_stack", "inspect.stack", "__code__"),
)
# Elsewhere in the package such a reader may look at this file too.
SOURCE_READERS_IN_PACKAGE = (
    *("getsource", "findsource", "co_firstlineno", "co_code", "get_source", "f_lineno", ".lineno", "extract_stack"),
    *("inspect.stack", ".__file__"),
)
# A file that opens itself, such as for a fingerprint; and one that opens another's source as a resource.
_OPENS_ITSELF = (("__file__",), ("read_text", "read_bytes", "open(", "st_mtime", "getmtime"))
_OPENS_SOURCES = (("get_data(", "importlib.resources", "importlib_resources"), ('.py"', ".py'"))


class Proof(msgspec.Struct, frozen=True):
    """`trivial` and in one phrase why, or why it could not be shown. `rules` names the normalisations that it took."""

    trivial: bool
    why: str
    rules: tuple[str, ...] = ()


def prove(change: FileChange, package: PackageView | None = None, index: Index | None = None) -> Proof:
    """Decide one file. Total: never raises on any bytes. Without `package` nothing outside the file is assumed.

    Whoever proves many files of one package gives the same `index` of it each time.
    """
    if obstacle := _obstacle(change):
        return Proof(False, obstacle)
    base, head = change.base or b"", change.head or b""
    if change.path.endswith(".toml"):
        return _prove_toml(base, head)
    if not change.path.endswith(".py"):
        return Proof(False, "neither Python nor TOML")
    try:
        view = package or NOTHING_KNOWN
        return _prove_python(change.path, base, head, view, index or Index(view.base, view.head))
    # Trees that parse may still be too deep for the rules.
    # ValueError: a number of more digits than the interpreter writes out.
    except (RecursionError, MemoryError, ValueError) as error:
        return Proof(False, f"too deep or too long to compare: {type(error).__name__}")


def _obstacle(change: FileChange) -> str | None:
    """What makes a comparison of contents meaningless, before looking at any."""
    stories: dict[str, str] = {
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


def _prove_python(path: str, base: bytes, head: bytes, package: PackageView, index: Index) -> Proof:
    trees = []
    for side, data in (("base", base), ("head", head)):
        try:
            trees.append(parsed_or_raise(data))
        except UNPARSABLE as error:
            return Proof(False, unreadable(side, error))
    around = surroundings(path, base, head, package, index)
    shared = Pair(Side(trees[0], base), Side(trees[1], head), around)
    if (
        shared.mentions(SOURCE_READERS)
        or around.mentions(SOURCE_READERS_IN_PACKAGE)
        or all(shared.mentions(words) for words in _OPENS_ITSELF)
        or all(around.mentions(words) for words in _OPENS_SOURCES)
    ):
        return Proof(False, "source text or line numbers are read at run time, so even formatting counts")
    drop_written_alike(shared)
    if apart(shared) and not may_hold_dead_code(shared):
        return Proof(False, "the syntax trees differ")
    # Rules change trees: from here on the proof has its own.
    pair = Pair(Side(parse(base), base), Side(parse(head), head), around)
    align(pair)
    applied = []
    if any(is_pure(statement) for side in pair.sides for statement in side.touched):
        applied += [IMPORT_ORDER.name] if IMPORT_ORDER.apply(pair) else []
        align(pair)
    for rule in RULES:
        if not (pair.base.touched or pair.head.touched):
            break
        if rule.apply(pair):
            applied.append(rule.name)
            # What is equal now needs no later rule to be named.
            if pair.equal():
                break
    if not pair.equal():
        return Proof(False, "the syntax trees differ")
    # What parses may still be refused as a whole, such as a `__future__` import that is no longer the first.
    if not compiles(head):
        return Proof(False, "the head parses and does not compile")
    if not applied:
        return Proof(True, "equal syntax trees without comments and formatting", (FORMATTING,))
    return Proof(True, f"equal syntax trees apart from {', '.join(applied)}", tuple(applied))


def _prove_toml(base: bytes, head: bytes) -> Proof:
    try:
        # repr keeps apart what == does not: 1, 1.0 and true.
        equal = repr(tomllib.loads(base.decode())) == repr(tomllib.loads(head.decode()))
    except (ValueError, RecursionError) as error:
        return Proof(False, f"does not parse: {type(error).__name__}")
    return Proof(True, "equal TOML values", (FORMATTING,)) if equal else Proof(False, "the TOML values differ")
