"""The words of log messages: never their level, their arguments, their place or how often they run."""

from __future__ import annotations

import ast
import re

from bot.assessment.triviality.facts import Facts, facts_of
from bot.assessment.triviality.names import module_bindings
from bot.assessment.triviality.pair import Pair, Side, Surroundings
from bot.assessment.triviality.rule import Rule, on_each_side
from bot.assessment.triviality.source import is_text

LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception"})
_FIELD = re.compile(r"%(?:%|(?:\([^)]*\))?[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?[diouxXeEfFgGcrsa])")
# A filter or handler that looks into the words of a record.
_TEXT_READERS = (
    *("getMessage", "record.msg", "record.message", "assertLogs", "caplog", "logging.Handler", "logging.Filter"),
    *("(Handler)", "(Filter)", "addFilter", ".format(record", "setLogRecordFactory", "setLoggerClass"),
)
_HANDLERS = ("Handler", "Filter", "Formatter", "LoggerAdapter")
# A message is words. Text of this many characters and more is data, and printing it costs something.
MOST_CHARACTERS = 2000


def _blank_texts(side: Side, pair: Pair) -> list[str]:
    around = pair.around
    if pair.mentions(_TEXT_READERS) or around.mentions(_TEXT_READERS) or around.any_facts(_looks_at_records):
        return []
    taken = []
    for node in side.walk():
        if isinstance(node, ast.Call) and _logs(node, side, around):
            blank = _blank(node.args[0], interpolated=len(node.args) > 1)
            if blank is not None:
                taken.append(ast.dump(node.args[0]))
                node.args[0] = blank
    return taken


def _looks_at_records(facts: Facts) -> bool:
    """A class that handles records, their words by name, or another method for every logger of the process."""
    bases = [base for one in facts.classes for base in one.bases]
    if any(base.endswith(_HANDLERS) and not base.endswith("RequestHandler") for base in bases):
        return True
    by_name = any(name == "msg" for _, name in facts.asked)
    return by_name or "logging" in facts.values or not facts.given.isdisjoint(("logging", "Logger"))


def _logs(call: ast.Call, side: Side, around: Surroundings) -> bool:
    """`logger.info(message, …)` of a logger of this module, where every argument is plainly written."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in LEVELS
        and isinstance(function.value, ast.Name)
        and bool(call.args)
        and not any(isinstance(argument, ast.Starred) for argument in call.args)
        and _is_logger(function.value.id, side)
        and not _replaced(function.value.id, side, around)
    )


def _replaced(name: str, side: Side, around: Surroundings) -> bool:
    """May this logger have other methods? It is given some, or is in the hands of another function or module."""
    facts = facts_of(side.text)
    if facts is None or name in facts.given or name in facts.values:
        return True
    index = around.index
    told = (*index.asked_of.get(around.stem, ()), *index.steps_of.get(around.stem, ()))
    return any(other == name and path != around.path for path, other in told)


def _is_logger(name: str, side: Side) -> bool:
    """Does this name mean a logger of the standard library in every scope of the module?"""
    bound = module_bindings(side.tree)
    origin, made = bound.get("logging"), bound.get(name)
    return (
        isinstance(origin, ast.Import)
        and any(alias.name == "logging" and alias.asname is None for alias in origin.names)
        and isinstance(made, ast.Assign)
        and isinstance(made.value, ast.Call)
        and ast.unparse(made.value.func) == "logging.getLogger"
        and side.bound("logging") == 1
        and side.bound(name) == 1
    )


def _blank(message: ast.expr, interpolated: bool) -> ast.expr | None:
    """The message without its words: the values it formats remain, in order, each with its format."""
    if isinstance(message, ast.Constant) and isinstance(message.value, str):
        fields = _fields(message.value) if interpolated else []
        if fields is None or len(message.value) > MOST_CHARACTERS:
            return None
        return ast.Tuple([ast.Constant(field) for field in fields], ast.Load())
    if isinstance(message, ast.JoinedStr):
        words = [str(part.value) for part in message.values if isinstance(part, ast.Constant)]
        # With further arguments the finished text is a format, and a value may itself hold a percent sign.
        if interpolated or sum(map(len, words)) > MOST_CHARACTERS:
            return None
        return ast.JoinedStr([part for part in message.values if not is_text(part)])
    return None


def _fields(text: str) -> list[str] | None:
    """The % fields in order. None where a percent sign is no field: such a text fails to format."""
    if "%" in _FIELD.sub("", text):
        return None
    return [found for found in _FIELD.findall(text) if found != "%%"]


LOG_TEXT = Rule(
    "log text",
    "words of a message reach only people; level, arguments, fields and the place of the call stay compared",
    on_each_side(_blank_texts),
)
