"""One HTTP exchange with GitHub's API: headers, time-out, redirects, size. No credentials of its own, no retries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import aiohttp
import msgspec
from gidgethub import sansio
from yarl import URL

from bot.faults import Fault
from bot.github.responses import Answer, AnswerFault, fault_of
from bot.redaction import redact

API_VERSION = "2022-11-28"
USER_AGENT = "perf-gate"
# GitHub's present media types; gidgethub still asks for the former `v3` ones.
JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"

# A page of 100 comments of 262,144 bytes each, which is the most that GitHub stores, and some room.
_LARGEST_ANSWER = 32 * 1024 * 1024
_TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=10)
_MOST_REDIRECTS = 3
# A renamed or moved repository answers these with /repositories/ID; 303 and 302 never mean that.
_MOVED = frozenset({301, 307, 308})


class Request(msgspec.Struct, frozen=True):
    """What to ask. `template` is a URI template (RFC 6570), filled with `variables`, or a whole `URL` of a Link header.

    `doing` completes "perf-gate tried to …" in public sentences. `accepts` are statuses beside 2xx that the caller
    takes as answers. `limit` bounds the answer's body in bytes.
    """

    method: str
    template: str | URL
    doing: str
    variables: Mapping[str, str | int] = msgspec.field(default_factory=dict)
    body: Any = None
    accept: str = JSON
    accepts: frozenset[int] = frozenset()
    limit: int = _LARGEST_ANSWER


class Transport:
    """Sends requests to one API origin and no other: credentials never leave it, whatever a redirect or a Link says."""

    def __init__(self, session: aiohttp.ClientSession, api_url: str, clock: Callable[[], datetime]) -> None:
        self._session = session
        self._api = URL(api_url)
        self._clock = clock

    async def send(self, request: Request, authorization: str) -> Answer:
        """Ask and follow moves. Fault for everything that is neither 2xx nor in `request.accepts`."""
        url = self._url(request)
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._exchange(request, url, authorization)
            if answer.status not in _MOVED or answer.status in request.accepts:
                return self._judged(request, answer)
            # Followed by hand: aiohttp would turn a POST into a GET on 301, and keep the credentials for another port.
            location = location_of(answer)
            url = self._within(url if location is None else url.join(location), request.doing)
        raise Fault(f"GitHub sent perf-gate in circles when it tried to {request.doing}.", str(url), retryable=True)

    def _judged(self, request: Request, answer: Answer) -> Answer:
        if 200 <= answer.status < 300 or answer.status in request.accepts:
            return answer
        raise fault_of(answer.status, answer.headers, answer.body, doing=request.doing, now=self._clock())

    def _url(self, request: Request) -> URL:
        if isinstance(request.template, URL):
            return self._within(request.template, request.doing)
        filled = sansio.format_url(request.template, dict(request.variables), base_url=str(self._api))
        # Already encoded: a %2F inside a path parameter must stay one.
        return URL(filled, encoded=True)

    def _within(self, url: URL, doing: str) -> URL:
        if not url.absolute or url.origin() != self._api.origin():
            raise Fault(
                f"GitHub sent perf-gate to another server when it tried to {doing}; it does not go there.", str(url)
            )
        return url

    async def _exchange(self, request: Request, url: URL, authorization: str) -> Answer:
        headers = sansio.create_headers(USER_AGENT, accept=request.accept)
        headers |= {"authorization": authorization, "x-github-api-version": API_VERSION}
        data = None
        if request.body is not None:
            data = msgspec.json.encode(request.body)
            headers["content-type"] = "application/json; charset=utf-8"
        try:
            async with self._session.request(
                request.method, url, data=data, headers=headers, allow_redirects=False, timeout=_TIMEOUT
            ) as response:
                body = await read_bounded(response, request.limit)
                if body is None:
                    public = f"GitHub's answer was too large when perf-gate tried to {request.doing}."
                    raise AnswerFault(response.status, public, f"more than {request.limit} bytes from {url.path}")
                return Answer(response.status, response.headers, body, _next_page(response), request.doing)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(request.doing, error) from error


def _next_page(response: aiohttp.ClientResponse) -> URL | None:
    try:
        link = response.links.get("next")
    except ValueError as error:  # an address that is none
        raise unreachable("read the next page", error) from error
    url = None if link is None else link.get("url")
    return url if isinstance(url, URL) else None


def location_of(answer: Answer) -> URL | None:
    """Where the answer says to go, byte for byte, since a signature can depend on its escapes; None where nowhere."""
    try:
        return URL(answer.headers.get("location", ""), encoded=True) or None
    except ValueError:
        return None


async def read_bounded(response: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """The whole body; None as soon as it is known to be longer than `limit` bytes."""
    if response.content_length is not None and response.content_length > limit:
        return None
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_chunked(64 * 1024):
        size += len(chunk)
        if size > limit:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def unreachable(doing: str, error: BaseException) -> Fault:
    """No answer at all. For a write this is ambiguous: it may have been done."""
    public = f"GitHub could not be reached when perf-gate tried to {doing}."
    return Fault(public, redact(f"{type(error).__name__}: {error}"), retryable=True)
