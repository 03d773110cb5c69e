"""Webhook deliveries: signed, in order, at most ten seconds each, never repeated unless someone asks; and their log.

docs.github.com "Best practices for using webhooks" and "Handling failed webhook deliveries".
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import aiohttp

from simulator.errors import Refusal
from simulator.state import App, Installation, Repository
from simulator.world import World

Json = dict[str, Any]

LOG_KEPT = timedelta(days=3)
TIME_OUT_SECONDS = 10.0
_CONTENT_TYPES = {"json": "application/json", "form": "application/x-www-form-urlencoded"}
LARGEST_PAYLOAD = 25 * 1024 * 1024


@dataclass(eq=False)
class Delivery:
    """One attempt. `status_code` 0: no answer came. `delivered_at` None: not tried yet."""

    id: int
    guid: str
    app: App
    event: str
    action: str | None
    body: bytes
    installation: Installation | None
    repository: Repository | None
    redelivery: bool = False
    delivered_at: datetime | None = None
    duration: float = 0.0
    status: str = "pending"
    status_code: int = 0

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status_code < 300


@dataclass(eq=False)
class DeliveryFault:
    """The next `times` deliveries (of `event`, where given) are lost on the way, or sent twice."""

    kind: str
    event: str | None
    times: int


class Deliveries:
    """`referee` is asked about every payload before it leaves."""

    def __init__(self, world: World, referee: Callable[[str, Json], None], time_out: float = TIME_OUT_SECONDS) -> None:
        self.log: list[Delivery] = []
        self.faults: list[DeliveryFault] = []
        self._world = world
        self._referee = referee
        self._time_out = aiohttp.ClientTimeout(total=time_out)
        self._waiting: dict[int, deque[Delivery]] = {}
        self._held: list[Delivery] | None = None
        self._workers: dict[int, asyncio.Task[None]] = {}
        self._session: aiohttp.ClientSession | None = None

    async def stop(self) -> None:
        for worker in self._workers.values():
            worker.cancel()
        await asyncio.gather(*self._workers.values(), return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def announce(
        self, installation: Installation, guid: str, event: str, payload: Json, repository: Repository | None
    ) -> None:
        """Queue one event for one installation's App. Nothing happens where its App has no webhook."""
        app = installation.app
        payload = {**payload, "installation": payload.get("installation") or _lite(installation)}
        await self._queue(app, guid, event, payload, installation, repository)

    async def ping(self, app: App) -> None:
        hook = {
            "type": "App",
            "id": app.hook_id,
            "name": "web",
            "active": True,
            "events": list(app.events),
            "config": hook_config(app),
            "updated_at": app.created_at.isoformat(timespec="seconds"),
            "created_at": app.created_at.isoformat(timespec="seconds"),
            "app_id": app.id,
            "deliveries_url": f"{self._world.links.api}/app/hook/deliveries",
        }
        payload = {"zen": "Practicality beats purity.", "hook_id": app.hook_id, "hook": hook}
        await self._queue(app, str(uuid.uuid4()), "ping", payload, None, None)

    async def _queue(
        self,
        app: App,
        guid: str,
        event: str,
        payload: Json,
        installation: Installation | None,
        repository: Repository | None,
    ) -> None:
        if not app.webhook_url:
            return
        self._referee(event, payload)
        body = json.dumps(payload, separators=(",", ":")).encode()
        if len(body) > LARGEST_PAYLOAD:
            return
        action = payload.get("action")
        delivery = Delivery(self._world.next_id(), guid, app, event, action, body, installation, repository)
        await self._send(delivery)

    async def redeliver(self, app: App, delivery_id: int) -> Delivery:
        """Try again with the same GUID. Raises Refusal 404 for a delivery that the log no longer has."""
        known = next((one for one in self.recent(app) if one.id == delivery_id), None)
        if known is None:
            raise Refusal(404, "Not Found")
        again = Delivery(
            self._world.next_id(),
            known.guid,
            app,
            known.event,
            known.action,
            known.body,
            known.installation,
            known.repository,
            redelivery=True,
        )
        await self._send(again)
        return again

    def recent(self, app: App) -> list[Delivery]:
        """Tried in the last three days, newest first."""
        since = self._world.clock.now() - LOG_KEPT
        return [one for one in reversed(self.log) if one.app is app and one.delivered_at and one.delivered_at > since]

    def hold(self) -> None:
        """Keep every delivery back until `release`."""
        if self._held is None:
            self._held = []

    async def release(self, *, reverse: bool = False) -> None:
        """Let the held ones go, in order or the newest first."""
        held, self._held = self._held or [], None
        for delivery in reversed(held) if reverse else held:
            await self._send(delivery)

    @property
    def settled(self) -> bool:
        """Whether every delivery that was sent has been answered (held ones were not sent)."""
        return not any(self._waiting.values())

    async def _send(self, delivery: Delivery) -> None:
        if self._held is not None:
            self._held.append(delivery)
            return
        queue = self._waiting.setdefault(delivery.app.id, deque())
        queue.append(delivery)
        if delivery.app.id not in self._workers:
            self._workers[delivery.app.id] = asyncio.create_task(self._work(queue))
        await self._world.changed()

    async def _work(self, queue: deque[Delivery]) -> None:
        while True:
            await self._world.wait_for(lambda: bool(queue))
            delivery = queue[0]
            fault = self._fault(delivery)
            for _ in range(2 if fault == "duplicate" else 1):
                await self._attempt(delivery, lost=fault == "lose")
            self.log.append(delivery)
            queue.popleft()
            await self._world.changed()

    def _fault(self, delivery: Delivery) -> str | None:
        for fault in self.faults:
            if fault.times > 0 and fault.event in {None, delivery.event}:
                fault.times -= 1
                return fault.kind
        return None

    async def _attempt(self, delivery: Delivery, *, lost: bool) -> None:
        delivery.delivered_at = self._world.clock.now()
        if lost:
            delivery.status, delivery.status_code = "failed to connect to host", 0
            return
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._time_out)
        start = time.monotonic()
        try:
            async with self._session.post(
                delivery.app.webhook_url or "", data=sent(delivery), headers=headers(delivery), allow_redirects=False
            ) as response:
                await response.read()
                delivery.status_code = response.status
                delivery.status = "OK" if delivery.succeeded else f"Invalid HTTP Response: {response.status}"
        except TimeoutError:
            delivery.status, delivery.status_code = "timed out", 0
        except (aiohttp.ClientError, OSError):
            delivery.status, delivery.status_code = "failed to connect to host", 0
        delivery.duration = round(time.monotonic() - start, 3)


