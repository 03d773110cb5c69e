"""What makes a request a delivery of GitHub's: its headers, its signature, its JSON; and why any other is none.

The order of checks is the order of cost. GitHub shows a refusal's body in the App's "Recent deliveries", so each says
what is wrong, where and how to mend it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bot.engine.port import Delivery, StoreError
from bot.server.signature import Secrets

Members = Mapping[str, msgspec.Raw]
"""A payload's members by name, each still JSON: reading one costs nothing for the others."""

KeepBody = Callable[[str, Members], bool]
"""Whether the body of this event with these members is worth keeping."""

# GitHub caps payloads at 25 MB and does not deliver larger ones.
LARGEST_BODY = 25 * 1024 * 1024
# GitHub's deepest payload nests some ten levels; a later reader with a deeper stack must not be the one to fail.
DEEPEST_NESTING = 64
# What can keep a store from storing. GitHub's log then shows 503, and the redelivery of what failed brings it again.
UNAVAILABLE: tuple[type[Exception], ...] = (OSError, StoreError)

_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_GUID = re.compile(r"[0-9A-Za-z-]{1,64}")
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_whole = msgspec.json.Decoder().decode
_OPENING = b"{["


@dataclass(frozen=True, slots=True)
class Refusal:
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
_NOT_SIGNED = Refusal(
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

    def __init__(self, secret: bytes | Sequence[bytes], keep_body: KeepBody) -> None:
        """ValueError where a secret is empty."""
        self._secrets = Secrets(secret)
        self._keep_body = keep_body

    def delivery(self, event: str, guid: str, signature: str | None, body: bytes) -> Delivery | Refusal:
        if not self._secrets.signed(body, signature):
            return _NOT_SIGNED
        try:
            # Checks the syntax of all of it without building it, which costs a fraction of parsing.
            body.decode()
            members = _members(body)
            keep = self._keep_body(event, members)
            # Whoever reads a kept body again, from disk, must not fail on it.
            if keep and _deep(members):
                return _TOO_DEEP
        except _UNREADABLE:
            return _NO_OBJECT
        return Delivery(guid, event, body if keep else None)


def _deep(members: Members) -> bool:
    """Whether containers nest deeper than DEEPEST_NESTING; the object around the members is the first level."""
    held = [text for value in members.values() if (text := bytes(value))[0] in _OPENING]
    # Nothing nests deeper than it has opening braces, and GitHub's own are few; those in strings count with them.
    if not any(_many(text, DEEPEST_NESTING - 1) for text in held):
        return False
    level = [_whole(text) for text in held]
    for _ in range(DEEPEST_NESTING - 1):
        level = [inner for value in level for inner in _inside(value)]
    return bool(level)


def _many(text: bytes, most: int) -> bool:
    """Whether more than so many braces and brackets open here."""
    for opening in (b"{", b"["):
        at = text.find(opening)
        while at >= 0 and most >= 0:
            most -= 1
            at = text.find(opening, at + 1)
    return most < 0


def _inside(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value
    return [item for item in inner if isinstance(item, (dict, list))]
