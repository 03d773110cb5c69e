"""Whether the process serves (`/healthz`) and whether its work gets done (`/readyz`).

`/healthz` is for whoever routes requests and restarts processes. It asks nothing of disk or GitHub: a delivery that is
accepted while something else is in trouble is kept and handled later, one that is turned away must be missed first.
`/readyz` is for whoever watches. It answers 503 where runs do not go on and a human must look now; what was given up
(dead) is told, but is no 503: one poisonous delivery must not take the bot out of anybody's rotation.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec
from aiohttp import web

from bot.engine.port import OnlyRead, StoreError
from bot.engine.views import Counts
from bot.server.heard import Lately

WAITS_TOO_LONG = timedelta(minutes=1)
"""A delivery is handled within milliseconds, or tried five times within half a minute and then given up."""

ROUNDS_MISSED = 3
"""A round may be slow, and one may meet GitHub in trouble; after three nobody looks for missed webhooks any more."""

LEAST_ROUND = timedelta(minutes=15)
"""A round over hundreds of live runs keeps GitHub's limits, and so takes minutes."""

LATELY = timedelta(minutes=10)
"""How long a delivery that was turned away counts."""

NOTHING_HEARD = Lately()

_NOT_READ = ("the state cannot be read", "; the log says why")
_ONLY_READ = (
    "nothing can be stored any more, though the state can be read",
    "; make room on the disk, or make it writable: the log says why",
)

_log = logging.getLogger(__name__)


class Watched(Protocol):
    """What is asked of the engine."""

    @property
    def running(self) -> bool: ...
    async def counts(self) -> Counts: ...


class Signs(msgspec.Struct, frozen=True):
    """What else there is to know. `round_ended`: of the last round of recovery, None before the first; `asked_at`: when
    GitHub last told it which webhooks it could not deliver, None while it never did.

    `sandbox_holds`: None while it is being tested. `door`: what was heard there last.
    """

    started: datetime
    round_ended: datetime | None
    round_every: timedelta
    sandbox_holds: bool | None
    asked_at: datetime | None = None
    door: Lately = NOTHING_HEARD


def readiness(
    engine: Watched, signs: Callable[[], Signs], now: Callable[[], datetime]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """The handler of `GET /readyz`."""

    async def readyz(_request: web.Request) -> web.Response:
        try:
            counts = await engine.counts()
        except StoreError as error:
            trouble, remedy = _ONLY_READ if isinstance(error, OnlyRead) else _NOT_READ
            _log.error(trouble, extra={"why": str(error)})
            return web.json_response({"status": "not ready", "why": [trouble + remedy]}, status=503)
        seen = signs()
        why = list(_reasons(engine.running, counts, seen, now()))
        body = {"status": "not ready" if why else "ready", "why": why, **_told(engine.running, counts, seen, now())}
        return web.json_response(body, status=503 if why else 200)

    return readyz


def _reasons(running: bool, counts: Counts, seen: Signs, now: datetime) -> Iterator[str]:
    if not running:
        yield "the engine's loop does not run"
    if counts.oldest_waiting is not None and now - counts.oldest_waiting > WAITS_TOO_LONG:
        yield f"a delivery waits for {_seconds(now - counts.oldest_waiting)} s to be handled"
    patience = max(ROUNDS_MISSED * seen.round_every, LEAST_ROUND)
    if now - (seen.round_ended or seen.started) > patience:
        yield f"no round of recovery has ended for {_seconds(patience)} s"
    if seen.sandbox_holds is None:
        yield "the sandbox is being tested"
    elif not seen.sandbox_holds:
        # Anybody may ask this door: the reason, with its paths, is in the log.
        yield "the sandbox does not hold, so no preflight and no ferry will run; the log says why"
    yield from _turned_away(seen.door, now)


def _turned_away(door: Lately, now: datetime) -> Iterator[str]:
    """What GitHub sends and is not taken.

    Only GitHub knows the secret: one signed delivery that is not stored is enough, until one is stored. A wrong
    signature is a stranger's wherever GitHub's own came within the same minutes. For a bot that hears little it can
    be either. That is told, too: nobody else would notice another secret before a reviewer waits in vain. A stranger
    who knows GitHub's headers can so raise an alarm, for minutes, and nothing is turned away for it.
    """
    if _since(door.not_stored, now - LATELY) and not _since(door.stored, door.not_stored):
        yield (
            "the latest delivery could not be stored; make room on the disk, or bring the database back: "
            "the log says which"
        )
    if _since(door.not_signed, now - LATELY) and not _since(door.signed, now - LATELY):
        yield (
            "deliveries are refused for their signature, and GitHub signed none of those that came lately; where 401 "
            "is what GitHub shows in the App's Recent deliveries, set the same webhook secret there and in "
            "PERF_GATE_WEBHOOK_SECRET"
        )


def _since(moment: datetime | None, then: datetime | None) -> bool:
    """Whether it was, and after that."""
    return moment is not None and (then is None or moment > then)


def _told(running: bool, counts: Counts, seen: Signs, now: datetime) -> dict[str, Any]:
    oldest, ended, stored = counts.oldest_waiting, seen.round_ended, seen.door.stored
    return {
        "engine_runs": running,
        "oldest_unhandled_delivery_seconds": None if oldest is None else _seconds(now - oldest),
        "dead": {
            "deliveries": counts.dead_deliveries,
            "effects": counts.dead_effects,
            "events": counts.dead_events,
        },
        "last_delivery_stored_seconds_ago": None if stored is None else _seconds(now - stored),
        "missed_webhooks_asked_for_seconds_ago": None if seen.asked_at is None else _seconds(now - seen.asked_at),
        "last_recovery_round_seconds_ago": None if ended is None else _seconds(now - ended),
        "sandbox_holds": seen.sandbox_holds,
        "up_seconds": _seconds(now - seen.started),
    }


def _seconds(span: timedelta) -> int:
    return max(0, int(span.total_seconds()))


async def healthz(_request: web.Request) -> web.Response:
    """`GET /healthz`: the process answers. True under load and in any trouble that is not its own."""
    return web.json_response({"status": "ok"})
