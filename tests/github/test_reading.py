"""Pull requests, permissions, files, runs and artifacts: what is read, and what being absent looks like."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import Artifact, Gone, Permission, PullInfo, Repository, TooLarge
from bot.github.names import Marker, RepoRef
from tests.github.conftest import REPO
from tests.github.service import Seen, Service, hang_up, raw, reply

HEAD = "a" * 40
BASE_REPO = {"id": 99, "full_name": "acme/widgets"}
NOT_FOUND = reply({"message": "Not Found"}, 404)
ZIP = "/repos/acme/widgets/actions/artifacts/3/zip"


def pull(head_repo: dict[str, Any] | None = BASE_REPO, **changes: Any) -> dict[str, Any]:
    plain = {
        "number": 7,
        "title": "Faster",
        "user": {"login": "ann", "type": "User"},
        "head": {"sha": HEAD, "ref": "faster", "repo": head_repo},
        "base": {"sha": "b" * 40, "ref": "main", "repo": BASE_REPO},
        "state": "open",
        "merged": False,
        "draft": False,
    }
    return plain | changes


async def test_pull_request(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/pulls/7", reply(pull()))
    expected = PullInfo(7, "Faster", "ann", HEAD, "main", "acme/widgets", False, "open", False, False)
    assert await gh.pulls.get(REPO, 7) == expected


@pytest.mark.parametrize(("head_repo", "name"), [({"id": 5, "full_name": "bob/widgets"}, "bob/widgets"), (None, None)])
async def test_fork_is_a_fork_even_when_it_is_gone(
    gh: GitHub, service: Service, head_repo: dict[str, Any] | None, name: str | None
) -> None:
    service.on("GET", "/repos/acme/widgets/pulls/7", reply(pull(head_repo, user=None, state="closed", merged=True)))
    info = await gh.pulls.get(REPO, 7)
    assert info is not None
    assert (info.is_fork, info.head_repo_full_name, info.author) == (True, name, "ghost")
    assert (info.state, info.merged) == ("closed", True)


async def test_pull_request_that_a_replica_does_not_know_yet(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/pulls/7", NOT_FOUND, reply(pull()))
    assert await gh.pulls.get(REPO, 7) is not None


async def test_pull_request_that_does_not_exist(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/pulls/7", NOT_FOUND)
    assert await gh.pulls.get(REPO, 7) is None


@pytest.mark.parametrize("sha", ["--upload-pack=evil", "main", HEAD + "\n", "A" * 40, ""])
async def test_sha_that_is_none_goes_no_further(gh: GitHub, service: Service, sha: str) -> None:
    service.on("GET", "/repos/acme/widgets/pulls/7", reply(pull(head={"sha": sha, "repo": BASE_REPO})))
    with pytest.raises(Fault, match="could not be understood"):
        await gh.pulls.get(REPO, 7)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (reply({"permission": "admin", "role_name": "admin"}), Permission("admin", "admin")),
        (reply({"permission": "write", "role_name": "maintain"}), Permission("write", "maintain")),
        (reply({"permission": "read", "role_name": "triage"}), Permission("read", "triage")),
        (reply({"permission": "none", "role_name": ""}), Permission("none", "none")),
        (reply({"permission": "owner-of-everything"}), Permission("none", "none")),
        (NOT_FOUND, Permission("none", "none")),
    ],
)
async def test_permission(gh: GitHub, service: Service, answer: Any, expected: Permission) -> None:
    service.on("GET", "/repos/acme/widgets/collaborators/dependabot%5Bbot%5D/permission", answer)
    assert await gh.permissions.of(REPO, "dependabot[bot]") == expected


async def test_permission_is_not_guessed_when_github_is_in_trouble(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/collaborators/ann/permission", reply({"message": "oops"}, 500))
    with pytest.raises(Fault):
        await gh.permissions.of(REPO, "ann")


async def test_file_is_read_raw_at_its_commit(gh: GitHub, service: Service) -> None:
    path = "/repos/acme/widgets/contents/.github%2Fperf-gate.toml"
    service.on("GET", path, raw(b"\xff\x00 = 1", "application/vnd.github.raw+json; charset=utf-8"))
    assert await gh.contents.read(REPO, ".github/perf-gate.toml", HEAD) == b"\xff\x00 = 1"
    assert service.requests[-1].headers["accept"] == "application/vnd.github.raw+json"
    assert service.requests[-1].query == {"ref": HEAD}


@pytest.mark.parametrize("answer", [NOT_FOUND, raw(b"[]", "application/json; charset=utf-8")])
async def test_absent_file_and_folder_are_no_file(gh: GitHub, service: Service, answer: Any) -> None:
    service.on("GET", "/repos/acme/widgets/contents/lib", answer)
    assert await gh.contents.read(REPO, "lib", "main") is None


async def test_repository_under_its_new_name(gh: GitHub, service: Service) -> None:
    moved = {"id": 99, "full_name": "acme/gadgets", "default_branch": "trunk", "private": True}
    service.on("GET", "/repos/acme/widgets", reply({}, 301, {"location": f"{service.url}/repositories/99"}))
    service.on("GET", "/repositories/99", reply(moved))
    assert await gh.contents.repository(REPO) == Repository(99, "acme/gadgets", "trunk", True)


async def test_scheduled_successes_are_asked_for_as_such(gh: GitHub, service: Service) -> None:
    path = "/repos/acme/widgets/actions/workflows/tier1.yaml/runs"
    service.on("GET", path, reply({"total_count": 0, "workflow_runs": []}))
    assert await gh.actions.scheduled_successes(REPO, "tier1.yaml", "main", most=60) == []
    query = {"branch": "main", "event": "schedule", "status": "success", "per_page": "60"}
    assert service.requests[-1].query == query


async def test_unknown_workflow_has_no_runs(gh: GitHub, service: Service) -> None:
    service.on("GET", "/repos/acme/widgets/actions/workflows/gone.yaml/runs", NOT_FOUND)
    assert await gh.actions.scheduled_successes(REPO, "gone.yaml", "main", most=60) == []


async def test_artifacts_of_every_page_latest_first(gh: GitHub, service: Service) -> None:
    path = "/repos/acme/widgets/actions/runs/12/artifacts"

    def page(*ids: int) -> dict[str, Any]:
        listed = [{"id": number, "name": "report", "expired": False, "size_in_bytes": 10} for number in ids]
        return {"total_count": 3, "artifacts": listed}

    link = {"link": f'<{service.url}{path}?page=2>; rel="next"'}
    service.on("GET", path, reply(page(1, 3), headers=link), reply(page(2)))
    assert await gh.actions.artifacts(REPO, 12) == [Artifact(number, "report", False, 10) for number in (3, 2, 1)]


@pytest.fixture
async def store() -> AsyncIterator[Service]:
    """Where artifacts lie: another origin, which turns away whoever shows credentials."""
    store = Service()
    await store.start()
    yield store
    await store.stop()


def guarded(body: bytes) -> Any:
    def answer(seen: Seen) -> web.StreamResponse:
        refused = "authorization" in seen.headers
        return web.Response(body=b"" if refused else body, status=403 if refused else 200)

    return answer


async def test_download_carries_no_credentials_to_the_store(gh: GitHub, service: Service, store: Service) -> None:
    service.on("GET", ZIP, reply(None, 302, {"location": f"{store.url}/signed?sig=secret"}))
    store.on("GET", "/signed", guarded(b"PK zip"))
    assert await gh.actions.download(REPO, 3, limit=100) == b"PK zip"
    assert store.requests[0].query == {"sig": "secret"}
    assert "authorization" in service.requests[-1].headers


def stream(body: bytes) -> AsyncIterator[bytes]:
    async def pieces() -> AsyncIterator[bytes]:
        yield body

    return pieces()


@pytest.mark.parametrize("without_length", [False, True])
async def test_download_stops_at_its_limit(gh: GitHub, service: Service, store: Service, without_length: bool) -> None:
    body = b"x" * 101
    service.on("GET", ZIP, reply(None, 302, {"location": f"{store.url}/big"}))
    store.on("GET", "/big", lambda _seen: web.Response(body=stream(body) if without_length else body))
    assert await gh.actions.download(REPO, 3, limit=100) == TooLarge(100)
    assert await gh.actions.download(REPO, 3, limit=101) == body


@pytest.mark.parametrize("status", [404, 410])
async def test_expired_artifact_is_gone_on_either_side(
    gh: GitHub, service: Service, store: Service, status: int
) -> None:
    service.on("GET", ZIP, reply({"message": "gone"}, status), reply(None, 302, {"location": f"{store.url}/a"}))
    store.on("GET", "/a", reply(None, status))
    assert await gh.actions.download(REPO, 3, limit=100) == Gone()
    assert await gh.actions.download(REPO, 3, limit=100) == Gone()


@pytest.mark.parametrize("trouble", [reply(None, 403), reply(None, 500), reply(None, 302, {"location": "/x"}), hang_up])
async def test_trouble_of_the_store_may_pass_and_keeps_its_address_secret(
    gh: GitHub, service: Service, store: Service, trouble: Any
) -> None:
    service.on("GET", ZIP, reply(None, 302, {"location": f"{store.url}/signed?sig=c4n4ry"}))
    store.on("GET", "/signed", trouble)
    with pytest.raises(Fault) as caught:
        await gh.actions.download(REPO, 3, limit=100)
    assert caught.value.retryable
    assert "c4n4ry" not in str(caught.value)


@pytest.mark.parametrize("location", [None, "", "file:///etc/passwd", "//[", "/zip"])
async def test_address_that_leads_nowhere_is_not_followed(gh: GitHub, service: Service, location: str | None) -> None:
    service.on("GET", ZIP, reply(None, 302, {} if location is None else {"location": location}))
    with pytest.raises(Fault):
        await gh.actions.download(REPO, 3, limit=100)


async def test_deliveries_are_read_back_to_a_moment_and_asked_for_again(gh: GitHub, service: Service) -> None:
    def entry(number: int, hour: int, status: int) -> dict[str, Any]:
        at = f"2026-08-03T{hour:02}:00:00Z"
        rest = {"redelivery": False, "event": "issue_comment", "status": "", "duration": 1.0, "action": "created"}
        return {"id": number, "guid": f"g-{number}", "delivered_at": at, "status_code": status} | rest

    link = {"link": f'<{service.url}/app/hook/deliveries?cursor=x>; rel="next"'}
    service.on("GET", "/app/hook/deliveries", reply([entry(3, 9, 202), entry(2, 8, 500), entry(1, 6, 0)], headers=link))
    found = await gh.deliveries.since(datetime(2026, 8, 3, 7, tzinfo=UTC))
    assert [(delivery.guid, delivery.succeeded) for delivery in found] == [("g-3", True), ("g-2", False)]
    service.on("POST", "/app/hook/deliveries/2/attempts", reply({}, 202), NOT_FOUND)
    assert await gh.deliveries.redeliver(2)
    assert not await gh.deliveries.redeliver(2)


@pytest.mark.parametrize(
    "name", ["", "acme", "acme/", "/widgets", "acme/widgets/x", "acme/..", "a b/c", "acme/w?x", "-a/b"]
)
def test_repository_has_a_name_that_fits_a_path(name: str) -> None:
    with pytest.raises(ValueError, match="is called owner/name"):
        RepoRef(1, name)


def test_marker_opens_the_body_or_is_its_last_line() -> None:
    assert Marker("<!-- m -->").marks("<!-- m -->\nrest")
    assert not Marker("<!-- m -->").marks(" <!-- m -->")
    assert Marker("<!-- m -->", opens=False).marks("title\r\n <!-- m --> \r\n")
    # A program's output that the bot quotes can hold any line, but never the last one.
    assert not Marker("<!-- m -->", opens=False).marks("```\n<!-- m -->\n```")
    assert not Marker("<!-- m -->", opens=False).marks("title <!-- m -->")
