"""A scripted server that stands where GitHub's API stands: real HTTP, answers given by the test, every request kept.

A request that the test did not plan is answered 418 and remembered, so that `Service.unplanned` can fail the test.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; `path` still encoded, without the query."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


Answerer = Callable[[Seen], Awaitable[web.StreamResponse] | web.StreamResponse]


def reply(data: Any = None, status: int = 200, headers: Mapping[str, str] | None = None) -> Answerer:
    """A JSON answer."""
    return lambda _seen: web.json_response(data, status=status, headers=headers)


def raw(body: bytes, content_type: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Answerer:
    """An answer of bytes."""
    return lambda _seen: web.Response(
        body=body, status=status, headers={"content-type": content_type, **(headers or {})}
    )


class HangUp(Exception):
    """Raised by an answerer: the connection is closed without an answer, after the request was taken in."""


def hang_up(_seen: Seen) -> web.StreamResponse:
    raise HangUp


class Service:
    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.unplanned: list[Seen] = []
        self._answers: dict[tuple[str, str], list[Answerer]] = {}
        self._server: TestServer | None = None

    def on(self, method: str, path: str, *answers: Answerer) -> None:
        """Plan the answers to one kind of request, in order; the last one repeats."""
        self._answers[method, path] = list(answers)

    def asked(self) -> list[str]:
        """What was asked, in order, without the buying of tokens."""
        return [str(seen) for seen in self.requests if not seen.path.endswith("/access_tokens")]

    @property
    def url(self) -> str:
        assert self._server is not None
        return str(self._server.make_url("")).rstrip("/")

    async def start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._server = TestServer(app)
        await self._server.start_server()

    async def stop(self) -> None:
        assert self._server is not None
        await self._server.close()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        seen = Seen(
            request.method, request.rel_url.raw_path, dict(request.query), request.headers.copy(), await request.read()
        )
        self.requests.append(seen)
        planned = self._answers.get((seen.method, seen.path))
        if not planned:
            self.unplanned.append(seen)
            return web.json_response({"message": f"the test did not plan {seen}"}, status=418)
        answerer = planned.pop(0) if len(planned) > 1 else planned[0]
        try:
            answer = answerer(seen)
            return answer if isinstance(answer, web.StreamResponse) else await answer
        except HangUp:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
