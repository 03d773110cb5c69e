"""A quick way in for deliveries as GitHub sends them; every other request goes, untouched, to the whole HTTP server.

A connection begins here. A request that is plain (see `head`), signed and sound is stored and answered here; the first
one that is not takes its connection along, and is read again from its first byte there. So nothing is refused here but
what does not come, and no rule is written twice. Source: https://docs.python.org/3/library/asyncio-protocol.html
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache, partial
from http import HTTPStatus
from typing import cast

import msgspec

from bot.engine.port import Delivery
from bot.server.checks import NOT_STORED, UNAVAILABLE, Refusal, bad_names, too_slow
from bot.server.crowded import CROWDED
from bot.server.head import ENDING, LARGEST_HEAD, OPENING, Head, plain_head
from bot.server.webhook import ACCEPTED, Door

MOST_AHEAD = 64 * 1024
"""Bytes taken of what a client sends before it has its answer; it then waits for it."""

_FAILED = Refusal(500, "perf-gate met a bug and has not stored the delivery; its log says which.")
_BODIES = {new: msgspec.json.encode({"status": words}) for new, words in ACCEPTED.items()}

Whole = Callable[[], asyncio.Protocol]
"""A protocol of the whole HTTP server, for one connection."""


class Express(asyncio.Protocol):
    """One connection. `all_here`: it is among these for as long as it is served here."""

    def __init__(self, door: Door, whole: Whole, all_here: set[Express], left: Callable[[], None]) -> None:
        self._door = door
        self._whole = whole
        self._all_here = all_here
        self._left = left
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._pieces: list[bytes] = []
        self._size = 0
        self._head: Head | None = None
        self._needed = 0
        self._busy = False
        self._stays = True
        self._said_all = False
        self._full = False
        self._paused = False
        self._slow: asyncio.TimerHandle | None = None
        self._waits_since = self.heard_at = time.monotonic()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A listening socket's is one, though uvloop's own class does not say so.
        self._transport = cast(asyncio.Transport, transport)
        self._all_here.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._leave()

    def data_received(self, data: bytes) -> None:
        self.heard_at = time.monotonic()
        self._pieces.append(data)
        self._size += len(data)
        if self._busy:
            self._pause()
        else:
            self._read()

    def eof_received(self) -> bool:
        """Who has said all may still listen for the answer."""
        self._said_all = True
        return self._busy

    def pause_writing(self) -> None:
        """Whoever does not read answers is not listened to."""
        self._full = True
        self._pause()

    def resume_writing(self) -> None:
        self._full = False
        self._pause()

    # What the server calls.

    def end(self) -> None:
        """After the answer that is on its way, if one is."""
        self._stays = False
        if not self._busy and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """At once."""
        if self._transport is not None:
            self._transport.abort()

    def make_room(self) -> None:
        """For others: its client sends too slowly."""
        self._turn_away(CROWDED)

    @property
    def idle(self) -> bool:
        return not self._busy and not self._pieces

    @property
    def waits_since(self) -> float | None:
        """By `time.monotonic`: when a request began whose rest has not come yet; None where none has."""
        return None if self._slow is None else self._waits_since

    @property
    def held(self) -> int:
        """Bytes of what its client sent that are kept here."""
        return self._size

    @property
    def ending(self) -> bool:
        """Closed here, but not gone: its client has not taken the answers."""
        return self._transport is not None and self._transport.is_closing()

    # The request.

    def _read(self) -> None:
        """Go on with what has come so far."""
        if self._head is None:
            text = self._joined()
            if not text.startswith(OPENING[: len(text)]):
                return self._hand_over()
            end = text.find(ENDING)
            if end < 0:
                return self._hand_over() if len(text) > LARGEST_HEAD else self._wait()
            self._head = plain_head(text[: end + len(ENDING)])
            if self._head is None or bad_names(self._head.event, self._head.guid) is not None:
                return self._hand_over()
            self._needed = end + len(ENDING) + self._head.length
        if self._size < self._needed:
            return self._wait()
        return self._take(self._head)

    def _take(self, head: Head) -> None:
        """The request is whole."""
        text = self._joined()
        body = text[self._needed - head.length : self._needed]
        checked = self._door.checks.delivery(head.event, head.guid, head.signature, body)
        if isinstance(checked, Refusal):
            return self._hand_over()
        self._wait_no_more()
        self._stays = self._stays and head.stays
        self._head = None
        self._keep(text[self._needed :])
        self._busy = True
        return self._door.take(checked, partial(self._stored, checked))

    def _stored(self, delivery: Delivery, known: bool | Exception) -> None:
        self._busy = False
        if isinstance(known, Exception):
            self._door.heard.not_stored(delivery, known)
            self._refuse(NOT_STORED if isinstance(known, UNAVAILABLE) else _FAILED)
        else:
            self._answer(HTTPStatus.ACCEPTED, _BODIES[known])
            self._door.heard.accepted(delivery, known)
        self._go_on()

    def _go_on(self) -> None:
        if self._transport is None:
            return
        if not self._stays:
            self._transport.close()
            return
        if self._pieces:
            self._read()
        elif self._said_all:
            self._transport.close()
        # Only now: with what came ahead still to be stored, each answer would let more in than it took away.
        self._pause()

    def _pause(self) -> None:
        """Hear the client, or do not, as there is room for what it says."""
        pause = self._full or (self._busy and self._size > MOST_AHEAD)
        if pause == self._paused or self._transport is None or self._transport.is_closing():
            return
        self._paused = pause
        if pause:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _refuse(self, refusal: Refusal) -> None:
        self._answer(HTTPStatus(refusal.status), msgspec.json.encode({"error": refusal.sentence}))

    def _answer(self, status: HTTPStatus, body: bytes) -> None:
        if self._transport is not None:
            self._transport.write(_heading(status, len(body), self._stays, int(time.time())) + body)

    # Waiting, and handing over.

    def _wait(self) -> None:
        if self._said_all:
            self.abort()
        elif self._slow is None:
            self._waits_since = time.monotonic()
            self._slow = self._loop.call_later(self._door.patience.total_seconds(), self._too_slow)

    def _wait_no_more(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _too_slow(self) -> None:
        self._turn_away(too_slow(self._door.patience.total_seconds()))

    def _turn_away(self, refusal: Refusal) -> None:
        self._wait_no_more()
        self._door.heard.refused(refusal)
        self._stays = False
        self._refuse(refusal)
        self._go_on()

    def _hand_over(self) -> None:
        transport, self._transport = self._transport, None
        if transport is None:
            return
        self._leave()
        whole = self._whole()
        transport.set_protocol(whole)
        whole.connection_made(transport)
        if self._paused:
            transport.resume_reading()
        whole.data_received(self._joined())
        if self._said_all:
            whole.eof_received()

    def _leave(self) -> None:
        self._wait_no_more()
        self._all_here.discard(self)
        self._left()

    def _joined(self) -> bytes:
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0] if self._pieces else b""

    def _keep(self, text: bytes) -> None:
        self._pieces, self._size = ([text], len(text)) if text else ([], 0)


@lru_cache(maxsize=16)
def _heading(status: HTTPStatus, length: int, stays: bool, second: int) -> bytes:
    """The answer's head, which is the same for a second."""
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: application/json; charset=utf-8",
        f"Content-Length: {length}",
        f"Date: {formatdate(second, usegmt=True)}",
        *([] if stays else ["Connection: close"]),
    ]
    return "\r\n".join(lines).encode() + ENDING
