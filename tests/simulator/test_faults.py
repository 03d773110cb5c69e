"""Trouble on purpose, and what of it reached the state behind."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import aiohttp
import pytest

from simulator.simulator import Simulator
from tests.simulator.client import AppClient

MARIN = "marin-community/marin"
COMMENTS = f"/repos/{MARIN}/issues/1/comments"


@pytest.fixture(autouse=True)
async def issue(simulator: Simulator, github: AppClient) -> None:
    await simulator.open_issue(MARIN, author="alice", title="Talk")


def bodies(simulator: Simulator) -> list[str]:
    return [comment.body for comment in simulator.comments(MARIN, 1)]


async def test_an_error_before_or_after_the_act(simulator: Simulator, github: AppClient) -> None:
    simulator.fault("status", method="POST", path="*/comments", status=500)
    assert (await github.post(COMMENTS, {"body": "never"})).status == 500
    assert bodies(simulator) == []
    simulator.fault("status_after", method="POST", path="*/comments", status=502)
    assert (await github.post(COMMENTS, {"body": "done all the same"})).status == 502
    assert bodies(simulator) == ["done all the same"]
    assert (await github.post(COMMENTS, {"body": "well again"})).status == 201


async def test_a_connection_dropped_before_or_after_the_act(simulator: Simulator, github: AppClient) -> None:
    for kind, expected in (("drop", []), ("drop_after", ["words"])):
        simulator.fault(kind, method="POST")  # type: ignore[arg-type]
        with pytest.raises(aiohttp.ClientError):
            await github.post(COMMENTS, {"body": "words"})
        assert bodies(simulator) == expected
    assert [one.status for one in simulator.requests(method="POST")[-2:]] == [0, 0]


async def test_not_found_for_a_while(simulator: Simulator, github: AppClient) -> None:
    simulator.fault("status", path="*/issues/1/comments", times=2, status=404, message="Not Found")
    answers = [(await github.get(COMMENTS)).status for _ in range(3)]
    assert answers == [404, 404, 200]


async def test_a_stale_listing_lacks_what_is_newer(simulator: Simulator, github: AppClient) -> None:
    await simulator.comment(MARIN, 1, "alice", "old")
    simulator.fault("stale", method="GET", path="*/comments", times=2)
    fresh = (await github.post(COMMENTS, {"body": "fresh"})).body
    assert [comment["body"] for comment in (await github.get(COMMENTS)).body] == ["old"]
    assert (await github.get(f"/repos/{MARIN}/issues/comments/{fresh['id']}")).status == 200
    assert [comment["body"] for comment in (await github.get(COMMENTS)).body] == ["old"]
    assert [comment["body"] for comment in (await github.get(COMMENTS)).body] == ["old", "fresh"]


async def test_a_held_request_waits_until_it_is_let_go(simulator: Simulator, github: AppClient) -> None:
    fault = simulator.fault("hold", method="POST")
    waiting = asyncio.create_task(github.post(COMMENTS, {"body": "late"}))
    await simulator.wait_for(lambda: fault.hits == 1)
    assert bodies(simulator) == []
    simulator.release_fault(fault)
    assert (await waiting).status == 201
    assert bodies(simulator) == ["late"]


async def test_the_limits_tell_when_to_come_back(simulator: Simulator, github: AppClient) -> None:
    simulator.fault("primary_limit")
    primary = await github.get(f"/repos/{MARIN}")
    assert (primary.status, primary.headers["x-ratelimit-remaining"]) == (403, "0")
    assert primary.body["message"].startswith("API rate limit exceeded for installation ID")
    simulator.fault("secondary_limit", status=429, seconds=7)
    secondary = await github.get(f"/repos/{MARIN}")
    assert (secondary.status, secondary.headers["retry-after"]) == (429, "7")
    assert "secondary rate limit" in secondary.body["message"]
    simulator.fault("secondary_limit")
    assert "retry-after" not in (await github.get(f"/repos/{MARIN}")).headers


async def test_requests_are_counted_against_the_hour(simulator: Simulator, github: AppClient) -> None:
    simulator.limits.limit = 2
    first = await github.get(f"/repos/{MARIN}")
    assert first.headers["x-ratelimit-remaining"] == "1"
    unchanged = await github.get(f"/repos/{MARIN}", headers={"If-None-Match": first.headers["ETag"]})
    assert (unchanged.status, unchanged.headers["x-ratelimit-remaining"]) == (304, "1")
    assert (await github.get(f"/repos/{MARIN}")).headers["x-ratelimit-remaining"] == "0"
    assert (await github.get(f"/repos/{MARIN}")).status == 403
    await simulator.advance(timedelta(hours=1))
    github.token = (await github.post(f"/app/installations/{github.installation.id}/access_tokens", jwt=True)).body[
        "token"
    ]
    assert (await github.get(f"/repos/{MARIN}")).status == 200
