"""A reviewer and an App talk on a pull request, and both see it as GitHub would show it."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from simulator.simulator import Simulator
from tests.simulator.client import AppClient, Listener

MARIN = "marin-community/marin"
COMMENTS = f"/repos/{MARIN}/issues/1/comments"


@pytest.fixture
async def pull(simulator: Simulator, github: AppClient) -> int:
    opened = await simulator.open_pull(MARIN, author="alice", files={"lib/zephyr/plan.py": "faster\n"})
    return opened.number


async def test_a_mention_is_delivered_signed_and_answered(
    simulator: Simulator, github: AppClient, listener: Listener, pull: int
) -> None:
    said = await simulator.comment(MARIN, pull, "reviewer", "@perf-gate")
    await simulator.settled()
    delivery = listener.received[-1]
    assert delivery.headers["X-GitHub-Event"] == "issue_comment"
    expected = hmac.new(b"hook-secret", delivery.body, hashlib.sha256).hexdigest()
    assert delivery.headers["X-Hub-Signature-256"] == f"sha256={expected}"
    assert delivery.headers["Content-Type"] == "application/json"
    event, payload = listener.events()[-1]
    assert event == "issue_comment.created"
    assert payload["comment"]["id"] == said.id
    assert payload["issue"]["pull_request"]["url"].endswith("/repos/marin-community/marin/pulls/1")
    assert payload["installation"]["id"] == github.installation.id
    assert payload["organization"]["login"] == "marin-community"

    answer = await github.post(COMMENTS, {"body": "🤖 looking"})
    assert answer.status == 201
    assert answer.body["user"]["login"] == "perf-gate[bot]"
    assert answer.body["user"]["type"] == "Bot"
    assert answer.headers["Location"] == answer.body["url"]
    found = await simulator.wait_for_comment(MARIN, pull, by="perf-gate[bot]", containing="looking", after=said)
    assert found.id == answer.body["id"]
    await simulator.settled()
    event, payload = listener.events()[-1]
    assert (event, payload["sender"]["login"]) == ("issue_comment.created", "perf-gate[bot]")
    assert payload["comment"]["performed_via_github_app"]["id"] == github.app.id


async def test_the_app_edits_deletes_and_reacts_and_everyone_hears_of_it(
    simulator: Simulator, github: AppClient, listener: Listener, pull: int
) -> None:
    mine = (await github.post(COMMENTS, {"body": "first"})).body
    path = f"/repos/{MARIN}/issues/comments/{mine['id']}"
    edited = await github.request("PATCH", path, {"body": "second"})
    assert (edited.status, edited.body["body"]) == (200, "second")
    assert (await github.get(path)).body["body"] == "second"
    first = await github.post(f"{path}/reactions", {"content": "eyes"})
    again = await github.post(f"{path}/reactions", {"content": "eyes"})
    assert (first.status, again.status) == (201, 200)
    assert first.body["id"] == again.body["id"]
    assert (await github.get(path)).body["reactions"]["eyes"] == 1
    assert (await github.request("DELETE", path)).status == 204
    assert (await github.get(path)).status == 404
    assert simulator.comments(MARIN, pull) == []
    await simulator.settled()
    heard = [(event, payload.get("changes")) for event, payload in listener.events("issue_comment")]
    assert heard == [
        ("issue_comment.created", None),
        ("issue_comment.edited", {"body": {"from": "first"}}),
        ("issue_comment.deleted", None),
    ]


async def test_an_app_may_not_touch_what_a_person_wrote(simulator: Simulator, github: AppClient, pull: int) -> None:
    said = await simulator.comment(MARIN, pull, "reviewer", "mine")
    path = f"/repos/{MARIN}/issues/comments/{said.id}"
    refused = await github.request("PATCH", path, {"body": "yours"})
    assert refused.status == 403
    assert refused.body["message"] == "Resource not accessible by integration"
    assert said.body == "mine"


async def test_a_comment_is_too_long_above_65536_characters(simulator: Simulator, github: AppClient, pull: int) -> None:
    fits = await github.post(COMMENTS, {"body": "x" * 65_536})
    assert fits.status == 201
    refused = await github.post(COMMENTS, {"body": "x" * 65_537})
    assert refused.status == 422
    assert refused.body["errors"][0]["message"] == "body is too long (maximum is 65536 characters)"
    empty = await github.post(COMMENTS, {"body": "  "})
    assert empty.status == 422
    assert len(simulator.comments(MARIN, pull)) == 1


async def test_a_long_conversation_comes_in_pages_linked_by_the_header(
    simulator: Simulator, github: AppClient, pull: int
) -> None:
    said = [await simulator.comment(MARIN, pull, "reviewer", f"word {number}") for number in range(65)]
    first = await github.get(COMMENTS)
    assert len(first.body) == 30
    assert set(first.links) == {"next", "last"}
    seen, answer = list(first.body), first
    while "next" in answer.links:
        answer = await github.get(answer.links["next"])
        seen += answer.body
    assert [comment["id"] for comment in seen] == [comment.id for comment in said]
    assert set(answer.links) == {"prev", "first"}
    whole = await github.get(f"{COMMENTS}?per_page=100")
    assert len(whole.body) == 65
    assert whole.links == {}


async def test_comments_of_a_plain_issue_have_no_pull_request(
    simulator: Simulator, github: AppClient, listener: Listener
) -> None:
    issue = await simulator.open_issue(MARIN, author="alice", title="Slow")
    await simulator.comment(MARIN, issue.number, "reviewer", "@perf-gate")
    await simulator.settled()
    assert "pull_request" not in listener.events("issue_comment")[0][1]["issue"]
    assert (await github.get(f"/repos/{MARIN}/pulls/{issue.number}")).status == 404
    assert (await github.get(f"/repos/{MARIN}/issues/{issue.number}/comments")).status == 200
