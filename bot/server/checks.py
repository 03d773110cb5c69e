"""What makes a request a delivery of GitHub's: its headers, its signature, its JSON; and why any other is none.

The order of checks is the order of cost. GitHub shows a refusal's body in the App's "Recent deliveries", so each says
what is wrong, where and how to mend it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from bot.engine.port import Delivery, StoreError
from bot.server.signature import Secrets

Keep = Callable[[str, bytes], bytes | None]
"""What of this event's body is worth keeping, None where nothing is. Reads all of it: raises msgspec.DecodeError or
RecursionError where it is no JSON object."""

# GitHub caps payloads at 25 MB and does not deliver larger ones.
LARGEST_BODY = 25 * 1024 * 1024
# GitHub's deepest payload nests some ten levels; a later reader with a deeper stack must not be the one to fail.
DEEPEST_NESTING = 64
# What can keep a store from storing. GitHub's log then shows 503, and the redelivery of what failed brings it again.
UNAVAILABLE: tuple[type[Exception], ...] = (OSError, StoreError)

_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_GUID = re.compile(r"[0-9A-Za-z-]{1,64}")
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_whole = msgspec.json.Decoder().decode


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is not a delivery; `sentence` is for whoever reads GitHub's delivery log."""

    status: int
    sentence: str


NOT_STORED = Refusal(
    503, "perf-gate could not store the delivery; redeliver it once its disk or database is well again."
)
BROKEN_OFF = Refusal(400, "The body broke off or was not sent as its headers say; send it again.")
TOO_LARGE = Refusal(413, f"The body is larger than {LARGEST_BODY} bytes, which GitHub never sends; nothing was read.")
ENCODED = Refusal(415, "The body has a Content-Encoding; send it as it was signed.")
NOT_JSON = Refusal(
    415, "The Content-Type is not application/json in UTF-8; choose application/json in the App's webhook settings."
)
_NO_EVENT = Refusal(400, "The X-GitHub-Event header is missing or no event's name; is this request from GitHub?")
_NO_GUID = Refusal(400, "The X-GitHub-Delivery header is missing or no GUID; is this request from GitHub?")
NOT_SIGNED = Refusal(
    401,
    "The X-Hub-Signature-256 header is missing or does not match the body; "
    "set the same webhook secret in the App's settings and in perf-gate's PERF_GATE_WEBHOOK_SECRET.",
)
_NO_OBJECT = Refusal(400, "The body is not a JSON object in UTF-8; GitHub sends one for every event.")
_TOO_DEEP = Refusal(400, f"The JSON body nests deeper than {DEEPEST_NESTING} levels; no event of GitHub does.")


def too_slow(seconds: float) -> Refusal:
    return Refusal(408, f"The body did not arrive within {seconds:g} seconds; send it again.")


def bad_names(event: str, guid: str) -> Refusal | None:
    """Of the event's name and the delivery's GUID; "" where the header is missing."""
    if not _EVENT.fullmatch(event):
        return _NO_EVENT
    return None if _GUID.fullmatch(guid) else _NO_GUID


class Checks:
    """What is asked of a request whose headers are good and whose body is there."""

    def __init__(self, secret: bytes | Sequence[bytes], keep: Keep) -> None:
        """ValueError where a secret is empty."""
        self._secrets = Secrets(secret)
        self._keep = keep

    def delivery(self, event: str, guid: str, signature: str | None, body: bytes) -> Delivery | Refusal:
        if not self._secrets.signed(body, signature):
            return NOT_SIGNED
        try:
            # Whoever reads JSON skips what it does not need without looking at its encoding.
            if not body.isascii():
                body.decode()
            kept = self._keep(event, body)
            # Whoever reads it again, from disk, must not fail on it.
            if kept is not None and _deep(kept):
                return _TOO_DEEP
        except _UNREADABLE:
            return _NO_OBJECT
        return Delivery(guid, event, kept)


def _deep(text: bytes) -> bool:
    """Whether containers nest deeper than DEEPEST_NESTING."""
    # Nothing nests deeper than it has opening braces, and GitHub's own are few; those in strings count with them.
    if text.count(b"{") + text.count(b"[") <= DEEPEST_NESTING:
        return False
    level = [_whole(text)]
    for _ in range(DEEPEST_NESTING):
        level = [inner for value in level for inner in _inside(value)]
    return bool(level)


def _inside(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value
    return [item for item in inner if isinstance(item, (dict, list))]
