"""What the log tells of the door: each delivery by its GUID; those that were stored together share a line."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import msgspec

from bot.engine.port import Delivery
from bot.server.checks import NOT_SIGNED, Refusal

_log = logging.getLogger("bot.server.webhook")


PAUSE = 0.02
"""Seconds between two lines of a crowd: a line costs as much as half a delivery, one more GUID next to nothing."""


class Lately(msgspec.Struct, frozen=True):
    """When the last one came that GitHub `signed`; that was `stored`, for the first time; that was named as GitHub's
    are but `not_signed` with our secret; that was signed and could be `not_stored`. None where none did."""

    signed: datetime | None = None
    stored: datetime | None = None
    not_signed: datetime | None = None
    not_stored: datetime | None = None


class Heard:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._signed: datetime | None = None
        self._stored: datetime | None = None
        self._not_signed: datetime | None = None
        self._not_stored: datetime | None = None
        self._accepted: list[tuple[Delivery, bool]] = []
        self._told_at = float("-inf")

    @property
    def lately(self) -> Lately:
        return Lately(self._signed, self._stored, self._not_signed, self._not_stored)

    def accepted(self, delivery: Delivery, new: bool) -> None:
        """Told after the answers to all that came with it; in a crowd with those that come within the pause."""
        self._signed = self._now()
        if new:
            self._stored = self._signed
        self._accepted.append((delivery, new))
        if len(self._accepted) == 1:
            self._tell_soon()

    def refused(self, refusal: Refusal) -> None:
        if refusal is NOT_SIGNED:
            self._not_signed = self._now()
        _log.warning("delivery refused", extra={"status": refusal.status, "why": refusal.sentence})

    def not_stored(self, delivery: Delivery, error: BaseException) -> None:
        self._signed = self._not_stored = self._now()
        why = str(error) or type(error).__name__
        details = {"delivery": delivery.guid, "github_event": delivery.event, "why": why}
        _log.error("delivery not stored", extra=details, exc_info=error)

    def _tell_soon(self) -> None:
        loop = asyncio.get_running_loop()
        since = loop.time() - self._told_at
        if since >= PAUSE:
            loop.call_soon(self.tell)
        else:
            loop.call_later(PAUSE - since, self.tell)

    def tell(self) -> None:
        """What was not told yet, at once."""
        told, self._accepted = self._accepted, []
        if not told:
            return
        self._told_at = asyncio.get_running_loop().time()
        if len(told) == 1:
            ((delivery, new),) = told
            ids = {"delivery": delivery.guid, "github_event": delivery.event, "new": new}
            _log.info("delivery accepted", extra=ids)
            return
        lists = {
            "deliveries": [delivery.guid for delivery, _ in told],
            "github_events": Counter(delivery.event for delivery, _ in told),
            "seen_before": [delivery.guid for delivery, new in told if not new],
        }
        _log.info("deliveries accepted", extra=lists)
