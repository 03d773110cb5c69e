"""What the health endpoints say in every kind of trouble, and that `/readyz` is 503 only where runs do not go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from bot.engine.port import OnlyRead, StoreError
from bot.engine.views import Counts
from bot.server.health import LATELY, LEAST_ROUND, WAITS_TOO_LONG, Signs, healthz, readiness
from bot.server.heard import Lately

NOW = datetime(2026, 6, 20, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
WELL = Counts(None, 0, 0, 0)
SEEN = Signs(NOW - timedelta(days=1), NOW - 20 * SECOND, timedelta(minutes=5), True, NOW - 21 * SECOND)


@dataclass
class Patient:
    """An engine and its process, in whatever state a test puts them."""

    running: bool = True
    found: Counts = WELL
    seen: Signs = SEEN
    trouble: StoreError | None = None
    url: str = field(default="", init=False)

    async def counts(self) -> Counts:
        if self.trouble is not None:
            raise self.trouble
        return self.found

    async def asked(self, path: str) -> tuple[int, dict[str, Any]]:
        app = web.Application()
        app.router.add_get("/healthz", healthz)
        app.router.add_get("/readyz", readiness(self, lambda: self.seen, lambda: NOW))
        server = TestServer(app)
        await server.start_server()
        try:
            async with ClientSession() as session, session.get(server.make_url(path)) as response:
                return response.status, await response.json()
        finally:
            await server.close()


async def test_a_bot_that_is_well() -> None:
    assert await Patient().asked("/readyz") == (
        200,
        {
            "status": "ready",
            "why": [],
            "engine_runs": True,
            "oldest_unhandled_delivery_seconds": None,
            "dead": {"deliveries": 0, "effects": 0, "events": 0},
            "last_delivery_stored_seconds_ago": None,
            "missed_webhooks_asked_for_seconds_ago": 21,
            "last_recovery_round_seconds_ago": 20,
            "sandbox_holds": True,
            "up_seconds": 86400,
        },
    )


NOT_STORED = (
    "the latest delivery could not be stored; make room on the disk, or bring the database back: the log says which"
)
NOT_SIGNED = (
    "deliveries are refused for their signature, and GitHub signed none of those that came lately; where 401 is what "
    "GitHub shows in the App's Recent deliveries, set the same webhook secret there and in PERF_GATE_WEBHOOK_SECRET"
)


def heard(**seconds_ago: float) -> Callable[[Patient], None]:
    """By the door: what is named happened last so many seconds ago."""
    moments = {what: NOW - ago * SECOND for what, ago in seconds_ago.items()}
    return lambda patient: setattr(patient, "seen", replace(SEEN, door=Lately(**moments)))


ILLNESSES: dict[str, tuple[Callable[[Patient], None], str]] = {
    "the loop ended": (lambda p: setattr(p, "running", False), "the engine's loop does not run"),
    "deliveries lie": (
        lambda p: setattr(p, "found", replace(WELL, oldest_waiting=NOW - WAITS_TOO_LONG - SECOND)),
        "a delivery waits for 61 s to be handled",
    ),
    "no rounds": (
        lambda p: setattr(p, "seen", replace(SEEN, round_ended=NOW - LEAST_ROUND - SECOND)),
        "no round of recovery has ended for 900 s",
    ),
    "never a round": (
        lambda p: setattr(p, "seen", replace(SEEN, round_ended=None)),
        "no round of recovery has ended for 900 s",
    ),
    "no cage": (
        lambda p: setattr(p, "seen", replace(SEEN, sandbox_holds=False)),
        "the sandbox does not hold, so no preflight and no ferry will run; the log says why",
    ),
    "untested cage": (lambda p: setattr(p, "seen", replace(SEEN, sandbox_holds=None)), "the sandbox is being tested"),
    "never stored": (heard(signed=30, not_stored=30), NOT_STORED),
    "no longer stored": (heard(signed=30, stored=40, not_stored=30), NOT_STORED),
    "never signed": (heard(not_signed=30), NOT_SIGNED),
    "another secret by now": (heard(signed=LATELY.total_seconds(), stored=900, not_signed=30), NOT_SIGNED),
}


@pytest.mark.parametrize("name", ILLNESSES)
async def test_an_illness_is_named_and_is_503_but_the_process_still_serves(name: str) -> None:
    patient = Patient()
    infect, sentence = ILLNESSES[name]
    infect(patient)
    status, body = await patient.asked("/readyz")
    assert (status, body["status"], body["why"]) == (503, "not ready", [sentence])
    assert await patient.asked("/healthz") == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "door",
    [
        heard(signed=29, stored=29, not_stored=30),
        heard(signed=20, not_stored=LATELY.total_seconds()),
        heard(signed=599, stored=599, not_signed=30),
        heard(signed=10, stored=10, not_signed=LATELY.total_seconds()),
        heard(not_signed=LATELY.total_seconds()),
    ],
    ids=[
        "stored since",
        "long ago",
        "a stranger's beside GitHub's own",
        "a stranger's before",
        "a stranger's long ago",
    ],
)
async def test_a_refusal_that_passed_or_is_a_strangers_leaves_the_bot_ready(door: Callable[[Patient], None]) -> None:
    patient = Patient()
    door(patient)
    status, body = await patient.asked("/readyz")
    assert (status, body["why"]) == (200, [])


async def test_who_could_not_be_stored_was_signed() -> None:
    patient = Patient()
    heard(signed=30, not_stored=30, not_signed=20)(patient)
    assert (await patient.asked("/readyz"))[1]["why"] == [NOT_STORED]


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (StoreError("disk gone", transient=True), "the state cannot be read; the log says why"),
        (
            OnlyRead("disk full", transient=True),
            "nothing can be stored any more, though the state can be read; make room on the disk, or make it writable: "
            "the log says why",
        ),
    ],
)
async def test_a_store_that_cannot_be_read_or_written_is_not_ready(
    trouble: StoreError, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    status, body = await Patient(trouble=trouble).asked("/readyz")
    assert (status, body) == (503, {"status": "not ready", "why": [sentence]})
    (told,) = [record for record in caplog.records if record.name == "bot.server.health"]
    assert sentence.startswith(told.getMessage())
    assert told.why == str(trouble)  # type: ignore[attr-defined]


async def test_what_is_dead_or_just_waits_is_told_and_takes_nobody_out_of_rotation() -> None:
    status, body = await Patient(found=Counts(NOW - 30 * SECOND, 1, 2, 3)).asked("/readyz")
    assert (status, body["status"]) == (200, "ready")
    assert body["dead"] == {"deliveries": 1, "effects": 2, "events": 3}
    assert body["oldest_unhandled_delivery_seconds"] == 30


async def test_a_bot_that_just_started_has_time_for_its_first_round() -> None:
    status, _ = await Patient(seen=replace(SEEN, started=NOW, round_ended=None)).asked("/readyz")
    assert status == 200
