"""A well-behaved client of the simulated GitHub, and a listener that remembers every delivery."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import aiohttp
import jwt
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from yarl import URL

from simulator.simulator import Simulator
from simulator.state import App, Installation

Json = dict[str, Any]
HEADERS = {
    "Accept": "application/vnd.github+json",
    "User-Agent": "perf-gate-tests",
    "X-GitHub-Api-Version": "2022-11-28",
}


@functools.cache
def key_pair() -> tuple[str, str]:
    """An App's private and public key, PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    """Names in any letter case."""
    body: Any
    links: dict[str, str]


@dataclass
class Received:
    headers: dict[str, str]
    body: bytes


@dataclass
class Listener:
    """An App's webhook door; `answers` are the next statuses it gives, then 202. It answers while it is `willing`."""

    received: list[Received] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    url: str = ""
    willing: asyncio.Event = field(default_factory=asyncio.Event)
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        self.willing.set()
        app = web.Application()
        app.router.add_post("/webhook", self._receive)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/webhook"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _receive(self, request: web.Request) -> web.Response:
        self.received.append(Received(dict(request.headers), await request.read()))
        await self.willing.wait()
        return web.Response(status=self.answers.pop(0) if self.answers else 202)

    def events(self, *names: str) -> list[tuple[str, Json]]:
        """(event.action, payload) of what came, of the events named."""
        found = []
        for one in self.received:
            payload = json.loads(one.body)
            event = one.headers["X-GitHub-Event"]
            if not names or event in names:
                found.append((f"{event}.{payload['action']}" if "action" in payload else event, payload))
        return found


class AppClient:
    """Speaks to the API as the App (`jwt=True`) or as its installation."""

    def __init__(self, sim: Simulator, app: App, installation: Installation, private_key: str) -> None:
        self.sim = sim
        self.app = app
        self.installation = installation
        self.private_key = private_key
        self.token = ""
        self.session = aiohttp.ClientSession()

    async def __aenter__(self) -> Self:
        answer = await self.post(f"/app/installations/{self.installation.id}/access_tokens", jwt=True)
        self.token = answer.body["token"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.session.close()

    def sign(self, **changes: Any) -> str:
        """The App's JWT; `changes` break a claim."""
        now = self.sim.world.clock.now()
        claims = {"iss": str(self.app.id), "iat": now - timedelta(seconds=60), "exp": now + timedelta(minutes=9)}
        return jwt.encode({**claims, **changes}, self.private_key, algorithm="RS256")

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        jwt: bool = False,
        authorization: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """`path` as it goes over the wire (already percent-encoded), or a whole address. Follows no redirect."""
        credential = authorization or f"Bearer {self.sign() if jwt else self.token}"
        address = path if path.startswith("http") else self.sim.api_url + path
        async with self.session.request(
            method,
            URL(address, encoded=True),
            json=body,
            headers={**HEADERS, "Authorization": credential, **(headers or {})},
            allow_redirects=False,
        ) as response:
            data = await response.read()
            is_json = response.content_type == "application/json"
            links = {name: str(link["url"]) for name, link in response.links.items()}
            return Answer(response.status, response.headers, await response.json() if is_json and data else data, links)

    async def get(self, path: str, **options: Any) -> Answer:
        return await self.request("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self.request("POST", path, body, **options)
