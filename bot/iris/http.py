"""Iris over plain HTTP: Connect's JSON protocol, no import of Iris.

Source: https://connectrpc.com/docs/protocol/ (unary requests are POSTs of JSON; errors are JSON with `code`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import aiohttp

from bot.faults import Fault
from bot.iris.controller import NotFound
from bot.iris.records import Json

_SERVICE = "iris.cluster.ControllerService"
_LOGS = "finelog.logging.LogService/FetchLogs"
# The log server is reached directly under the controller in June 2026, later only through its proxy.
_LOG_PATHS = (_LOGS, f"proxy/system.log-server/{_LOGS}")
LARGEST_ANSWER = 32 * 1024 * 1024
# Answers of a controller that will not change by asking again.
_FINAL = frozenset({"invalid_argument", "permission_denied", "unauthenticated", "unimplemented", "failed_precondition"})


class HttpTransport:
    """Calls the controller at `url`."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, *, timeout: timedelta, log_server_url: str | None = None
    ) -> None:
        self._session = session
        self._url = url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout.total_seconds())
        self._log_urls = [f"{log_server_url.rstrip('/')}/{_LOGS}"] if log_server_url else []
        self._log_urls += [f"{self._url}/{path}" for path in _LOG_PATHS]

    async def call(self, method: str, body: Json) -> Json:
        status, answer = await self._post(f"{self._url}/{_SERVICE}/{method}", body)
        if status == 200 and isinstance(answer, dict):
            return answer
        code = answer.get("code") if isinstance(answer, dict) else None
        message = str(answer.get("message", ""))[:300] if isinstance(answer, dict) else ""
        # A proxy's 404 has no code: only the controller can say that a job does not exist.
        if code == "not_found":
            raise NotFound(message)
        raise Fault(
            "Iris refused a request" if code in _FINAL else "Iris could not answer",
            f"{method}: HTTP {status} {code or ''} {message}".strip(),
            retryable=code not in _FINAL,
        )

    async def logs(self, job_id: str, substring: str, most_lines: int) -> Sequence[str]:
        return await self._fetch(f"{job_id}/", most_lines, substring)

    async def task_log(self, task_id: str, most_lines: int) -> Sequence[str]:
        # A source is the task's id and its attempt's number.
        return await self._fetch(f"{task_id}:", most_lines, "")

    async def _fetch(self, source: str, most_lines: int, substring: str) -> Sequence[str]:
        body = {
            "source": source,
            "matchScope": "MATCH_SCOPE_PREFIX",
            "substring": substring,
            "tail": True,
            "maxLines": most_lines,
        }
        for url in self._log_urls:
            status, answer = await self._post(url, body)
            if status == 200 and isinstance(answer, dict):
                # The address that answered is asked first from now on.
                self._log_urls.sort(key=lambda known: known != url)
                entries = [entry for entry in answer.get("entries") or () if isinstance(entry, dict)]
                return [str(entry.get("data", "")) for entry in entries]
        raise Fault("Iris' logs could not be read", f"no log server at {', '.join(self._log_urls)}", retryable=True)

    async def _post(self, url: str, body: Json) -> tuple[int, Any]:
        """(HTTP status, JSON or None). Raises a retryable Fault when there is no answer at all."""
        try:
            async with self._session.post(url, json=body, timeout=self._timeout, allow_redirects=False) as response:
                data = await response.content.read(LARGEST_ANSWER + 1)
                while len(data) <= LARGEST_ANSWER and not response.content.at_eof():
                    data += await response.content.read(LARGEST_ANSWER + 1 - len(data))
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise Fault("Iris did not answer", f"{url}: {type(error).__name__} {error}", retryable=True) from error
        if len(data) > LARGEST_ANSWER:
            raise Fault("Iris gave an answer that cannot be read", f"{url}: over {LARGEST_ANSWER} bytes")
        try:
            return response.status, json.loads(data)
        except (ValueError, RecursionError):
            return response.status, None
