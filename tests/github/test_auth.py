"""Who the bot is to GitHub, and for how long."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.auth import AppKey
from tests.conversations.world import key_pair
from tests.github.conftest import REPO, TOKEN_PATH, Now, token_answer
from tests.github.keys import damaged
from tests.github.service import Seen, Service, reply

PERMISSION = "/repos/acme/widgets/collaborators/ann/permission"
WRITE = {"permission": "write", "role_name": "maintain", "user": None}


def test_jwt_is_backdated_and_ends_within_ten_minutes(private_key_pem: str, now: Now) -> None:
    signed = AppKey("7", private_key_pem).sign(now())
    public = serialization.load_pem_private_key(private_key_pem.encode(), None).public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    claims = jwt.decode(signed, pem, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False})
    assert claims["iss"] == "7"
    assert claims["iat"] == now().timestamp() - 60
    assert claims["exp"] - now().timestamp() <= 600
    # Also seen from a machine whose clock is half a minute behind ours.
    assert claims["exp"] - (now().timestamp() - 30) <= 600


def test_key_with_escaped_line_ends_is_read(private_key_pem: str, now: Now) -> None:
    assert AppKey("7", private_key_pem.replace("\n", "\\n")).sign(now()).count(".") == 2


@pytest.mark.parametrize(
    "pem", ["", "not a key", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"]
)
def test_what_is_no_key_is_refused_before_any_request(pem: str) -> None:
    with pytest.raises(Fault, match="not a PEM private key") as caught:
        AppKey("7", pem).prove()
    assert not caught.value.retryable
    assert "AAAA" not in str(caught.value)


def test_a_damaged_key_is_told_before_anything_is_signed(now: Now) -> None:
    key = AppKey("7", damaged(key_pair()[0]))
    with pytest.raises(Fault, match="is damaged; set it again from the file that GitHub gave") as caught:
        key.sign(now())
    assert not caught.value.retryable
    with pytest.raises(Fault, match="is damaged"):
        key.prove()


def test_key_of_another_kind_is_refused() -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    pem = other.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(Fault, match="not an RSA key"):
        AppKey("7", pem.decode()).prove()


async def test_token_is_bought_once_and_renewed_before_it_expires(gh: GitHub, service: Service, now: Now) -> None:
    service.on("GET", PERMISSION, reply(WRITE))

    async def ask() -> str:
        await gh.permissions.of(REPO, "ann")
        return service.requests[-1].headers["authorization"]

    assert await ask() == "Bearer ghs_7_first"
    now.pass_(minutes=50)
    assert await ask() == "Bearer ghs_7_first"
    service.on("POST", TOKEN_PATH, reply(token_answer(now, "ghs_7_second"), 201))
    now.pass_(minutes=6)
    assert await ask() == "Bearer ghs_7_second"
    bought = [seen for seen in service.requests if seen.path == TOKEN_PATH]
    assert len(bought) == 2
    assert bought[0].headers["authorization"].startswith("Bearer eyJ")


async def test_requests_at_once_share_one_token(gh: GitHub, service: Service) -> None:
    service.on("GET", PERMISSION, reply(WRITE))
    await asyncio.gather(*(gh.permissions.of(REPO, "ann") for _ in range(5)))
    assert [seen.path for seen in service.requests].count(TOKEN_PATH) == 1


async def test_refused_token_is_renewed_once_even_for_a_write(gh: GitHub, service: Service, now: Now) -> None:
    service.on(
        "POST",
        TOKEN_PATH,
        reply(token_answer(now, "ghs_revoked"), 201),
        reply(token_answer(now, "ghs_fresh"), 201),
    )

    def judge(seen: Seen) -> web.StreamResponse:
        if seen.headers["authorization"] == "Bearer ghs_fresh":
            return web.json_response({"id": 1}, status=201)
        return web.json_response({"message": "Bad credentials"}, status=401)

    service.on("POST", "/repos/acme/widgets/issues/comments/5/reactions", judge)
    assert await gh.comments.react(REPO, 5, "eyes")
    assert len(service.asked()) == 2


async def test_token_that_stays_refused_is_a_fault_that_blames_the_credentials(gh: GitHub, service: Service) -> None:
    service.on("POST", "/repos/acme/widgets/issues/comments/5/reactions", reply({"message": "Bad credentials"}, 401))
    with pytest.raises(Fault, match="did not accept perf-gate's credentials") as caught:
        await gh.comments.react(REPO, 5, "eyes")
    assert caught.value.retryable
    assert len(service.asked()) == 2
    assert "ghs_" not in str(caught.value)


async def test_clock_that_runs_fast_is_named(gh: GitHub, service: Service) -> None:
    refusal = {"message": "'Expiration time' claim ('exp') is too far in the future"}
    service.on("GET", "/app", reply(refusal, 401))
    with pytest.raises(Fault, match="the clock of its machine is wrong"):
        await gh.app()


async def test_git_gets_a_token_that_only_reads_contents(gh: GitHub, service: Service) -> None:
    assert await gh.token(42) == "ghs_7_first"
    assert service.requests[-1].json == {"permissions": {"contents": "read"}}


async def test_app_is_asked_once_who_it_is(gh: GitHub, service: Service) -> None:
    assert (await gh.app()).login == "perf-gate[bot]"
    assert (await gh.app()).id == 7
    assert service.asked() == ["GET /app"]


async def test_installation_is_found_or_absent(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/installation", reply({"id": 42}))
    service.on("GET", "/repos/acme/elsewhere/installation", reply({"message": "Not Found"}, 404))
    assert await gh.installation("acme/widgets") == 42
    assert await gh.installation("acme/elsewhere") is None


async def test_token_shows_its_secret_to_nobody(gh: GitHub, service: Service, now: Now) -> None:
    await gh.token(42)
    kept = gh._tokens._kept
    assert kept
    assert "ghs_" not in repr(kept)
    assert all(token.expires_at == now() + timedelta(hours=1) for token in kept.values())
