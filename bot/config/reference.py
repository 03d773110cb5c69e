"""Every key of `.github/perf-gate.toml`, told from the schema itself: the reference that cannot drift from the code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bot.config.load import builtin_config
from bot.config.schema import RepositoryConfig

Json = dict[str, Any]

_LONGEST = 90
_HEAD = """# Configuring perf-gate

<!-- Made by `perf-gate config reference`; a test keeps it fresh. -->

What a repository decides stands in `.github/perf-gate.toml` on its default branch, over the built-in Zephyr ladder
([`bot/config/zephyr.toml`](../bot/config/zephyr.toml)). A file names only the keys it changes. Unknown keys and values
that cannot be are refused with their line by `perf-gate config check`; until that is mended the bot says so instead of
running anything. What an operator sets (cluster, credentials, buckets, sandbox) has no key here: see the
[README](../README.md#operators-how-to-deploy).

A duration is a number and a unit: `"90s"`, `"10m"`, `"2.5h"`, `"7d"`. Where the default says *built in*, it stands in
`zephyr.toml`.
"""


def reference() -> str:
    """The whole page, as Markdown."""
    schema = RepositoryConfig.model_json_schema()
    defaults = builtin_config().model_dump(mode="json")
    lines = [_HEAD, "## Top level", "", _prose(schema), "", *_table(schema, schema, defaults)]
    for name, key in schema["properties"].items():
        lines += _section(schema, name, key, defaults.get(name))
    return "\n".join(lines).rstrip() + "\n"


def _section(schema: Json, path: str, key: Json, default: Any) -> Iterator[str]:
    """The tables below a key, where it has some: one, a list of them, or one for each name."""
    target, title, shown = _table_of(key), f"[{path}]", default
    if key.get("type") == "array" and (inner := _table_of(key["items"])):
        target, title, shown = inner, f"[[{path}]]", None
    elif key.get("type") == "object" and (inner := _table_of(key.get("additionalProperties") or {})):
        target, title, shown = inner, f"[{path}.N]", None
    if target is None:
        return
    model = schema["$defs"][target]
    below = title.strip("[]")
    yield from ("", f"## `{title}`", "", _prose(model), "", *_table(schema, model, shown))
    for name, inner_key in model["properties"].items():
        inside = shown.get(name) if isinstance(shown, dict) else None
        yield from _section(schema, f"{below}.{name}", inner_key, inside)


def _table_of(key: Json) -> str | None:
    reference = key.get("$ref") or next((one["$ref"] for one in key.get("allOf", ()) if "$ref" in one), "")
    return str(reference).removeprefix("#/$defs/") or None


def _prose(model: Json) -> str:
    return " ".join(str(model.get("description", "")).split())


def _table(schema: Json, model: Json, defaults: Any) -> Iterator[str]:
    yield "| Key | What it may be | Default |"
    yield "|---|---|---|"
    required = set(model.get("required", ()))
    for name, key in model["properties"].items():
        known = isinstance(defaults, dict) and name in defaults
        value = defaults[name] if known else key.get("default", ...)
        told = "**required**" if name in required and not known else _default(value)
        yield f"| `{name}` | {_kind(schema, key)} | {told} |"


def _default(value: Any) -> str:
    if value is ... or value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= _LONGEST else "*built in*"


def _kind(schema: Json, key: Json) -> str:
    if "const" in key:
        return f"`{json.dumps(key['const'])}`"
    if "enum" in key:
        return ", ".join(f"`{json.dumps(value)}`" for value in key["enum"])
    if "anyOf" in key:
        kinds = [_kind(schema, one) for one in key["anyOf"] if one.get("type") != "null"]
        # A decimal number may also be written as text; one word for it is enough.
        return "number" if "number" in " ".join(kinds) else " or ".join(dict.fromkeys(kinds))
    if _table_of(key):
        return "a table, below"
    match key.get("type"):
        case "array":
            items = key.get("items", {})
            return "tables, below" if _table_of(items) else f"list of {_kind(schema, items)}"
        case "object":
            values = key.get("additionalProperties")
            return (
                "tables by name, below"
                if isinstance(values, dict) and _table_of(values)
                else "table of names and values"
            )
        case "boolean":
            return "`true` or `false`"
        case "integer":
            return "whole number" + (f", at least {key['minimum']}" if "minimum" in key else "")
        case "string":
            return "duration" if key.get("format") == "duration" else "text"
    return str(key.get("type", "value"))
