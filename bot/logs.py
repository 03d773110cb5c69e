"""Log lines with the ids of their request: JSON for machines, one readable line for a terminal, both redacted.

structlog draws the lines and carries the ids; the standard library's logging stays the way in, and the handler made
here, with its redacting filter, the one way out.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bot.redaction import RedactingFilter

if TYPE_CHECKING:
    from structlog.typing import EventDict, WrappedLogger


@contextmanager
def _without_rich() -> Iterator[None]:
    """structlog takes rich along where it is installed, for tracebacks that are not wanted here: a third of a start."""
    if "rich" in sys.modules:
        yield
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # what an import then takes for not installed
    try:
        yield
    finally:
        del sys.modules["rich"]


with _without_rich():
    from structlog.contextvars import bound_contextvars, get_contextvars
    from structlog.dev import ConsoleRenderer, plain_traceback
    from structlog.processors import JSONRenderer
    from structlog.stdlib import ExtraAdder, ProcessorFormatter


@contextmanager
def ids(**known: str | int | None) -> Iterator[None]:
    """Every line that is logged within, also by libraries and by tasks begun there, carries these, but no empty one."""
    with bound_contextvars(**{name: value for name, value in known.items() if value not in (None, "")}):
        yield


class IdsOfTheContext(logging.Filter):
    """Puts the ids on the record, before the redacting filter sees it. What a line says itself comes first."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in get_contextvars().items():
            record.__dict__.setdefault(name, value)
        return True


def _sentence(record: logging.LogRecord) -> dict[str, str]:
    """What the line says: a field that is called `event` too would take its place."""
    return {"event": record.getMessage()}


def json_lines() -> logging.Formatter:
    """One JSON object a line."""

    def line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        record: logging.LogRecord = event["_record"]
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname.lower(), "logger": record.name, **event, **_sentence(record)}
        # Rendered and redacted by the filter.
        return told | {"error": record.exc_text} if record.exc_text else told

    # What a value cannot say in JSON it says in words: no line may fail.
    renderer = JSONRenderer(serializer=json.dumps, default=str, ensure_ascii=False)
    # What is taken from the record is taken before the formatter clears it of its traceback.
    return ProcessorFormatter(
        foreign_pre_chain=[ExtraAdder(), line], processors=[ProcessorFormatter.remove_processors_meta, renderer]
    )


def readable(*, colours: bool = False) -> logging.Formatter:
    """One line for a person, and a traceback beneath it where there is one."""

    def line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        record: logging.LogRecord = event["_record"]
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        told = {**event, "timestamp": at, "level": record.levelname.lower(), "logger": record.name, **_sentence(record)}
        return told | {"exception": record.exc_text} if record.exc_text else told

    renderer = ConsoleRenderer(colors=colours, exception_formatter=plain_traceback, pad_event_to=40)
    # What is taken from the record is taken before the formatter clears it of its traceback.
    return ProcessorFormatter(
        foreign_pre_chain=[ExtraAdder(), line], processors=[ProcessorFormatter.remove_processors_meta, renderer]
    )


def set_up(log_format: str | None, secrets: Iterable[str] = ()) -> None:
    """Send all logging to standard error in `log_format` (json or text), without `secrets`. None: text where a person
    reads it at a terminal, else json."""
    log_format = log_format or ("text" if sys.stderr.isatty() else "json")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(json_lines() if log_format == "json" else readable(colours=sys.stderr.isatty()))
    handler.addFilter(IdsOfTheContext())
    handler.addFilter(RedactingFilter(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # One line per request of every library would drown what happened.
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
