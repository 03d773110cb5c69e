"""Who is calling: an App by its JWT, an installation by its token, or nobody.

Rules from docs.github.com/apps "Generating a JSON Web Token (JWT) for a GitHub App": RS256, `exp` at most ten minutes
ahead, `iat` not in the future, an installation token dies after one hour.
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import jwt

from simulator.errors import Refusal
from simulator.state import App, Installation, Repository, Token
from simulator.world import World

TOKEN_LIFE = timedelta(hours=1)
JWT_LIFE = timedelta(minutes=10)
# GitHub's own clocks differ by a little, so an `exp` a few seconds beyond the limit still passes.
CLOCK_DRIFT = timedelta(seconds=5)

CallerKind = Literal["app", "installation", "anonymous"]


@dataclass(frozen=True)
class Caller:
    kind: CallerKind
    app: App | None = None
    token: Token | None = None

    def may_see(self, repository: Repository) -> bool:
        if self.token is not None:
            return self.reaches(repository) or not repository.private
        return not repository.private

    def reaches(self, repository: Repository) -> bool:
        """Whether the token's installation covers the repository, which is what writing needs."""
        token = self.token
        if token is None or repository not in token.installation.repositories:
            return False
        return repository.id in token.repository_ids

    def allows(self, permission: str, level: str) -> bool:
        """What the token was bought for, as far as its installation still has it."""
        if self.token is None:
            return False
        enough = {level} if level != "read" else {"read", "write", "admin"}
        holders = (self.token.permissions, self.token.installation.permissions)
        return all(held.get(permission) in enough for held in holders)


ANONYMOUS = Caller("anonymous")


def bad_credentials() -> Refusal:
    return Refusal(401, "Bad credentials")


def suspended() -> Refusal:
    return Refusal(403, "This installation has been suspended")


def authenticate(world: World, header: str | None) -> Caller:
    """Read an `Authorization` header of the API. Raises Refusal (401) for credentials that are not good."""
    if not header:
        return ANONYMOUS
    scheme, _, credential = header.partition(" ")
    credential = credential.strip()
    if scheme.lower() not in {"bearer", "token"} or not credential:
        raise bad_credentials()
    # An installation token holds a JWT too ("ghs_APPID_JWT"), so its prefix is asked first.
    if credential.startswith("ghs_"):
        return Caller("installation", token=live_token(world, credential))
    if credential.count(".") == 2:
        return Caller("app", app=app_of_jwt(world, credential))
    raise bad_credentials()


def authenticate_git(world: World, header: str | None) -> Caller:
    """Read the `Authorization: Basic` header of git over HTTP, `x-access-token:TOKEN`. Raises Refusal (401)."""
    if not header:
        return ANONYMOUS
    scheme, _, encoded = header.partition(" ")
    try:
        user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise bad_credentials() from None
    if scheme.lower() != "basic" or user != "x-access-token":
        raise bad_credentials()
    return Caller("installation", token=live_token(world, password))


def live_token(world: World, value: str) -> Token:
    token = world.tokens.get(value)
    if token is None or token.expires_at <= world.clock.now() or token.installation.id not in world.installations:
        raise bad_credentials()
    if token.installation.suspended_at is not None:
        raise suspended()
    return token


def app_of_jwt(world: World, value: str) -> App:
    """The App whose key signed the JWT. Raises Refusal (401) with GitHub's own sentence for each broken rule."""
    undecodable = Refusal(401, "A JSON web token could not be decoded")
    try:
        header = jwt.get_unverified_header(value)
        claims: dict[str, Any] = jwt.decode(value, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        raise undecodable from None
    app = _issuer(world, claims.get("iss"))
    if header.get("alg") != "RS256" or app is None:
        raise undecodable
    try:
        jwt.decode(
            value,
            app.public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False},
        )
    except jwt.InvalidTokenError:
        raise undecodable from None
    _check_times(world, claims)
    return app


def _issuer(world: World, issuer: object) -> App | None:
    for app in world.apps.values():
        if str(issuer) in {str(app.id), client_id(app)}:
            return app
    return None


def _check_times(world: World, claims: dict[str, Any]) -> None:
    now = world.clock.now().timestamp()
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(expires, int | float):
        raise Refusal(401, "Missing 'expiration time' claim ('exp') in assertion")
    if not isinstance(issued, int | float):
        raise Refusal(401, "Missing 'issued at' claim ('iat') in assertion")
    if issued > now + CLOCK_DRIFT.total_seconds():
        raise Refusal(
            401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        )
    if expires <= now:
        raise Refusal(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the"
            " assertion expires",
        )
    if expires > now + (JWT_LIFE + CLOCK_DRIFT).total_seconds():
        raise Refusal(401, "'Expiration time' claim ('exp') is too far in the future")


def client_id(app: App) -> str:
    return f"Iv23li{app.id:014d}"


def mint_token(
    world: World, installation: Installation, permissions: dict[str, str], repositories: list[Repository]
) -> Token:
    """A new installation token in the long form that carries a JWT; nothing may assume its length or shape."""
    parts = [
        {"alg": "ES256", "typ": "JWT"},
        {"iss": installation.app.id, "sub": installation.id, "jti": secrets.token_hex(16)},
    ]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    value = f"ghs_{installation.app.id}_{'.'.join([*encoded, secrets.token_urlsafe(256)])}"
    token = Token(
        value=value,
        installation=installation,
        permissions=permissions,
        repository_ids=frozenset(repository.id for repository in repositories),
        expires_at=world.clock.now() + TOKEN_LIFE,
    )
    world.tokens[value] = token
    return token
