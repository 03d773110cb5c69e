"""GitHub's own log of what it tried to deliver: it never tries twice by itself, so the bot asks for what it missed.

And where it delivers to: https://docs.github.com/en/rest/apps/webhooks.
"""

from __future__ import annotations

from datetime import datetime

from bot.github.client import Client
from bot.github.model import HookConfig, HookDelivery
from bot.github.names import APP
from bot.github.wire import DeliveryBody, HookConfigBody


class Deliveries:
    """Only the last three days are kept. A redelivery carries the GUID of the delivery it repeats."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def hook(self) -> HookConfig | None:
        """Where the App's webhooks go, as it is set now. None where this GitHub does not say."""
        answer = await self._client.look_up(APP, "/app/hook/config", "learn where its webhooks go")
        if answer is None:
            return None
        body = answer.read(HookConfigBody)
        return HookConfig(body.url, body.content_type, str(body.insecure_ssl) == "0")

    async def since(self, start: datetime) -> list[HookDelivery]:
        """Attempts at or after `start`, latest first, as GitHub lists them."""
        found: list[HookDelivery] = []
        pages = self._client.pages(
            APP, "/app/hook/deliveries{?per_page}", "read the log of webhook deliveries", per_page=100
        )
        async for page in pages:
            for body in page.read(list[DeliveryBody]):
                if body.delivered_at < start:
                    return found
                found.append(
                    HookDelivery(
                        body.id,
                        body.guid,
                        body.delivered_at,
                        body.redelivery,
                        body.event,
                        body.status_code,
                        body.action or "",
                    )
                )
        return found

    async def redeliver(self, delivery_id: int) -> bool:
        """Ask for another attempt. False where GitHub no longer has the delivery."""
        answer = await self._client.write(
            APP,
            "POST",
            "/app/hook/deliveries/{delivery_id}/attempts",
            "ask for a webhook again",
            accepts=frozenset({400, 404, 422}),
            delivery_id=delivery_id,
        )
        return answer.status == 202
