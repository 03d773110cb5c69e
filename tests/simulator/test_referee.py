"""The referees notice what GitHub would not forgive, on both sides, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.call import Reply
from simulator.conversation_payloads import issue_comment
from simulator.operations import Operation, operations
from simulator.simulator import Simulator
from tests.simulator.client import HEADERS, AppClient, Listener

MARIN = "marin-community/marin"
COMMENTS = f"/repos/{MARIN}/issues/1/comments"
CREATE = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"


@pytest.fixture(autouse=True)
async def pull(simulator: Simulator, github: AppClient) -> None:
    await simulator.open_pull(MARIN, author="alice", files={"a.py": "1\n"})


def taken(simulator: Simulator) -> list[str]:
    """The violations so far, which were the point of the test."""
    found = list(simulator.violations)
    simulator.violations.clear()
    return found


def operation(simulator: Simulator, name: str) -> Operation:
    return next(one for one in operations(simulator.announcer, simulator.deliveries) if one.name == name)


@pytest.mark.parametrize(
    ("path", "options", "objection"),
    [
        (f"{COMMENTS}?per_page=101", {}, "query per_page: 101 is not within 1 and 100"),
        (f"{COMMENTS}?perpage=10", {}, "unknown query name perpage"),
        (f"{COMMENTS}?since=yesterday", {}, 'query since: body: "yesterday" is not a "date-time"'),
        (COMMENTS, {"headers": {"X-GitHub-Api-Version": ""}}, "header X-GitHub-Api-Version is not 2022-11-28"),
        (COMMENTS, {"headers": {"Accept": "text/html"}}, "header Accept: text/html asks for no media type of GitHub's"),
        ("/app", {}, "it needs the App's JWT, the caller is installation"),
        (f"/repos/{MARIN}", {"jwt": True}, "it needs an installation token, the caller is app"),
        ("/user", {}, "no such operation is simulated"),
    ],
)
async def test_a_request_out_of_order(
    simulator: Simulator, github: AppClient, path: str, options: dict[str, Any], objection: str
) -> None:
    await github.get(path, **options)
    assert [violation.endswith(objection) for violation in taken(simulator)] == [True]


@pytest.mark.parametrize(
    ("body", "objection"),
    [
        ({"body": "x", "in_reply_to": 1}, "Additional properties are not allowed ('in_reply_to' was unexpected)"),
        ({"text": "x"}, '"body" is a required property'),
        ({"body": 7}, '7 is not of type "string"'),
    ],
)
async def test_a_request_body_out_of_order(
    simulator: Simulator, github: AppClient, body: dict[str, Any], objection: str
) -> None:
    await github.post(COMMENTS, body)
    found = taken(simulator)
    assert any(objection in violation for violation in found)
    assert all(violation.startswith(f"{CREATE}: request") for violation in found)


async def test_a_client_without_a_name_is_turned_away(simulator: Simulator, github: AppClient) -> None:
    headers = {**HEADERS, "User-Agent": ""}
    assert (await github.get(COMMENTS, headers=headers)).status == 403


async def test_a_response_out_of_order(simulator: Simulator, github: AppClient) -> None:
    comment = await simulator.comment(MARIN, 1, "alice", "words")
    good = issue_comment(simulator.world, comment)
    create = operation(simulator, CREATE)
    simulator.referee.response(create, Reply(201, good))
    assert taken(simulator) == []
    for broken, objection in (
        (Reply(201, {**good, "id": "7"}), 'id: "7" is not of type "integer"'),
        (Reply(201, {**good, "created_at": "today"}), 'created_at: "today" is not a "date-time"'),
        (Reply(201, {key: value for key, value in good.items() if key != "user"}), '"user" is a required property'),
        (Reply(200, good), "this status is not declared"),
        (Reply(201), "a body is declared, none was sent"),
        (Reply(429, {"error": "slow down"}), '"message" is a required property'),
    ):
        simulator.referee.response(create, broken)
        assert any(objection in violation for violation in taken(simulator)), objection


async def test_a_delivery_out_of_order_is_seen_by_both_schemas(
    simulator: Simulator, github: AppClient, listener: Listener
) -> None:
    await simulator.comment(MARIN, 1, "alice", "words")
    await simulator.settled()
    payload = listener.events("issue_comment")[0][1]
    simulator.referee.delivery("issue_comment", payload)
    assert taken(simulator) == []
    broken = json.loads(json.dumps(payload))
    broken["comment"]["id"] = None
    simulator.referee.delivery("issue_comment", broken)
    found = taken(simulator)
    assert any("(webhooks)" in violation for violation in found)
    assert any("(webhooks-strict)" in violation for violation in found)
    simulator.referee.delivery("issue_comment", {**payload, "invented": True})
    assert [violation.partition(":")[0] for violation in taken(simulator)] == [
        "delivery issue_comment.created (webhooks-strict)"
    ]


async def test_a_delivery_nobody_described(simulator: Simulator, github: AppClient) -> None:
    simulator.referee.delivery("issue_comment", {"action": "shouted"})
    assert len(taken(simulator)) == 2


async def test_every_operation_is_described(simulator: Simulator, github: AppClient) -> None:
    described = set(simulator.referee.schemas.documents["rest"]["operations"])
    assert {one.name for one in operations(simulator.announcer, simulator.deliveries)} == described | {"POST /graphql"}
