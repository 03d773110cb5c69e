"""The words of log messages: never their level, their arguments, their place or how often they run."""

from __future__ import annotations

import ast
import re

from bot.assessment.triviality.names import module_bindings
from bot.assessment.triviality.pair import Pair, Side
from bot.assessment.triviality.rule import Rule, on_each_side
from bot.assessment.triviality.source import is_text

LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception"})
_FIELD = re.compile(r"%(?:%|(?:\([^)]*\))?[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?[diouxXeEfFgGcrsa])")
# A filter or handler that looks into the words of a record.
_TEXT_READERS = (
    *("getMessage", "record.msg", "record.message", "assertLogs", "caplog", "logging.Handler", "logging.Filter"),
    *("(Handler)", "(Filter)", "addFilter", ".format(record", "setLogRecordFactory", "setLoggerClass"),
)
# A message is words. Text of this many characters and more is data, and printing it costs something.
MOST_CHARACTERS = 2000


def _blank_texts(side: Side, pair: Pair) -> list[str]:
    if pair.mentions(_TEXT_READERS) or pair.around.mentions(_TEXT_READERS):
        return []
    taken = []
    replaced = _given_attributes(side.tree)
    for node in side.walk():
        if isinstance(node, ast.Call) and _logs(node, side, replaced):
            blank = _blank(node.args[0], interpolated=len(node.args) > 1)
            if blank is not None:
                taken.append(ast.dump(node.args[0]))
                node.args[0] = blank
    return taken


def _logs(call: ast.Call, side: Side, replaced: set[str]) -> bool:
    """`logger.info(message, …)` of a logger of this module, where every argument is plainly written."""
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr in LEVELS
        and isinstance(function.value, ast.Name)
        and bool(call.args)
        and not any(isinstance(argument, ast.Starred) for argument in call.args)
        and not {function.value.id, "logging"} & replaced
        and _is_logger(function.value.id, side)
    )


def _given_attributes(tree: ast.Module) -> set[str]:
    """Names whose attributes the module sets: `logger.info = …` makes a logger of another kind."""
    given = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)]
    return {ast.unparse(one.value).partition(".")[0] for one in given}


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
