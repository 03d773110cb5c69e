"""Reading a repository's configuration: TOML over the built-in Zephyr ladder, with errors that say where and what.

The merge is table by table: a key that the repository sets replaces the built-in one, lists are replaced whole.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, get_args

import msgspec
from pydantic import BaseModel, ValidationError

from bot.config.schema import GateNumber, RepositoryConfig
from bot.config.wording import meant, no_such_gate, problem

CONFIG_PATH = ".github/perf-gate.toml"
_HEADER = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_.\"'-]+)\s*=")


class ConfigError(msgspec.Struct, frozen=True):
    """One thing wrong in a configuration file. `line` counts from 1; None where no single line is to blame."""

    file: str
    line: int | None
    key: str
    problem: str
    allowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        hint = f" Allowed keys here: {', '.join(self.allowed)}." if self.allowed else ""
        problem = self.problem if self.problem.endswith("?") else f"{self.problem}."
        return f"{where}: {self.key}: {problem}{hint}" if self.key else f"{where}: {problem}{hint}"


class BadConfig(Exception):
    """Every error of one file at once."""

    def __init__(self, errors: tuple[ConfigError, ...]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = errors


@cache
def builtin() -> dict[str, Any]:
    """The built-in Zephyr ladder as parsed TOML."""
    return _parse(files("bot.config").joinpath("zephyr.toml").read_text("utf-8"), "zephyr.toml")


def builtin_config() -> RepositoryConfig:
    """What holds for a repository without a file of its own."""
    return load_repository_config("", CONFIG_PATH)


def load_repository_config(text: str, file: str = CONFIG_PATH) -> RepositoryConfig:
    """Parse and check one file's text over the built-in ladder. Raises BadConfig."""
    own = _parse(text, file)
    try:
        return RepositoryConfig.model_validate(_merge(builtin(), own))
    except ValidationError as error:
        found = [_explain(item, text, file) for item in _telling(error.errors())]
        # In the order of the file, as it is mended from top to bottom.
        raise BadConfig(tuple(sorted(found, key=lambda one: one.line or 0))) from None


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"\(at line (\d+)", str(error))
        # Without a number the error is "at end of document".
        line = int(match[1]) if match else max(1, len(text.splitlines()))
        problem = re.sub(r" \(at .*\)$", "", str(error))
        raise BadConfig((ConfigError(file, line, "", f"not valid TOML: {problem}"),)) from None


def _merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _telling(errors: Iterable[Any]) -> Iterator[Any]:
    """Without what only follows: the keys that the table of a gate lacks, where there is no such gate; the length of a
    list whose items are wrong."""
    listed = [item for item in errors if item["type"] != "too_short" or not item["input"]]
    absent = {item["loc"][:2] for item in listed if _is_no_gate(item)}
    yield from (item for item in listed if _is_no_gate(item) or item["loc"][:2] not in absent)


def _is_no_gate(item: Any) -> bool:
    return item["type"] == "literal_error" and item["loc"][0] in ("gates", "ladder") and len(item["loc"]) <= 3


def _explain(item: Any, text: str, file: str) -> ConfigError:
    # Pydantic marks the key of a mapping as "[key]" in the path; readers know it without.
    path = tuple(str(part) for part in item["loc"] if part != "[key]")
    allowed: tuple[str, ...] = ()
    message = problem(item)
    if item["type"] == "extra_forbidden":
        allowed = _allowed(path[:-1])
        close = meant(path[-1], allowed)
        message = "unknown key" + (f', did you mean "{close}"?' if close else "")
    elif _is_no_gate(item):
        message = no_such_gate(path[1] if path[0] == "gates" else item["input"], get_args(GateNumber))
    return ConfigError(file, _line_of(path, text), ".".join(path), message, allowed)


def _allowed(path: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of the model at this path."""
    model: type[BaseModel] | None = RepositoryConfig
    for part in path:
        if model is None or part not in model.model_fields:
            continue  # a mapping's own key, such as the 1 of gates.1
        model = _inner_model(model.model_fields[part].annotation)
    return tuple(model.model_fields) if model else ()


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (model := _inner_model(inner)) is not None:
            return model
    return None


def _line_of(path: tuple[str, ...], text: str) -> int | None:
    """The line that sets the longest prefix of `path`: tomllib keeps no positions, so the lines are read again."""
    best, best_length = None, 0
    table: tuple[str, ...] = ()
    rows: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _split(header[1])
            if line.lstrip().startswith("[["):
                rows[table] += 1
                table = (*table, str(rows[table] - 1))
            found = table
        elif key := _KEY.match(line):
            found = (*table, *_split(key[1]))
        else:
            continue
        shared = len(found) if path[: len(found)] == found else 0
        if shared > best_length:
            best, best_length = number, shared
    return best


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
