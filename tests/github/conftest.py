"""A GitHub adapter in front of a scripted service, with a clock that the test moves and no waits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.github.adapter import GitHub
from bot.github.names import RepoRef
from tests.github.service import Service, reply

REPO = RepoRef(42, "acme/widgets")
APP_ID = 7
TOKEN_PATH = "/app/installations/42/access_tokens"


@dataclass
class Now:
    """The time, moved by hand; `waits` are what the bot asked to sleep, in seconds, and passes at once."""

    at: datetime = datetime(2026, 8, 3, 9, 0, tzinfo=UTC)
    waits: list[float] = field(default_factory=list)

    def __call__(self) -> datetime:
        return self.at

    def pass_(self, **how_long: float) -> None:
        self.at += timedelta(**how_long)

    async def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.pass_(seconds=seconds)


@pytest.fixture(scope="session")
def private_key_pem() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


@pytest.fixture
def now() -> Now:
    return Now()


def token_answer(now: Now, called: str = "ghs_7_first") -> dict[str, str]:
    expires = now.at + timedelta(hours=1)
    return {"token": called, "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}


@pytest.fixture
async def service(now: Now) -> AsyncIterator[Service]:
    """Plans tokens and the App's identity; a request beyond the test's plan fails it."""
    service = Service()
    await service.start()
    service.on("POST", TOKEN_PATH, reply(token_answer(now), 201))
    service.on("GET", "/app", reply({"id": APP_ID, "slug": "perf-gate", "name": "perf-gate"}))
    yield service
    await service.stop()
    assert not service.unplanned


@pytest.fixture
async def gh(service: Service, now: Now, private_key_pem: str) -> AsyncIterator[GitHub]:
    async with GitHub.open(
        service.url, str(APP_ID), private_key_pem, now, write_spacing=timedelta(0), wait=now.wait
    ) as gh:
        yield gh
