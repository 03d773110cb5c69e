"""The API's origin: authenticates, meets faults and limits, calls the operation, has both sides refereed, logs."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from typing import Any, Protocol
from urllib.parse import unquote

from aiohttp import web

from simulator.auth import ANONYMOUS, Caller, authenticate
from simulator.call import JSON_TYPE, Call, Reply
from simulator.errors import Refusal, not_found
from simulator.faults import Fault, Faults
from simulator.limits import RateLimits
from simulator.operations import Operation, Router
from simulator.pace import PaceReferee
from simulator.world import LoggedRequest, World

_BY_ID = re.compile(r"/repositories/(\d+)(/.*)?")
# GitHub refuses larger bodies on its own; ours only needs to hold the largest comment.
MOST_REQUEST_BYTES = 8 * 1024 * 1024


class ApiReferee(Protocol):
    def request(self, operation: Operation, call: Call) -> None: ...
    def response(self, operation: Operation | None, reply: Reply) -> None: ...
    def unknown(self, method: str, path: str) -> None: ...


class Dropped(Exception):
    """The connection is closed instead of answered."""


class Api:
    def __init__(
        self,
        world: World,
        router: Router,
        faults: Faults,
        limits: RateLimits,
        referee: ApiReferee,
        watch: PaceReferee,
    ) -> None:
        self._world = world
        self._router = router
        self._faults = faults
        self._limits = limits
        self._referee = referee
        self._watch = watch

    def application(self) -> web.Application:
        app = web.Application(client_max_size=MOST_REQUEST_BYTES)
        app.router.add_route("*", "/{anything:.*}", self.handle)
        return app

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = self._by_name(request.raw_path.partition("?")[0])
        found = self._router.find(request.method, path)
        operation, params = found if found else (None, {})
        caller, kind = ANONYMOUS, "rejected"
        fault = self._faults.take(request.method, unquote(path))
        if fault is not None:
            await self._world.changed()
        try:
            if not request.headers.get("User-Agent"):
                raise Refusal(
                    403,
                    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.",
                )
            caller = authenticate(self._world, request.headers.get("Authorization"))
            kind = caller.kind
            self._watch.arrives(caller, request.method, path)
            if operation is None:
                self._referee.unknown(request.method, path)
                raise not_found()
            body = await _json(request)
            call = Call(self._world, request.method, path, params, dict(request.query), request.headers, body, caller)
            self._referee.request(operation, call)
            reply = await self._answer(operation, call, fault)
        except Refusal as refusal:
            reply = Reply(refusal.status, refusal.body(), refusal.headers)
            self._watch.refused(caller, refusal)
        except Dropped:
            self._watch.answered(caller, request.method, 0)
            await self._log(request, path, operation, kind, 0)
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        self._watch.answered(caller, request.method, reply.status)
        self._referee.response(operation, reply)
        await self._log(request, path, operation, kind, reply.status)
        return self._response(request, reply, caller)

    async def _answer(self, operation: Operation, call: Call, fault: Fault | None) -> Reply:
        self._limits.spend(call.caller)
        if fault is None:
            return await operation.handler(call)
        await fault.wait()
        match fault.kind:
            case "status":
                raise Refusal(fault.status, fault.message, headers=fault.headers)
            case "drop":
                raise Dropped
            case "primary_limit":
                raise self._limits.exhausted(call.caller, 429 if fault.status == 429 else 403)
            case "secondary_limit":
                raise self._limits.secondary(fault.seconds, 429 if fault.status == 429 else 403)
            case "stale":
                call.hide_after_id = fault.hide_after_id
            case "moved" if {"owner", "repo"} <= call.params.keys():
                raise call.moved(self._world.repository(f"{call.params['owner']}/{call.params['repo']}"))
        reply = await operation.handler(call)
        if fault.kind == "status_after":
            raise Refusal(fault.status, fault.message, headers=fault.headers)
        if fault.kind == "drop_after":
            raise Dropped
        return reply

    def _by_name(self, path: str) -> str:
        """`/repositories/ID/…`, which redirects of renamed repositories lead to, as `/repos/OWNER/NAME/…`."""
        match = _BY_ID.fullmatch(path)
        repository = self._world.repositories.get(int(match[1])) if match else None
        return f"/repos/{repository.full_name}{match[2] or ''}" if match and repository else path

    def _response(self, request: web.Request, reply: Reply, caller: Caller) -> web.Response:
        content = b"" if reply.body is None else reply.body
        if not isinstance(content, bytes):
            content = json.dumps(content, separators=(",", ":")).encode()
        headers = {
            "X-GitHub-Request-Id": str(uuid.uuid4()).upper(),
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Api-Version-Selected": "2022-11-28",
            **self._limits.headers(caller),
            **reply.headers,
        }
        if reply.body is not None:
            headers["Content-Type"] = (
                f"{JSON_TYPE}; charset=utf-8" if reply.content_type == JSON_TYPE else reply.content_type
            )
        if request.method == "GET" and reply.status == 200:
            # Bound to the token: the same page has another tag for another token.
            secret = request.headers.get("Authorization", "").encode()
            tag = f'W/"{hashlib.sha256(secret + content).hexdigest()}"'
            headers["ETag"] = tag
            if request.headers.get("If-None-Match") == tag:
                self._limits.refund(caller)
                return web.Response(status=304, headers={"ETag": tag, **self._limits.headers(caller)})
        return web.Response(status=reply.status, body=content, headers=headers)

    async def _log(
        self, request: web.Request, path: str, operation: Operation | None, caller: str, status: int
    ) -> None:
        name = operation.name if operation else None
        self._world.requests.append(LoggedRequest("api", request.method, unquote(path), name, caller, status))
        await self._world.changed()


async def _json(request: web.Request) -> Any:
    """The request's JSON; None where there is no body. Raises Refusal 400."""
    data = await request.read()
    if not data:
        return None
    try:
        return json.loads(data)
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
