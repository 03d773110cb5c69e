"""Registering an App from a manifest: the page that takes it, the code it redirects with, what that is traded for.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from simulator.auth import client_id
from simulator.call import Call, Reply
from simulator.deliveries import Deliveries
from simulator.errors import not_found
from simulator.payloads import app as app_payload
from simulator.state import App, Manifest
from simulator.world import World

if TYPE_CHECKING:
    from simulator.simulator import Simulator

CODE_LIVES = timedelta(hours=1)


def add_registration(site: web.Application, sim: Simulator) -> None:
    """`POST /settings/apps/new?state=…` and the same below an organization, with the form field `manifest`.

    GitHub shows a page with the name and a button first; here the button is pressed at once.
    """

    async def new(request: web.Request) -> web.Response:
        form = await request.post()
        try:
            wanted = _checked(json.loads(str(form.get("manifest", ""))))
        except ValueError as error:
            raise web.HTTPUnprocessableEntity(text=f"Error: {error}") from None
        code = secrets.token_hex(20)
        owner = request.match_info.get("org", "octocat")
        sim.world.manifests[code] = Manifest(code, owner, wanted, sim.world.clock.now() + CODE_LIVES)
        query = {"code": code, **({"state": request.query["state"]} if "state" in request.query else {})}
        raise web.HTTPFound(f"{wanted['redirect_url']}?{urlencode(query)}")

    site.router.add_post("/settings/apps/new", new)
    site.router.add_post("/organizations/{org}/settings/apps/new", new)


def _checked(manifest: Any) -> dict[str, Any]:
    """What GitHub refuses. Raises ValueError."""
    if not isinstance(manifest, dict):
        raise ValueError("the manifest is no object")
    for name in ("url", "redirect_url"):
        if not urlsplit(str(manifest.get(name, ""))).scheme.startswith("http"):
            raise ValueError(f"{name} is missing or no address")
    hook = manifest.get("hook_attributes")
    if not isinstance(hook, dict) or not urlsplit(str(hook.get("url", ""))).netloc:
        raise ValueError("Hook url cannot be blank")
    for name, level in manifest.get("default_permissions", {}).items():
        if level not in ("read", "write", "admin"):
            raise ValueError(f"default_permissions {name}: {level}")
    return manifest


class ManifestRoutes:
    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries

    async def convert(self, call: Call) -> Reply:
        """Once, and within the hour."""
        manifest = call.world.manifests.pop(call.params["code"], None)
        if manifest is None or manifest.expires_at <= call.world.clock.now():
            raise not_found()
        pem, app = _made(call.world, manifest)
        await self._deliveries.ping(app)
        body = app_payload(call.world, app) | {
            "client_id": client_id(app),
            "client_secret": secrets.token_hex(20),
            "webhook_secret": app.webhook_secret,
            "pem": pem,
        }
        return Reply(201, body)


def _made(world: World, manifest: Manifest) -> tuple[str, App]:
    """The App with a key and a webhook secret of GitHub's making; the key's PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    wanted, slug = manifest.wanted, str(manifest.wanted.get("name", "app")).lower().replace(" ", "-")
    app = App(
        id=world.next_app_id(),
        slug=slug,
        owner=world.account(manifest.owner, "Organization"),
        bot=world.account(f"{slug}[bot]", "Bot"),
        public_key=public.decode(),
        webhook_url=wanted["hook_attributes"]["url"],
        webhook_secret=secrets.token_hex(20),
        hook_id=world.next_id(),
        created_at=world.clock.now(),
        permissions=dict(wanted.get("default_permissions", {})),
        events=tuple(wanted.get("default_events", ())),
    )
    world.apps[app.id] = app
    return pem.decode(), app
