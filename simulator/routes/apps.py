"""The App itself: who it is, where it is installed, its tokens, its delivery log. All with the App's JWT."""

from __future__ import annotations

from typing import Any

from simulator.auth import mint_token, suspended
from simulator.call import Call, Reply
from simulator.clock import stamp
from simulator.deliveries import Deliveries, Delivery, hook_config
from simulator.errors import Refusal, not_found
from simulator.paging import link, per_page
from simulator.payloads import app as app_payload
from simulator.payloads import installation as installation_payload
from simulator.payloads import repository as repository_payload
from simulator.state import App, Installation, Repository

Json = dict[str, Any]


def calling_app(call: Call) -> App:
    """The App of the JWT. Raises Refusal 401 for any other caller."""
    if call.caller.app is None:
        raise Refusal(401, "A JSON web token could not be decoded")
    return call.caller.app


async def get_app(call: Call) -> Reply:
    app = calling_app(call)
    count = sum(installation.app is app for installation in call.world.installations.values())
    return Reply(200, {**app_payload(call.world, app), "installations_count": count})


async def get_hook_config(call: Call) -> Reply:
    return Reply(200, hook_config(calling_app(call)))


async def get_repository_installation(call: Call) -> Reply:
    app = calling_app(call)
    try:
        repository = call.world.repository(f"{call.params['owner']}/{call.params['repo']}")
    except LookupError:
        raise not_found() from None
    for installation in call.world.installations_of(repository):
        if installation.app is app:
            return Reply(200, installation_payload(call.world, installation))
    raise not_found()


async def create_token(call: Call) -> Reply:
    app = calling_app(call)
    installation = call.world.installations.get(call.number("installation_id"))
    if installation is None or installation.app is not app:
        raise not_found()
    if installation.suspended_at is not None:
        raise suspended()
    wish: Json = call.body or {}
    repositories = _narrowed(installation, wish)
    permissions = _granted(installation, wish.get("permissions"))
    token = mint_token(call.world, installation, permissions, repositories)
    body: Json = {
        "token": token.value,
        "expires_at": stamp(token.expires_at),
        "permissions": permissions,
        "repository_selection": "selected",
    }
    if wish.keys() & {"repositories", "repository_ids"}:
        body["repositories"] = [repository_payload(call.world, repository) for repository in repositories]
    return Reply(201, body)


def _narrowed(installation: Installation, wish: Json) -> list[Repository]:
    if not wish.keys() & {"repositories", "repository_ids"}:
        return installation.repositories
    names, ids = set(wish.get("repositories", [])), set(wish.get("repository_ids", []))
    chosen = [one for one in installation.repositories if one.name in names or one.id in ids]
    if len(chosen) < len(names) + len(ids):
        raise Refusal(
            422,
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    return chosen


def _granted(installation: Installation, wish: Json | None) -> dict[str, str]:
    if wish is None:
        return dict(installation.permissions)
    for name, level in wish.items():
        held = installation.permissions.get(name)
        if held != level and not (held == "write" and level == "read"):
            raise Refusal(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wish}


class DeliveryRoutes:
    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries

    async def list(self, call: Call) -> Reply:
        """Newest first; `cursor` is opaque and comes from the `Link` header."""
        log = self._deliveries.recent(calling_app(call))
        if wanted := call.query.get("status"):
            log = [one for one in log if one.succeeded == (wanted == "success")]
        if cursor := call.query.get("cursor"):
            if not (number := cursor.removeprefix("v1_")).isdigit():
                raise Refusal(400, "Invalid cursor")
            log = [one for one in log if one.id <= int(number)]
        size = per_page(call.query)
        headers = {}
        if len(log) > size:
            headers["Link"] = f'<{link(call, cursor=f"v1_{log[size].id}")}>; rel="next"'
        return Reply(200, [_entry(one) for one in log[:size]], headers)

    async def redeliver(self, call: Call) -> Reply:
        await self._deliveries.redeliver(calling_app(call), call.number("delivery_id"))
        return Reply(202, {})


def _entry(delivery: Delivery) -> Json:
    assert delivery.delivered_at is not None  # noqa: S101 - only tried deliveries are in the log
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": stamp(delivery.delivered_at),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.installation.id if delivery.installation else None,
        "repository_id": delivery.repository.id if delivery.repository else None,
        "throttled_at": None,
    }
