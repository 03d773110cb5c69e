"""Log lines with the ids of their request: JSON for machines, one readable line for a terminal, both redacted."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from datetime import UTC, datetime

from bot.redaction import RedactingFilter

# What every LogRecord has; the rest of its dictionary is what the caller passed as `extra`.
_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **extras(record),
        }
        if record.exc_text:  # rendered and redacted by the filter
            line["error"] = record.exc_text
        return json.dumps(line, default=str, ensure_ascii=False)


class Readable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        ids = " ".join(f"{name}={value}" for name, value in extras(record).items())
        line = f"{at} {record.levelname[:4].lower()} {record.name}: {record.getMessage()} {ids}".rstrip()
        return f"{line}\n{record.exc_text}" if record.exc_text else line


def extras(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD}


def set_up(log_format: str, secrets: Iterable[str] = ()) -> None:
    """Send all logging to standard error in `log_format` (json or text), without `secrets`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else Readable())
    handler.addFilter(RedactingFilter(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # One line per request of every library would drown what happened.
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
