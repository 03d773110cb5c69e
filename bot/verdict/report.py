"""The perf report as upstream's `collect_perf_metrics.py` writes it: what is accepted, and how it is read without loss.

Numbers are JSON numbers kept as `Decimal`: finite, not negative, not booleans, not strings, and between 1E-1000 and
1E+1000, far outside what other readers of JSON take for finite. A count may be written 3 or 3.0, and is not refused for
being a fraction: no rule needs it whole. Null means missing, for containers and for values
in them. Unknown keys are ignored; every known field must have its type, also those that no rule reads, since a report
that is wrong in one place was not written by the collector. Run ids and attempts may be numbers: GitHub's are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

Json = Any
"""A parsed JSON value, numbers as Decimal (int and float are accepted too)."""

WHOLE_REPORT: Final = "report"

_MOST_POWER: Final = 1000
"""The power of ten beyond which exact arithmetic on a short literal could need unbounded memory."""


class BadReport(msgspec.Struct, frozen=True):
    """Why a report cannot be used. `field` is a dotted path such as `stage_wall_seconds.minhash`; `problem` completes
    the sentence "<field> …"."""

    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.field} {self.problem}"


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "the boolean true" if value else "the boolean false"
        case str():
            return f"the string {shown(value)}"
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return f"the number {printable(str(_as_decimal(value)))}"


def printable(value: str, limit: int = 80) -> str:
    """A string out of a report, shortened; control characters in it cannot act on a terminal."""
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in value[: limit + 1])
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown(value: str) -> str:
    """The same, quoted for a sentence."""
    return f'"{printable(value)}"'


def _wrong(value: Any, expected: str) -> PydanticCustomError:
    return PydanticCustomError(
        "wrong_type", "is {found}; expected {expected}", {"found": _kind(value), "expected": expected}
    )


def _as_decimal(value: Any) -> Any:
    """An int or float as the Decimal of its shortest text. An int goes straight: its text may be refused for length."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return Decimal(value) if isinstance(value, int) else Decimal(str(value))


def _number(value: Any) -> Decimal | None:
    if value is None:
        return None
    number = _as_decimal(value)
    if not isinstance(number, Decimal) or not number.is_finite() or number < 0:
        raise _wrong(value, "a finite number that is not negative")
    if not number:
        return Decimal(0)
    if abs(number.adjusted()) > _MOST_POWER:
        raise _wrong(value, f"a number between 1E-{_MOST_POWER} and 1E+{_MOST_POWER}")
    return number


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _wrong(value, "a string")


def _identifier(value: Any) -> str | None:
    if isinstance(value, str) or value is None:
        return value
    if (number := _number(value)) is None or number.adjusted() > 30:
        raise _wrong(value, "a string or a number")
    return f"{number:f}"


def _map(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value
    raise _wrong(value, "an object whose values are numbers or null")


def _strings(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise _wrong(value, "a list of strings")
    for item in value:
        if not isinstance(item, str):
            raise PydanticCustomError("wrong_item", "holds {found}; expected only strings", {"found": _kind(item)})
    return tuple(value)


Number = Annotated[Decimal | None, PlainValidator(_number)]
Text = Annotated[str | None, PlainValidator(_text)]
Identifier = Annotated[str | None, PlainValidator(_identifier)]
Strings = Annotated[tuple[str, ...], PlainValidator(_strings)]
Numbers = Annotated[dict[str, Number], BeforeValidator(lambda value: {} if value is None else _map(value))]
OptionalNumbers = Annotated[
    dict[str, Number] | None, BeforeValidator(lambda value: None if value is None else _map(value))
]


class PerfReport(BaseModel):
    """One ferry's report. None (or an empty container) where the report lacks the field or has null there."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    iris_job_id: Text = None
    status: Text = None
    marin_prefix: Text = None
    wall_seconds_total: Number = None
    stage_wall_seconds: Numbers = {}
    sum_task_wall_seconds_total: Number = None
    stage_sum_task_wall_seconds: Numbers = {}
    cached_steps: Strings = ()
    ooms: Number = None
    failed_shards: Number = None
    peak_worker_memory_mb: Number = None
    preemption_count: Number = None
    failure_count: Number = None
    task_state_counts: Numbers = {}
    tree_job_count: Number = None
    infra_failures: OptionalNumbers = None
    workflow_run_id: Identifier = None
    workflow_run_attempt: Identifier = None
    workflow_name: Text = None
    commit_sha: Text = None
    collected_at_utc: Text = None
    ferry_module: Text = None
    wandb_url: Text = None
    warnings: Strings = ()


def validate_report(value: Json) -> PerfReport | tuple[BadReport, ...]:
    """Check a parsed report; every wrong field at once."""
    if not isinstance(value, Mapping):
        return (BadReport(WHOLE_REPORT, f"is {_kind(value)}; expected a JSON object"),)
    try:
        return PerfReport.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return tuple(BadReport(_path(item["loc"]), item["msg"]) for item in found)


def parse_report(data: bytes | str) -> PerfReport | BadReport:
    """Read a report's JSON text; the first thing wrong with it where it cannot be used."""
    try:
        result = validate_report(parse_json(data))
    except ValueError as error:
        return BadReport(WHOLE_REPORT, str(error))
    return result if isinstance(result, PerfReport) else result[0]


def parse_json(data: bytes | str) -> Json:
    """Parse JSON with exact numbers. Raises ValueError with a sentence that begins "is not" and says where.

    NaN and the infinities, which Python's writer emits, become Decimals that no field accepts, so that it is named.
    """
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        value = json.loads(text, parse_float=_decimal, parse_int=Decimal, parse_constant=Decimal)
        return _without_surrogates(value) if "\\ud" in text or "\\uD" in text else value
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text: byte {error.start + 1} cannot be read") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("is not JSON that can be read: it is nested too deeply") from None


def _decimal(literal: str) -> Decimal:
    try:
        return Decimal(literal)
    except InvalidOperation:  # an exponent of more than 18 digits
        return Decimal("NaN")


# A lone surrogate is legal in JSON but not in UTF-8: written out again, it would end the process.
_SURROGATE = re.compile("[\ud800-\udfff]")


def _without_surrogates(value: Json) -> Json:
    match value:
        case str():
            return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case list():
            return [_without_surrogates(item) for item in value]
        case _:
            return value


def _path(loc: tuple[int | str, ...]) -> str:
    first, *rest = (str(part) for part in loc)
    return ".".join([first, *(printable(part) for part in rest)])
