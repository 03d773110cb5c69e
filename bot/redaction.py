"""What must never be read by anybody: one place that takes credentials out of text before it is logged or stored.

Shapes are recognised by pattern; secrets without a shape of their own (the webhook secret) are given literally.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Mapping

REDACTED = "[redacted]"

# A literal shorter than this would blank out ordinary words.
_SHORTEST_LITERAL = 6

# Each pattern keeps group 1, what makes the line readable, and drops the rest. They are linear: no nested repeats.
_SHAPES = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        # A PEM block, also with escaped line ends, also cut off before its end.
        (r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL),
        # GitHub says to assume no format behind the prefix: `ghs_APPID_JWT` has dots and dashes in it.
        (r"\b((?:gh[a-z]|github_pat)_)[\w.~+/=-]{4,}", 0),
        (r"\b(hf_)[A-Za-z0-9]{8,}", 0),
        (r"\b(ya29\.)[\w-]{8,}", 0),
        (r"\b(bearer\s+)[\w.~+/=-]{4,}", re.IGNORECASE),
        (r"\b(basic\s+)[A-Za-z0-9+/=]{8,}", re.IGNORECASE),
        (r"\b(authorization['\"]?\s*[:=]\s*['\"]?(?:token\s+|bearer\s+|basic\s+)?)[^\s'\",}]+", re.IGNORECASE),
        (r"(://)[^/\s:@'\"]*:[^/\s@'\"]+(?=@)", 0),
        (r"([?&](?:sig|signature|token|access_token|x-amz-signature|x-goog-signature)=)[^&\s'\"]+", re.IGNORECASE),
        (r"\b(eyJ)[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?", 0),
    )
)


# What every shape has somewhere. Most texts have none of it, and then no shape need be tried; words of which a text has
# none are found out many times sooner than a pattern does.
_WORDS = ("private key", "gh", "github_pat_", "hf_", "ya29", "bearer", "basic", "authorization", "://", "?", "&", "eyj")
_MAY_HAVE_SHAPE = re.compile(
    r"PRIVATE KEY|gh[a-z]_|github_pat_|hf_|ya29|bearer|basic|authorization|://|[?&]|eyJ", re.IGNORECASE
).search


def redact(text: str, literals: Iterable[str] = ()) -> str:
    """The text without tokens, keys and signatures, and without any of `literals`."""
    for literal in sorted(literals, key=len, reverse=True):
        if len(literal) >= _SHORTEST_LITERAL:
            text = text.replace(literal, REDACTED)
    # Folded, as the patterns take a letter for all its cases, also for those outside ASCII.
    folded = text.casefold()
    if not any(word in folded for word in _WORDS) or _MAY_HAVE_SHAPE(text) is None:
        return text
    for shape in _SHAPES:
        text = shape.sub(rf"\1{REDACTED}", text)
    return text


class RedactingFilter(logging.Filter):
    """Put on every handler: message, arguments, traceback and extra fields leave redacted.

    On a handler and not on a logger, since a logger's filters do not see what its children pass up.
    """

    def __init__(self, literals: Iterable[str] = ()) -> None:
        super().__init__()
        self._literals = tuple(literals)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(_message(record), self._literals), None
        if record.exc_info:
            # Rendered here, or the formatter would render the exception again, unredacted.
            record.exc_text = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_info = None
        for name, value in list(record.__dict__.items()):
            if name != "msg":
                record.__dict__[name] = self._redacted(value)
        return True

    def _redacted(self, value: object) -> object:
        """Fields that came by `extra`, also where a formatter would only later make text of them."""
        if isinstance(value, str):
            return redact(value, self._literals)
        if isinstance(value, bytes):
            return redact(value.decode("utf-8", "replace"), self._literals)
        if isinstance(value, Mapping):
            return {self._redacted(key): self._redacted(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            if self._harmless(value):
                return list(value)
            return [self._redacted(inner) for inner in value]
        return redact(str(value), self._literals) if isinstance(value, BaseException) else value

    def _harmless(self, values: Collection[object]) -> bool:
        """Whether these are texts of which none has anything to hide: looked at together, many cost little more."""
        try:
            together = "\n".join(values)  # type: ignore[arg-type]  # what is no text raises
        except TypeError:
            return False
        return redact(together, self._literals) == together


def _message(record: logging.LogRecord) -> str:
    """A filter runs in the caller's stead: a line whose arguments do not fit must be logged, not raised there."""
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return f"{record.msg} {record.args}"
