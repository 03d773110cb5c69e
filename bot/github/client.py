"""The thin client: the right credentials, the right pace, a few patient reads. Longer waits are the engine's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from msgspec.structs import replace
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random

from bot.faults import Fault
from bot.github.auth import Tokens
from bot.github.names import Identity
from bot.github.pace import Pace
from bot.github.responses import Answer, AnswerFault
from bot.github.transport import JSON, Request, Transport

# Only to bridge a dropped connection or a replica that lags: the effect's own schedule does the real waiting.
_TRIES = 3
_FIRST_WAIT = 0.2
_MOST_WAIT = 1.0

Wait = Callable[[float], Awaitable[None]]


class Client:
    """Reads are tried a few times, writes once; both renew a refused token once and keep the identity's pace."""

    def __init__(self, transport: Transport, tokens: Tokens, pace: Pace, *, wait: Wait = asyncio.sleep) -> None:
        self._transport = transport
        self._tokens = tokens
        self._pace = pace
        self._wait = wait
        self.requests_left: dict[Identity, int] = {}
        """What GitHub said last of each identity's budget."""

    async def get(
        self,
        who: Identity,
        template: str,
        doing: str,
        *,
        accept: str = JSON,
        accepts: frozenset[int] = frozenset(),
        limit: int | None = None,
        **variables: str | int,
    ) -> Answer:
        """Read once; Fault unless the answer is 2xx or in `accepts`."""
        request = Request("GET", template, doing, variables, accept=accept, accepts=accepts)
        return await self._patiently(who, request if limit is None else replace(request, limit=limit))

    async def look_up(
        self, who: Identity, template: str, doing: str, *, fresh: bool = False, **variables: str | int
    ) -> Answer | None:
        """Read what may be absent: None on 404. `fresh`: a webhook just told of it, a replica may not know it yet."""
        request = Request("GET", template, doing, variables)
        try:
            return await self._patiently(who, request, also=frozenset({404}) if fresh else frozenset())
        except AnswerFault as fault:
            if fault.status == 404:
                return None
            raise

    async def pages(self, who: Identity, template: str, doing: str, **variables: str | int) -> AsyncIterator[Answer]:
        """Every page of a listing, by the Link header."""
        answer = await self._patiently(who, Request("GET", template, doing, variables))
        yield answer
        while answer.next is not None:
            answer = await self._patiently(who, Request("GET", answer.next, doing))
            yield answer

    async def write(
        self,
        who: Identity,
        method: str,
        template: str,
        doing: str,
        *,
        body: Any = None,
        accepts: frozenset[int] = frozenset(),
        urgent: bool = False,
        **variables: str | int,
    ) -> Answer:
        """Change something, in turn (`urgent`: the next).

        A retryable Fault leaves open whether it was done: look before doing it again.
        """
        request = Request(method, template, doing, variables, body=body, accepts=accepts)
        async with self._pace.writing(who, urgent=urgent):
            return await self._authorized(who, request)

    async def _patiently(self, who: Identity, request: Request, also: frozenset[int] = frozenset()) -> Answer:
        def worth_another_try(error: BaseException) -> bool:
            if isinstance(error, AnswerFault) and error.status in also:
                return True
            return isinstance(error, Fault) and error.retryable and error.retry_after is None

        tries = AsyncRetrying(
            stop=stop_after_attempt(_TRIES),
            wait=wait_exponential(multiplier=_FIRST_WAIT, max=_MOST_WAIT) + wait_random(0, _FIRST_WAIT),
            retry=retry_if_exception(worth_another_try),
            sleep=self._wait,
            reraise=True,
        )
        return await tries(self._authorized, who, request)

    async def _authorized(self, who: Identity, request: Request) -> Answer:
        await self._pace.check(who, request.doing)
        authorization = await self._tokens.authorization(who)
        try:
            return await self._paced(who, request, authorization)
        except AnswerFault as fault:
            # 401 means that nothing was done, so even a write may be sent again with a new token.
            if fault.status != 401 or not self._tokens.forget(who, authorization):
                raise
        return await self._paced(who, request, await self._tokens.authorization(who))

    async def _paced(self, who: Identity, request: Request, authorization: str) -> Answer:
        # At the last moment: while a token was bought, another request may have been told to wait.
        await self._pace.check(who, request.doing)
        async with self._pace.heeding(who):
            answer = await self._transport.send(request, authorization)
        left = answer.headers.get("x-ratelimit-remaining", "")
        if left.isdecimal():
            self.requests_left[who] = int(left)
        return answer
