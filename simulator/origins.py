"""Faults and the request log for the origins that are not the API: git over HTTP and the artifact store."""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from simulator.faults import Faults
from simulator.git_http import CALLER
from simulator.world import LoggedRequest, World


def trouble(world: World, faults: Faults, origin: str) -> Middleware:
    """A middleware. People's pages are left alone: only what an App speaks to meets trouble."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if origin == "web" and ".git/" not in request.path:
            return await handler(request)
        fault = faults.take(request.method, request.path)
        response: web.StreamResponse | None = None
        if fault is not None:
            await world.changed()
            await fault.wait()
            if fault.kind in {"status", "status_after"}:
                response = web.Response(status=fault.status, text=fault.message, headers=fault.headers)
            elif fault.kind in {"primary_limit", "secondary_limit"}:
                response = web.Response(status=429, text="Too many requests", headers=fault.headers)
            elif fault.kind in {"drop", "drop_after"}:
                if request.transport is not None:
                    request.transport.abort()
                await _log(world, origin, request, 0)
                return web.Response()
        if response is None:
            response = await handler(request)
        await _log(world, origin, request, response.status)
        return response

    return middleware


async def _log(world: World, origin: str, request: web.Request, status: int) -> None:
    caller = request.get(CALLER, "anonymous")
    world.requests.append(LoggedRequest(origin, request.method, request.path, None, caller, status))
    await world.changed()
