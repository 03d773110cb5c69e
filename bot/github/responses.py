"""What an answer of GitHub means: a value, or a fault that says whether and when to come again.

Sources: GitHub's "Best practices for using the REST API" and "Rate limits for the REST API". gidgethub names the
error; that 429 and the secondary limit ask for patience, it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import TypeVar

import gidgethub
import msgspec
from gidgethub import sansio
from yarl import URL

from bot.faults import Fault
from bot.redaction import redact

T = TypeVar("T")

# "If you get a secondary limit without retry-after, wait at least one minute."
SECONDARY_WAIT = timedelta(seconds=60)
# Primary windows are an hour long; a longer wait can only be a wrong clock on one of the two sides.
_LONGEST_WAIT = timedelta(hours=1)
_SHORTEST_WAIT = timedelta(seconds=1)
_PRIVATE_LENGTH = 500


class AnswerFault(Fault):
    """GitHub answered, but not with what was asked for; `status` is the HTTP status."""

    def __init__(
        self,
        status: int,
        public: str,
        private: str,
        *,
        retryable: bool = False,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(public, private, retryable=retryable, retry_after=retry_after)
        self.status = status


class Answer(msgspec.Struct, frozen=True):
    """An answer that the caller asked for. `next` is the following page, from the Link header, never built by hand."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    next: URL | None
    doing: str

    def read(self, shape: type[T]) -> T:
        """The body as `shape`; a retryable Fault naming the field where it is something else."""
        try:
            return msgspec.json.decode(self.body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AnswerFault(
                self.status,
                f"GitHub's answer could not be understood while perf-gate tried to {self.doing}.",
                redact(f"{error}: {self.body[:_PRIVATE_LENGTH]!r}"),
                retryable=True,
            ) from error


def fault_of(status: int, headers: Mapping[str, str], body: bytes, *, doing: str, now: datetime) -> AnswerFault:
    """The fault that an answer of 3xx, 4xx or 5xx stands for. `doing` completes "perf-gate tried to …"."""
    message = _message(status, headers, body)
    private = redact(f"HTTP {status} {message} (request {headers.get('x-github-request-id', 'unknown')})")
    private = private[:_PRIVATE_LENGTH]
    lowered = message.lower()
    if status in {403, 429} and "not accessible by" not in lowered:
        wait = _limit_wait(status, headers, lowered, now)
        if wait is not None:
            public = f"GitHub asks perf-gate to slow down; it will {doing} later."
            return AnswerFault(status, public, private, retryable=True, retry_after=wait)
    if status >= 500 or status == 408:
        public = f"GitHub had trouble of its own (HTTP {status}) when perf-gate tried to {doing}."
        return AnswerFault(status, public, private, retryable=True, retry_after=_retry_after(headers))
    if status == 401:
        # Retryable: some of GitHub's servers may not know a fresh token for seconds, and 401 means nothing was done.
        public = f"GitHub did not accept perf-gate's credentials when it tried to {doing}: {_mend(lowered)}."
        return AnswerFault(status, public, private, retryable=True)
    if status == 403:
        return AnswerFault(status, _forbidden(headers, lowered, doing), private)
    if status in {404, 410}:
        public = f"perf-gate tried to {doing}, but GitHub has no such thing, or hides it from this App (HTTP {status})."
        return AnswerFault(status, public, private)
    return AnswerFault(status, f"GitHub refused when perf-gate tried to {doing} (HTTP {status}).", private)


def _message(status: int, headers: Mapping[str, str], body: bytes) -> str:
    """GitHub's own words. gidgethub trips over answers of gateways that are not the JSON they claim to be."""
    try:
        sansio.decipher_response(status, headers, body)
    except gidgethub.HTTPException as error:
        return str(error)
    except (ValueError, LookupError, TypeError, AttributeError):
        return body[:_PRIVATE_LENGTH].decode("utf-8", "replace")
    return HTTPStatus(status).phrase


def _limit_wait(status: int, headers: Mapping[str, str], message: str, now: datetime) -> timedelta | None:
    """How long a limit asks to wait; None where the answer is no limit at all."""
    asked = _retry_after(headers)
    if asked is not None:
        return asked
    if headers.get("x-ratelimit-remaining") == "0":
        return _until_reset(headers, now)
    if status == 429 or "secondary rate limit" in message or "abuse detection" in message:
        return SECONDARY_WAIT
    return None


def _retry_after(headers: Mapping[str, str]) -> timedelta | None:
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = int(value) if value.isdecimal() and len(value) < 8 else SECONDARY_WAIT.total_seconds()
    return _bounded(timedelta(seconds=seconds))


def _until_reset(headers: Mapping[str, str], now: datetime) -> timedelta:
    try:
        limit = sansio.RateLimit.from_http(headers)
    except (ValueError, OverflowError, OSError):
        limit = None
    return SECONDARY_WAIT if limit is None else _bounded(limit.reset_datetime - now.astimezone(UTC))


def _bounded(wait: timedelta) -> timedelta:
    return min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT)


def _mend(message: str) -> str:
    if "expiration" in message or "'exp'" in message or "'iat'" in message:
        return "the clock of its machine is wrong"
    return "its operator checks the App id and the private key"


def _forbidden(headers: Mapping[str, str], message: str, doing: str) -> str:
    wanted = headers.get("x-accepted-github-permissions", "").strip()
    if "not accessible by" in message or wanted:
        permission = f"the permission `{redact(wanted)}`" if _plain(wanted) else "a permission"
        return f"perf-gate lacks {permission} to {doing}; an owner can grant it in the settings of the App."
    if "is locked" in message:
        return f"perf-gate could not {doing}: the conversation is locked."
    if "suspended" in message:
        return f"perf-gate could not {doing}: its installation is suspended."
    return f"GitHub forbids perf-gate to {doing} (HTTP 403)."


def _plain(permissions: str) -> bool:
    """`issues=write; pull_requests=write` and the like, which may stand in a comment."""
    return bool(permissions) and len(permissions) <= 200 and all(c.isalnum() or c in "_=;, " for c in permissions)
