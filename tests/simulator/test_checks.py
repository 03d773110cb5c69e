"""Check runs as an App writes them and people press them; hidden comments; an App that loses what it had."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.simulator import Simulator
from tests.simulator.client import AppClient, Listener

MARIN = "marin-community/marin"
RUNS = f"/repos/{MARIN}/check-runs"
BUTTON = {"label": "Go", "description": "Run the gate.", "identifier": "go"}


@pytest.fixture
async def head(simulator: Simulator, github: AppClient) -> str:
    pull = await simulator.open_pull(MARIN, author="alice", files={"a.py": "1\n"})
    return pull.head_sha


def run_of(head: str, **more: Any) -> dict[str, Any]:
    output = {"title": "Reading", "summary": "…"}
    return {"name": "gate", "head_sha": head, "external_id": "one", "status": "queued", "output": output, **more}


async def test_a_run_is_made_found_completed_and_pressed(
    simulator: Simulator, github: AppClient, listener: Listener, head: str
) -> None:
    made = await github.post(RUNS, run_of(head))
    assert (made.status, made.body["status"], made.body["pull_requests"][0]["number"]) == (201, "queued", 1)
    found = await github.get(f"/repos/{MARIN}/commits/{head}/check-runs?check_name=gate&app_id={github.app.id}")
    assert [run["id"] for run in found.body["check_runs"]] == [made.body["id"]]
    path = f"{RUNS}/{made.body['id']}"
    await github.request("PATCH", path, {"status": "in_progress"})
    done = {"conclusion": "action_required", "actions": [BUTTON], "output": {"title": "Asks", "summary": "Go?"}}
    completed = await github.request("PATCH", path, done)
    assert (completed.body["status"], completed.body["conclusion"]) == ("completed", "action_required")
    await simulator.press(made.body["id"], "go", by="reviewer")
    await simulator.rerequest(made.body["id"], by="reviewer")
    (run,) = simulator.check_runs(MARIN, head)
    await simulator.rerequest_suite(run.suite, by="reviewer")
    await simulator.settled()
    told = listener.events("check_run", "check_suite")
    assert [event for event, _ in told] == [
        "check_run.created",
        "check_run.completed",
        "check_suite.completed",
        "check_run.requested_action",
        "check_run.rerequested",
        "check_suite.rerequested",
    ]
    pressed = told[3][1]
    assert pressed["requested_action"] == {"identifier": "go"}
    assert (pressed["sender"]["login"], pressed["check_run"]["external_id"]) == ("reviewer", "one")


async def test_a_completed_run_never_runs_again_and_a_later_one_hides_it(
    simulator: Simulator, github: AppClient, head: str
) -> None:
    first = (await github.post(RUNS, run_of(head, status="completed", conclusion="neutral"))).body
    again = await github.request("PATCH", f"{RUNS}/{first['id']}", {"status": "in_progress"})
    assert (again.body["status"], again.body["conclusion"]) == ("completed", "neutral")
    later = (await github.post(RUNS, run_of(head, external_id="two"))).body
    listing = f"/repos/{MARIN}/commits/{head}/check-runs"
    assert [run["id"] for run in (await github.get(listing)).body["check_runs"]] == [later["id"]]
    every = (await github.get(f"{listing}?filter=all")).body
    assert [run["id"] for run in every["check_runs"]] == [later["id"], first["id"]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "completed"},
        {"output": {"title": "x", "summary": "x" * 65_536}},
        {"actions": [{**BUTTON, "label": "x" * 21}]},
        {"actions": [{**BUTTON, "description": "x" * 41}]},
        {"actions": [BUTTON] * 4},
        {"head_sha": "0" * 40},
    ],
)
async def test_what_github_would_not_take(
    simulator: Simulator, github: AppClient, head: str, wrong: dict[str, Any]
) -> None:
    assert (await github.post(RUNS, run_of(head) | wrong)).status == 422
    simulator.violations.clear()
    assert simulator.check_runs(MARIN) == []


async def test_of_a_fork_no_pull_request_is_named(
    simulator: Simulator, github: AppClient, listener: Listener, head: str
) -> None:
    pull = await simulator.open_pull(MARIN, author="bob", fork_owner="bob", head="own", files={"b.py": "1\n"})
    made = await github.post(RUNS, run_of(pull.head_sha))
    assert (made.status, made.body["pull_requests"]) == (201, [])
    with pytest.raises(LookupError):
        await simulator.press(made.body["id"], "go", by="reviewer")


QUERY = (
    "mutation($input: MinimizeCommentInput!) { minimizeComment(input: $input) { minimizedComment { isMinimized } } }"
)


async def minimize(github: AppClient, node: str, query: str = QUERY, **more: Any) -> Any:
    given = {"subjectId": node, "classifier": "OUTDATED", **more}
    answer = await github.post("/graphql", {"query": query, "variables": {"input": given}})
    assert answer.status == 200
    return answer.body


async def test_a_comment_is_hidden_by_the_graphql_mutation(simulator: Simulator, github: AppClient, head: str) -> None:
    comment = (await github.post(f"/repos/{MARIN}/issues/1/comments", {"body": "old"})).body
    assert await minimize(github, comment["node_id"]) == {
        "data": {"minimizeComment": {"minimizedComment": {"isMinimized": True}}}
    }
    (said,) = simulator.comments(MARIN, 1)
    assert said.minimized == "outdated"


async def test_what_graphql_refuses(simulator: Simulator, github: AppClient, head: str) -> None:
    comment = (await github.post(f"/repos/{MARIN}/issues/1/comments", {"body": "old"})).body
    node = comment["node_id"]
    refused = [
        await minimize(github, "bm9ib2R5"),
        await minimize(github, node, classifier="OLD"),
        await minimize(github, node, why="no such field"),
        await minimize(github, node, QUERY.replace("isMinimized", "isHidden")),
        await minimize(github, node, "{ viewer { login } }"),
    ]
    await simulator.grant(github.installation, {"metadata": "read"})
    refused.append(await minimize(github, node))
    assert [bool(body["errors"]) for body in refused] == [True] * 6
    assert refused[0]["errors"][0]["type"] == "NOT_FOUND"
    assert refused[-1]["errors"][0]["type"] == "FORBIDDEN"
    assert simulator.comments(MARIN, 1)[0].minimized == ""


async def test_an_installation_is_narrowed_suspended_moved_and_removed(
    simulator: Simulator, github: AppClient, listener: Listener, head: str
) -> None:
    path = f"/repos/{MARIN}/pulls/1"
    await simulator.grant(github.installation, {"metadata": "read", "pull_requests": "read"})
    assert (await github.post(RUNS, run_of(head))).status == 403
    await simulator.suspend(github.installation)
    assert (await github.get(path)).status == 403
    await simulator.unsuspend(github.installation)
    assert (await github.get(path)).status == 200
    await simulator.transfer_repository(MARIN, "elsewhere")
    assert (await github.get(path)).status == 404
    await simulator.uninstall(github.installation)
    assert (await github.get(path)).status == 401
    await simulator.settled()
    told = [event for event, _ in listener.events("installation", "installation_repositories")]
    assert told == [
        "installation.created",
        "installation.suspend",
        "installation.unsuspend",
        "installation_repositories.removed",
        "installation.deleted",
    ]


async def test_a_pull_request_becomes_a_draft_and_gets_another_base(
    simulator: Simulator, github: AppClient, listener: Listener, head: str
) -> None:
    await simulator.commit(MARIN, "release", {"c.py": "1\n"})
    await simulator.set_draft(MARIN, 1, True, by="alice")
    await simulator.set_draft(MARIN, 1, False, by="alice")
    await simulator.edit_pull(MARIN, 1, by="alice", base="release")
    await simulator.settled()
    told = listener.events("pull_request")
    assert [event for event, _ in told][1:] == [
        "pull_request.converted_to_draft",
        "pull_request.ready_for_review",
        "pull_request.edited",
    ]
    assert told[-1][1]["changes"]["base"]["ref"] == {"from": "main"}
    assert told[-1][1]["pull_request"]["base"]["ref"] == "release"