def hook_config(app: App) -> Json:
    """As GitHub tells it, to the App too: the secret stays hidden."""
    config = {"content_type": app.content_type, "insecure_ssl": app.insecure_ssl, "secret": "********"}
    return config | ({"url": app.webhook_url} if app.webhook_url else {})


def sent(delivery: Delivery) -> bytes:
    """The bytes that travel, and are signed: in a form the JSON is one field."""
    if delivery.app.content_type == "json":
        return delivery.body
    return urlencode({"payload": delivery.body.decode()}).encode()


def _lite(installation: Installation) -> Json:
    return {"id": installation.id, "node_id": f"MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u{installation.id}"}


def headers(delivery: Delivery) -> dict[str, str]:
    """The headers of docs.github.com "Webhook events and payloads"."""
    return {
        "Accept": "*/*",
        "Content-Type": _CONTENT_TYPES[delivery.app.content_type],
        "User-Agent": "GitHub-Hookshot/5e1f2a7",
        "X-GitHub-Delivery": delivery.guid,
        "X-GitHub-Event": delivery.event,
        "X-GitHub-Hook-ID": str(delivery.app.hook_id),
        "X-GitHub-Hook-Installation-Target-ID": str(delivery.app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature": "sha1="
        + hmac.new(delivery.app.webhook_secret.encode(), sent(delivery), hashlib.sha1).hexdigest(),
        "X-Hub-Signature-256": "sha256=" + signature(delivery.app.webhook_secret, sent(delivery)),
    }


def signature(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
