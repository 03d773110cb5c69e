"""Who may call: JWTs by the App's key, installation tokens by the clock, permissions by the installation."""

from __future__ import annotations

from datetime import timedelta

import pytest

from simulator.simulator import Simulator
from tests.simulator.client import AppClient, key_pair

MARIN = "marin-community/marin"


async def test_the_app_learns_who_it_is_and_where_it_is_installed(simulator: Simulator, github: AppClient) -> None:
    app = await github.get("/app", jwt=True)
    assert (app.status, app.body["slug"], app.body["installations_count"]) == (200, "perf-gate", 1)
    found = await github.get(f"/repos/{MARIN}/installation", jwt=True)
    assert (found.status, found.body["id"]) == (200, github.installation.id)
    await simulator.create_repository("marin-community/other")
    assert (await github.get("/repos/marin-community/other/installation", jwt=True)).status == 404


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        ({"exp": 11 * 60}, "'Expiration time' claim ('exp') is too far in the future"),
        ({"exp": -1}, "'Expiration time' claim ('exp') must be a numeric value"),
        ({"iat": 60}, "'Issued at' claim ('iat') must be an Integer"),
    ],
)
async def test_a_jwt_outside_its_times_is_refused(
    simulator: Simulator, github: AppClient, seconds: dict[str, int], message: str
) -> None:
    now = simulator.world.clock.now()
    token = github.sign(**{claim: now + timedelta(seconds=by) for claim, by in seconds.items()})
    refused = await github.get("/app", authorization=f"Bearer {token}")
    assert refused.status == 401
    assert refused.body["message"].startswith(message)


async def test_a_jwt_of_another_key_or_issuer_is_refused(simulator: Simulator, github: AppClient) -> None:
    header, claims, _ = github.sign().split(".")
    forged = f"{header}.{claims}.{github.sign(jti='other').rsplit('.', 1)[1]}"
    for token in (forged, github.sign(iss="7"), "no.jwt.atall"):
        refused = await github.get("/app", authorization=f"Bearer {token}")
        assert (refused.status, refused.body["message"]) == (401, "A JSON web token could not be decoded")


async def test_an_installation_token_is_long_and_dies_after_an_hour(simulator: Simulator, github: AppClient) -> None:
    assert github.token.startswith(f"ghs_{github.app.id}_")
    assert len(github.token) > 300
    await simulator.advance(timedelta(minutes=59))
    assert (await github.get(f"/repos/{MARIN}")).status == 200
    await simulator.advance(timedelta(minutes=1))
    expired = await github.get(f"/repos/{MARIN}")
    assert (expired.status, expired.body["message"]) == (401, "Bad credentials")


async def test_a_token_can_be_narrowed_and_never_widened(simulator: Simulator, github: AppClient) -> None:
    path = f"/app/installations/{github.installation.id}/access_tokens"
    narrow = await github.post(path, {"repositories": ["marin"], "permissions": {"contents": "read"}}, jwt=True)
    assert narrow.body["permissions"] == {"metadata": "read", "contents": "read"}
    assert [repository["full_name"] for repository in narrow.body["repositories"]] == [MARIN]
    github.token = narrow.body["token"]
    pull = await simulator.open_pull(MARIN, author="alice", files={"a.py": "1\n"})
    refused = await github.get(f"/repos/{MARIN}/pulls/{pull.number}")
    assert (refused.status, refused.body["message"]) == (403, "Resource not accessible by integration")
    assert refused.headers["X-Accepted-GitHub-Permissions"] == "pull_requests=read"
    wide = await github.post(path, {"permissions": {"contents": "write"}}, jwt=True)
    assert wide.status == 422
    strange = await github.post(path, {"repositories": ["unknown"]}, jwt=True)
    assert strange.status == 422


async def test_what_an_app_may_not_see_is_not_there(simulator: Simulator, github: AppClient) -> None:
    await simulator.create_repository("rivals/secret", private=True)
    await simulator.create_repository("rivals/open")
    assert (await github.get("/repos/rivals/secret")).status == 404
    assert (await github.get("/repos/rivals/open")).status == 200
    await simulator.open_issue("rivals/open", author="bob", title="Hello")
    written = await github.post("/repos/rivals/open/issues/1/comments", {"body": "advertising"})
    assert written.status == 403


async def test_uninstalling_ends_the_tokens(simulator: Simulator, github: AppClient) -> None:
    await simulator.uninstall(github.installation)
    assert (await github.get(f"/repos/{MARIN}")).status == 401
    gone = await github.post(f"/app/installations/{github.installation.id}/access_tokens", jwt=True)
    assert gone.status == 404


async def test_a_renamed_repository_redirects(simulator: Simulator, github: AppClient) -> None:
    pull = await simulator.open_pull(MARIN, author="alice", files={"a.py": "1\n"})
    await simulator.rename_repository(MARIN, "zephyr")
    moved = await github.get(f"/repos/{MARIN}/pulls/{pull.number}")
    assert moved.status == 301
    assert (await github.get(moved.headers["Location"])).body["number"] == pull.number
    written = await github.post(f"/repos/{MARIN}/issues/{pull.number}/comments", {"body": "hello"})
    assert written.status == 307
    assert (await github.post(written.headers["Location"], {"body": "hello"})).status == 201


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [
        ("marin-community", "admin", "admin"),
        ("ann", "admin", "admin"),
        ("mia", "write", "maintain"),
        ("wes", "write", "write"),
        ("tom", "read", "triage"),
        ("cus", "write", "release-captain"),
        ("stranger", "none", "none"),
    ],
)
async def test_the_permission_look_up(
    simulator: Simulator, github: AppClient, login: str, permission: str, role: str
) -> None:
    for name, given in {"ann": "admin", "mia": "maintain", "wes": "write", "tom": "triage"}.items():
        await simulator.collaborator(MARIN, name, given)
    await simulator.collaborator(MARIN, "cus", "write", role_name="release-captain")
    simulator.account("stranger")
    found = await github.get(f"/repos/{MARIN}/collaborators/{login}/permission")
    assert (found.body["permission"], found.body["role_name"]) == (permission, role)


async def test_bots_and_unknown_users_have_no_permission(simulator: Simulator, github: AppClient) -> None:
    for login in ("nobody", "perf-gate%5Bbot%5D"):
        assert (await github.get(f"/repos/{MARIN}/collaborators/{login}/permission")).status == 404


async def test_two_apps_hear_of_one_event_with_one_guid(simulator: Simulator, github: AppClient) -> None:
    other = await simulator.create_app(
        "linter", public_key=key_pair()[1], webhook_secret="s", webhook_url=github.app.webhook_url
    )
    await simulator.install(other, MARIN)
    await simulator.open_issue(MARIN, author="alice", title="x")
    await simulator.comment(MARIN, 1, "alice", "hello")
    await simulator.settled()
    guids = [one.guid for one in simulator.delivery_log() if one.event == "issue_comment"]
    assert len(guids) == 2
    assert len(set(guids)) == 1
