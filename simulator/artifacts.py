"""The other origin, where artifacts lie: a signed address opens it for a minute, an Authorization header closes it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.typedefs import Middleware

from simulator.state import Artifact
from simulator.world import World

ADDRESS_LIFE = timedelta(minutes=1)
_KEY = secrets.token_bytes(32)


def signed_address(world: World, artifact_id: int) -> str:
    expires = int((world.clock.now() + ADDRESS_LIFE).timestamp())
    query = urlencode({"se": expires, "sig": _signature(artifact_id, expires)})
    return f"{world.links.artifacts}/artifacts/{artifact_id}.zip?{query}"


def _signature(artifact_id: int, expires: int) -> str:
    return hmac.new(_KEY, f"{artifact_id}:{expires}".encode(), hashlib.sha256).hexdigest()


def artifacts_app(world: World, middlewares: Sequence[Middleware] = ()) -> web.Application:
    async def download(request: web.Request) -> web.Response:
        if "Authorization" in request.headers:
            return _problem(
                400, "InvalidAuthenticationInfo", "Authentication information is not given in the correct format."
            )
        number, expires = int(request.match_info["artifact"]), request.query.get("se", "")
        if not expires.isdigit() or not hmac.compare_digest(
            request.query.get("sig", ""), _signature(number, int(expires))
        ):
            return _problem(403, "AuthenticationFailed", "Signature did not match.")
        if world.clock.now() > datetime.fromtimestamp(int(expires), UTC):
            return _problem(403, "AuthenticationFailed", "Signature not valid in the specified time frame.")
        artifact = _find(world, number)
        if artifact is None or artifact.expires_at <= world.clock.now():
            return _problem(410, "Gone", "The artifact has expired.")
        return web.Response(body=artifact.content, content_type="application/zip")

    app = web.Application(middlewares=middlewares)
    app.router.add_get(r"/artifacts/{artifact:\d+}.zip", download)
    return app


def _find(world: World, number: int) -> Artifact | None:
    for repository in world.repositories.values():
        for run in repository.runs:
            for artifact in run.artifacts:
                if artifact.id == number:
                    return artifact
    return None


def _problem(status: int, code: str, message: str) -> web.Response:
    """The origin is a blob store, which speaks XML."""
    text = f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return web.Response(status=status, text=text, content_type="application/xml")
