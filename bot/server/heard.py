"""What the log tells of the door: each delivery by its GUID; those that were stored together share a line."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

from bot.engine.port import Delivery

_log = logging.getLogger("bot.server.webhook")


PAUSE = 0.02
"""Seconds between two lines of a crowd: a line costs as much as half a delivery, one more GUID next to nothing."""


class Heard:
    def __init__(self) -> None:
        self._accepted: list[tuple[Delivery, bool]] = []
        self._told_at = float("-inf")

    def accepted(self, delivery: Delivery, new: bool) -> None:
        """Told after the answers to all that came with it; in a crowd with those that come within the pause."""
        if not self._accepted:
            loop = asyncio.get_running_loop()
            since = loop.time() - self._told_at
            if since >= PAUSE:
                loop.call_soon(self.tell)
            else:
                loop.call_later(PAUSE - since, self.tell)
        self._accepted.append((delivery, new))

    def refused(self, status: int, why: str) -> None:
        _log.warning("delivery refused", extra={"status": status, "why": why})

    def not_stored(self, delivery: Delivery, error: BaseException) -> None:
        ids = {"delivery": delivery.guid, "github_event": delivery.event}
        _log.error("delivery not stored", extra=ids, exc_info=error)

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
