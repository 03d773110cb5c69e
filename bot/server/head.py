"""A request's head, read where it is as plain as GitHub's are; whatever is not is left to a whole HTTP server.

What could be read in two ways (a length twice, a length and a transfer encoding, another version) is never plain: only
one reader decides where such a request ends, so nobody can smuggle another one past the other.
"""

from __future__ import annotations

import httptools
import msgspec

OPENING = b"POST /webhook HTTP/1.1\r\n"
ENDING = b"\r\n\r\n"
LARGEST_HEAD = 8 * 1024
"""Proxies add their own headers to GitHub's ten."""
LARGEST_PLAIN_BODY = 1024 * 1024
"""Bodies are held in memory until they are whole; larger ones are read by whoever counts them as they come."""

_NOT_PLAIN = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"content-encoding", b"trailer"})
_JSON = frozenset({b"application/json", b"application/json; charset=utf-8"})


class Head(msgspec.Struct, frozen=True):
    """`length` of the body in bytes; `stays`: the connection is kept for another request."""

    event: str
    guid: str
    signature: str
    length: int
    stays: bool


class _Fields:
    """Takes the parser's calls."""

    __slots__ = ("by_name", "twice", "whole")

    def __init__(self) -> None:
        self.by_name: dict[bytes, bytes] = {}
        self.twice = False
        self.whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self.twice = self.twice or name in self.by_name
        self.by_name[name] = value

    def on_headers_complete(self) -> None:
        self.whole = True


def plain_head(text: bytes) -> Head | None:
    """The head from its opening to its ending; None where it is not a plain one of a delivery."""
    fields = _Fields()
    parser = httptools.HttpRequestParser(fields)
    try:
        parser.feed_data(text)
    except httptools.HttpParserError:
        return None
    found = fields.by_name
    if fields.twice or not fields.whole or not _NOT_PLAIN.isdisjoint(found):
        return None
    length = found.get(b"content-length", b"")
    # isdigit knows only ASCII in bytes; a longer number is no length of a plain body.
    if not length.isdigit() or len(length) > 7 or int(length) > LARGEST_PLAIN_BODY:
        return None
    if found.get(b"content-type", b"").lower() not in _JSON:
        return None
    try:
        event, guid = found[b"x-github-event"].decode("ascii"), found[b"x-github-delivery"].decode("ascii")
        signature = found[b"x-hub-signature-256"].decode("ascii")
    except (KeyError, UnicodeDecodeError):
        return None
    return Head(event, guid, signature, int(length), parser.should_keep_alive())
