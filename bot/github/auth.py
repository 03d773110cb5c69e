"""Who the bot is to GitHub: the App's JWT, and the installation tokens it buys.

Source: GitHub, "Generating a JSON Web Token (JWT) for a GitHub App" and "Generating an installation access token".
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from bot.faults import Fault
from bot.github.names import APP, Identity
from bot.github.pace import Pace
from bot.github.transport import Request, Transport
from bot.github.wire import TokenBody

# GitHub takes at most 10 minutes ahead and advises to backdate by 60 s; 9 minutes leave a minute for a fast clock too.
_BACKDATED = timedelta(seconds=60)
_JWT_LIFE = timedelta(minutes=9)
# A clone or a page-by-page listing that starts with a token must end with it.
_RENEW_BEFORE = timedelta(minutes=5)

Scope = tuple[tuple[str, str], ...]
"""Permissions that a token is narrowed to, sorted by name; empty: all that the App was granted."""

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_KEY = "The GitHub App's private key (PERF_GATE_PRIVATE_KEY)"

READ_CONTENTS: Scope = (("contents", "read"),)


class AppKey:
    """The App's id and private key, which is read when `prove` or `sign` is first called: that takes long."""

    def __init__(self, app_id: str, private_key_pem: str) -> None:
        self._app_id = str(app_id)
        # A key that came through an environment variable often has its line ends escaped.
        self._pem = private_key_pem.strip().replace("\\n", "\n").encode()
        self._key: RSAPrivateKey | None = None

    def prove(self) -> None:
        """Fault where it is no RSA key in PEM form, or its numbers do not belong together."""
        self._read()

    def sign(self, now: datetime) -> str:
        """A JWT for requests of the App itself, good for nine minutes from `now`. Fault as for `prove`."""
        key = self._read()
        # Slow to import, and not needed to listen.
        import jwt

        claims = {
            "iat": int((now - _BACKDATED).timestamp()),
            "exp": int((now + _JWT_LIFE).timestamp()),
            "iss": self._app_id,
        }
        return jwt.encode(claims, key, algorithm="RS256")

    def _read(self) -> RSAPrivateKey:
        if self._key is None:
            self._key = _rsa_key(self._pem)
        return self._key


def _rsa_key(pem: bytes) -> RSAPrivateKey:
    # Slow to import, as to prove primes: both would be an eighth of a start.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    unreadable = (ValueError, TypeError, UnsupportedAlgorithm)
    try:
        key = load_pem_private_key(pem, password=None, unsafe_skip_rsa_key_validation=True)
    except unreadable as error:
        raise Fault(f"{_KEY} is not a PEM private key.", type(error).__name__) from error
    if not isinstance(key, RSAPrivateKey):
        raise Fault(f"{_KEY} is not an RSA key.", type(key).__name__)
    try:
        # Source: cryptography, "Key Serialization", `unsafe_skip_rsa_key_validation`.
        load_pem_private_key(pem, password=None)
    except unreadable as error:
        raise Fault(f"{_KEY} is damaged; set it again from the file that GitHub gave.") from error
    return key


class Token(msgspec.Struct, frozen=True):
    """An installation token. No format is assumed of `secret`, which stays out of every representation."""

    secret: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"Token(expires_at={self.expires_at.isoformat()})"


class Tokens:
    """Installation tokens, bought when needed and kept until shortly before they expire."""

    def __init__(self, transport: Transport, key: AppKey, clock: Callable[[], datetime], pace: Pace) -> None:
        self._transport = transport
        self.key = key
        self._pace = pace
        self._clock = clock
        self._kept: dict[tuple[int, Scope], Token] = {}
        self._turns: defaultdict[tuple[int, Scope], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def authorization(self, who: Identity) -> str:
        """The Authorization header for requests of `who`."""
        if who == APP:
            return f"Bearer {self.key.sign(self._clock())}"
        return f"Bearer {await self.token(who)}"

    async def token(self, installation_id: int, scope: Scope = ()) -> str:
        """A token that lives for some minutes at least. Fault where GitHub does not give one."""
        wanted = (installation_id, scope)
        async with self._turns[wanted]:
            kept = self._kept.get(wanted)
            if kept is None or kept.expires_at - self._clock() <= _RENEW_BEFORE:
                kept = self._kept[wanted] = await self._buy(installation_id, scope)
            return kept.secret

    def forget(self, who: Identity, authorization: str) -> bool:
        """Drop the token that GitHub just refused, unless replaced meanwhile. False for the App, which has none."""
        if who == APP:
            return False
        kept = self._kept.get((who, ()))
        if kept is not None and authorization == f"Bearer {kept.secret}":
            del self._kept[who, ()]
        return True

    async def _buy(self, installation_id: int, scope: Scope) -> Token:
        request = Request(
            "POST",
            "/app/installations/{installation_id}/access_tokens",
            "get access to the repository",
            {"installation_id": installation_id},
            body={"permissions": dict(scope)} if scope else None,
        )
        # It is the App that buys, and the App that is asked to wait.
        await self._pace.check(APP, request.doing)
        async with self._pace.heeding(APP):
            answer = await self._transport.send(request, f"Bearer {self.key.sign(self._clock())}")
        body = answer.read(TokenBody)
        return Token(body.token, body.expires_at)
