"""What GitHub may answer, and what becomes of it: a value, a wait, or a sentence that says what is wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import Permission
from tests.github.conftest import REPO, TOKEN_PATH, Now
from tests.github.service import Seen, Service, hang_up, raw, reply

PERMISSION = "/repos/acme/widgets/collaborators/ann/permission"
REACTIONS = "/repos/acme/widgets/issues/comments/5/reactions"
WRITE = {"permission": "write", "role_name": "maintain", "user": None}
BROKEN = reply({"message": "Server Error"}, 502)


async def test_every_request_says_who_asks_and_which_api_it_means(gh: GitHub, service: Service) -> None:
    service.on("GET", PERMISSION, reply(WRITE))
    await gh.permissions.of(REPO, "ann")
    for seen in service.requests:
        assert seen.headers["user-agent"] == "perf-gate"
        assert seen.headers["accept"] == "application/vnd.github+json"
        assert seen.headers["x-github-api-version"] == "2022-11-28"


@pytest.mark.parametrize(
    "trouble", [BROKEN, hang_up, raw(b"<html>", "application/json", 503), raw(b"", "text/html", 520)]
)
async def test_read_survives_a_moment_of_trouble(gh: GitHub, service: Service, trouble: Any) -> None:
    service.on("GET", PERMISSION, trouble, trouble, reply(WRITE))
    assert await gh.permissions.of(REPO, "ann") == Permission("write", "maintain")


@pytest.mark.parametrize("trouble", [BROKEN, hang_up])
async def test_lasting_trouble_is_left_to_the_engine(gh: GitHub, service: Service, now: Now, trouble: Any) -> None:
    service.on("GET", PERMISSION, trouble)
    with pytest.raises(Fault) as caught:
        await gh.permissions.of(REPO, "ann")
    assert caught.value.retryable
    assert caught.value.retry_after is None
    assert len(now.waits) == 2  # between three tries
    assert sum(now.waits) < 3


@pytest.mark.parametrize("trouble", [BROKEN, hang_up])
async def test_write_is_never_repeated_in_the_dark(gh: GitHub, service: Service, trouble: Any) -> None:
    service.on("POST", REACTIONS, trouble)
    with pytest.raises(Fault) as caught:
        await gh.comments.react(REPO, 5, "eyes")
    assert caught.value.retryable
    assert service.asked() == [f"POST {REACTIONS}"]


LIMITS: list[tuple[int, dict[str, str], str, timedelta]] = [
    (429, {}, "Too many requests", timedelta(seconds=60)),
    (429, {"retry-after": "17"}, "", timedelta(seconds=17)),
    (403, {"retry-after": "90"}, "You have exceeded a secondary rate limit.", timedelta(seconds=90)),
    (403, {"retry-after": "soon"}, "You have exceeded a secondary rate limit.", timedelta(seconds=60)),
    (403, {}, "You have exceeded a secondary rate limit. Please wait a few minutes.", timedelta(seconds=60)),
    (403, {}, "You have triggered an abuse detection mechanism.", timedelta(seconds=60)),
    (
        403,
        {"x-ratelimit-remaining": "0", "x-ratelimit-limit": "5000"},
        "API rate limit exceeded",
        timedelta(seconds=600),
    ),
    (
        429,
        {"x-ratelimit-remaining": "0", "x-ratelimit-limit": "5000"},
        "API rate limit exceeded",
        timedelta(seconds=600),
    ),
    (403, {"x-ratelimit-remaining": "0"}, "API rate limit exceeded", timedelta(seconds=60)),
]


@pytest.mark.parametrize(("status", "headers", "message", "wait"), LIMITS)
async def test_limit_asks_for_its_wait_and_is_not_answered_with_more_requests(
    gh: GitHub, service: Service, now: Now, status: int, headers: dict[str, str], message: str, wait: timedelta
) -> None:
    if "x-ratelimit-limit" in headers:
        headers = headers | {"x-ratelimit-reset": str(int(now().timestamp()) + 600)}
    service.on("GET", PERMISSION, reply({"message": message}, status, headers), reply(WRITE))
    with pytest.raises(Fault, match="asks perf-gate to slow down") as caught:
        await gh.permissions.of(REPO, "ann")
    assert caught.value.retryable
    assert caught.value.retry_after == wait
    with pytest.raises(Fault, match="asks perf-gate to slow down") as again:
        await gh.comments.react(REPO, 5, "eyes")
    assert again.value.retry_after == wait
    assert len(service.asked()) == 1
    now.pass_(seconds=wait.total_seconds())
    assert (await gh.permissions.of(REPO, "ann")).permission == "write"


async def test_limit_on_buying_a_token_is_kept_too(gh: GitHub, service: Service, now: Now) -> None:
    service.on("POST", TOKEN_PATH, reply({"message": "slow down"}, 429, {"retry-after": "30"}))
    for _ in range(2):
        with pytest.raises(Fault, match="asks perf-gate to slow down") as caught:
            await gh.comments.react(REPO, 5, "eyes")
        assert caught.value.retry_after == timedelta(seconds=30)
    assert len(service.requests) == 1


async def test_limit_of_one_installation_does_not_silence_another(gh: GitHub, service: Service, now: Now) -> None:
    service.on("GET", PERMISSION, reply({"message": "slow down"}, 429))
    with pytest.raises(Fault):
        await gh.permissions.of(REPO, "ann")
    assert (await gh.app()).slug == "perf-gate"


async def test_missing_permission_is_named(gh: GitHub, service: Service) -> None:
    headers = {"x-accepted-github-permissions": "issues=write; pull_requests=write", "x-ratelimit-remaining": "0"}
    service.on("POST", REACTIONS, reply({"message": "Resource not accessible by integration"}, 403, headers))
    with pytest.raises(Fault) as caught:
        await gh.comments.react(REPO, 5, "eyes")
    assert not caught.value.retryable
    assert caught.value.public == (
        "perf-gate lacks the permission `issues=write; pull_requests=write` to react to a comment; "
        "an owner can grant it in the settings of the App."
    )


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Unable to create comment because issue is locked.", "the conversation is locked"),
        ("This installation has been suspended", "its installation is suspended"),
        ("Repository access blocked", "GitHub forbids perf-gate to react to a comment"),
    ],
)
async def test_other_refusals_say_what_they_mean(gh: GitHub, service: Service, message: str, sentence: str) -> None:
    service.on("POST", REACTIONS, reply({"message": message}, 403))
    with pytest.raises(Fault, match=sentence) as caught:
        await gh.comments.react(REPO, 5, "eyes")
    assert not caught.value.retryable


async def test_words_of_github_stay_private(gh: GitHub, service: Service) -> None:
    """They can quote what a pull request says."""
    errors = [{"resource": "Reaction", "code": "custom", "message": "@everyone look"}]
    service.on("POST", REACTIONS, reply({"message": "Validation Failed", "errors": errors}, 422))
    with pytest.raises(Fault) as caught:
        await gh.comments.react(REPO, 5, "eyes")
    assert not caught.value.retryable
    assert caught.value.public == "GitHub refused when perf-gate tried to react to a comment (HTTP 422)."
    assert "@everyone look" in caught.value.private


async def test_gone_and_unknown_are_faults_where_nothing_may_be_absent(gh: GitHub, service: Service) -> None:
    path = "/repos/acme/widgets/issues/1/comments"
    for status in (404, 410):
        service.on("GET", path, reply({"message": "no"}, status))
        with pytest.raises(Fault, match="has no such thing") as caught:
            await gh.comments.list(REPO, 1)
        assert not caught.value.retryable


@pytest.mark.parametrize("status", [301, 307, 308])
async def test_renamed_repository_is_followed_with_the_same_method(gh: GitHub, service: Service, status: int) -> None:
    moved = "/repositories/99/issues/comments/5/reactions"
    service.on("POST", REACTIONS, reply({}, status, {"location": moved}))
    service.on("POST", moved, reply({"id": 1}, 201))
    assert await gh.comments.react(REPO, 5, "eyes")
    assert service.asked() == [f"POST {REACTIONS}", f"POST {moved}"]
    assert service.requests[-1].json == {"content": "eyes"}


async def test_redirect_elsewhere_is_not_followed(gh: GitHub, service: Service) -> None:
    thief = Service()
    await thief.start()
    service.on("GET", PERMISSION, reply({}, 301, {"location": f"{thief.url}/repos"}))
    with pytest.raises(Fault, match="another server"):
        await gh.permissions.of(REPO, "ann")
    assert thief.requests == []
    await thief.stop()


async def test_circle_of_redirects_ends(gh: GitHub, service: Service) -> None:
    service.on("GET", PERMISSION, reply({}, 301, {"location": PERMISSION}))
    with pytest.raises(Fault, match="in circles"):
        await gh.permissions.of(REPO, "ann")


async def test_redirect_to_nowhere_is_a_fault(gh: GitHub, service: Service) -> None:
    service.on("POST", REACTIONS, reply({}, 307))
    with pytest.raises(Fault):
        await gh.comments.react(REPO, 5, "eyes")


@pytest.mark.parametrize(
    "answer", [raw(b"[]", "application/json"), raw(b"\xff", "application/json"), raw(b"[" * 99_999, "application/json")]
)
async def test_answer_of_another_shape_is_a_fault_that_may_pass(gh: GitHub, service: Service, answer: Any) -> None:
    service.on("GET", PERMISSION, answer)
    with pytest.raises(Fault, match="could not be understood") as caught:
        await gh.permissions.of(REPO, "ann")
    assert caught.value.retryable


async def test_endless_answer_is_cut_off(gh: GitHub, service: Service) -> None:
    async def endless(_seen: Seen) -> web.StreamResponse:
        return web.Response(body=b"x" * 2000, content_type="application/vnd.github.raw")

    service.on("GET", "/repos/acme/widgets/contents/a.toml", endless)
    with pytest.raises(Fault, match="too large"):
        await gh.contents.read(REPO, "a.toml", "main", limit=1000)


async def test_names_cannot_leave_their_place_in_the_path(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/collaborators/..%2F..%2Fapp%3Fx/permission", reply({}, 404))
    assert (await gh.permissions.of(REPO, "../../app?x")).permission == "none"
