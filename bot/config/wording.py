"""What a wrong value is told: the validator's findings as sentences for people who never heard of the validator."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

# The patterns of the schema and the settings, as words.
_FORMS = {
    r"^[A-Za-z0-9-]+$": "letters, digits and hyphens only, without the @",
    r"^[a-z0-9_-]+$": "small letters, digits, - and _ only",
    r"^[a-z0-9-]+$": "small letters, digits and hyphens only",
    r"^[A-Z_][A-Z0-9_]*$": "the name of an environment variable, in capitals",
    r"^\d+(\.\d+)?[KMGT]B?$": 'a size, such as "512M" or "8GB"',
    r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$": "a Python module, such as experiments.ferries.datakit_ferry",
    r"^[A-Za-z0-9_][A-Za-z0-9._-]*$": "a plain name: letters, digits, dots, - and _",
    "^(json|text)$": "json or text",
    r"^(https://[A-Za-z0-9.-]+(:\d{1,5})?(/[\w./+-]*)?)?$": "a plain address such as https://pypi.org/simple",
}
_KINDS = {
    "int": "a whole number",
    "decimal": "a number",
    "float": "a number",
    "bool": "true or false",
    "string": "a text, in quotes",
    "dict": "a table",
    "model": "a table",
}


def problem(item: Any) -> str:
    """One of pydantic's `errors()` in plain words, without a full stop."""
    kind, limits = str(item["type"]), item.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return f"must be {_FORMS.get(limits['pattern'], 'of the form ' + limits['pattern'])}, not {shown(item)}"
    if kind == "literal_error":
        return f"must be {_plain_choice(limits['expected'])}, not {shown(item)}"
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        return f"must be {_bound(limits)}, not {shown(item)}"
    if kind == "string_too_short" or (kind == "too_short" and not item["input"]):
        return "must not be empty"
    if kind == "string_too_long":
        return f"must have at most {limits['max_length']} characters"
    if kind == "tuple_type":
        return f"a list is expected, in brackets, not {shown(item)}"
    if kind == "missing":
        return "this key is required"
    if (expected := _KINDS.get(kind.partition("_")[0])) is not None:
        return f"must be {expected}, not {shown(item)}"
    return str(item["msg"]).removeprefix("Value error, ").rstrip(".")


def shown(item: Any) -> str:
    """The value that was given, short enough for a line."""
    value = item["input"]
    # Configuration's fractions are decimals, so that a limit is exactly what was written.
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def no_such_gate(written: object, gates: Iterable[object]) -> str:
    """A gate outside of the ladder, whether a table or the ladder names it."""
    return f"there is no gate {written}; the gates are {_plain_choice(', '.join(map(str, gates)), 'and')}"


def meant(written: str, names: Iterable[str]) -> str:
    """The name that was probably meant, or an empty string."""
    close = get_close_matches(written, list(names), n=1, cutoff=0.7)
    return close[0] if close else ""


def _plain_choice(expected: str, last: str = "or") -> str:
    names = expected.replace(" or ", ", ").replace("'", "").split(", ")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _bound(limits: Any) -> str:
    for key, words in (("gt", "above"), ("ge", "at least"), ("lt", "below"), ("le", "at most")):
        if key in limits:
            return f"{words} {limits[key]:g}"
    raise AssertionError("a bound without its limit")
