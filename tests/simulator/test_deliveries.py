"""Deliveries fail, get lost, arrive twice or late, and are sent again with the GUID they had."""

from __future__ import annotations

from datetime import timedelta

import pytest

from simulator.deliveries import Delivery, sent
from simulator.simulator import Simulator
from simulator.state import App
from tests.simulator.client import AppClient, Listener

MARIN = "marin-community/marin"
LOG = "/app/hook/deliveries"


@pytest.fixture
async def issue(simulator: Simulator, github: AppClient) -> int:
    await simulator.settled()
    return (await simulator.open_issue(MARIN, author="alice", title="Talk")).number


def said(listener: Listener) -> list[str]:
    return [payload["comment"]["body"] for _, payload in listener.events("issue_comment")]


async def test_an_app_is_greeted_with_a_ping_and_told_of_its_installation(
    simulator: Simulator, github: AppClient, listener: Listener
) -> None:
    await simulator.settled()
    (ping, hello), (installed, where) = listener.events()
    assert (ping, hello["hook"]["app_id"]) == ("ping", github.app.id)
    assert (installed, where["repositories"][0]["full_name"]) == ("installation.created", MARIN)


async def test_a_failed_delivery_is_found_in_the_log_and_sent_again(
    simulator: Simulator, github: AppClient, listener: Listener, issue: int
) -> None:
    listener.answers = [503]
    await simulator.comment(MARIN, issue, "alice", "@perf-gate")
    await simulator.settled()
    (failed,) = (await github.get(f"{LOG}?status=failure", jwt=True)).body
    assert (failed["status_code"], failed["event"], failed["action"]) == (503, "issue_comment", "created")
    assert (failed["status"], failed["redelivery"]) == ("Invalid HTTP Response: 503", False)
    again = await github.post(f"{LOG}/{failed['id']}/attempts", jwt=True)
    assert (again.status, again.body) == (202, {})
    await simulator.settled()
    first, second = [one for one in listener.received if one.headers["X-GitHub-Event"] == "issue_comment"]
    assert first.headers["X-GitHub-Delivery"] == second.headers["X-GitHub-Delivery"] == failed["guid"]
    assert first.body == second.body
    newest = (await github.get(LOG, jwt=True)).body[0]
    assert (newest["guid"], newest["redelivery"], newest["status"]) == (failed["guid"], True, "OK")


async def test_an_app_that_is_down_or_slow_misses_its_deliveries(
    simulator: Simulator, github: AppClient, listener: Listener, issue: int
) -> None:
    await simulator.set_webhook(github.app, "http://127.0.0.1:9/webhook", ping=False)
    await simulator.comment(MARIN, issue, "alice", "are you there?")
    await simulator.settled()
    down = simulator.delivery_log()[-1]
    assert (down.status, down.status_code, down.succeeded) == ("failed to connect to host", 0, False)
    await simulator.set_webhook(github.app, listener.url, ping=False)
    await simulator.redeliver(down)
    await simulator.settled()
    assert said(listener) == ["are you there?"]


async def test_an_answer_after_the_time_out_counts_as_failed(listener: Listener) -> None:
    async with Simulator(delivery_time_out=0.05) as sim:
        listener.willing.clear()
        app: App = await sim.create_app(public_key="none", webhook_url=listener.url)
        await sim.settled()
        (ping,) = sim.delivery_log(app)
        assert (ping.status, ping.status_code) == ("timed out", 0)
        listener.willing.set()


async def test_a_form_holds_the_same_json_and_is_signed_as_it_travels(
    simulator: Simulator, github: AppClient, issue: int, listener: Listener
) -> None:
    github.app.content_type = "form"
    config = (await github.get("/app/hook/config", jwt=True)).body
    assert (config["content_type"], config["url"], config["secret"]) == ("form", listener.url, "********")
    delivery = Delivery(1, "guid", github.app, "ping", None, b'{"a":"b c"}', None, None)
    assert sent(delivery) == b"payload=%7B%22a%22%3A%22b+c%22%7D"


async def test_the_log_keeps_three_days(simulator: Simulator, github: AppClient, issue: int) -> None:
    await simulator.comment(MARIN, issue, "alice", "old")
    await simulator.settled()
    old = simulator.delivery_log()[-1]
    await simulator.advance(timedelta(days=3))
    await simulator.comment(MARIN, issue, "alice", "new")
    await simulator.settled()
    assert len((await github.get(LOG, jwt=True)).body) == 1
    assert (await github.post(f"{LOG}/{old.id}/attempts", jwt=True)).status == 404


async def test_the_log_is_read_by_cursor(simulator: Simulator, github: AppClient, issue: int) -> None:
    for number in range(5):
        await simulator.comment(MARIN, issue, "alice", str(number))
    await simulator.settled()
    answer = await github.get(f"{LOG}?per_page=2", jwt=True)
    ids = [entry["id"] for entry in answer.body]
    while "next" in answer.links:
        answer = await github.get(answer.links["next"], jwt=True)
        ids += [entry["id"] for entry in answer.body]
    assert ids == [one.id for one in reversed(simulator.delivery_log())]
    assert len(ids) == 7


async def test_lost_doubled_and_reordered_deliveries(
    simulator: Simulator, github: AppClient, listener: Listener, issue: int
) -> None:
    simulator.lose_deliveries(event="issue_comment")
    await simulator.comment(MARIN, issue, "alice", "lost")
    simulator.duplicate_deliveries(event="issue_comment")
    await simulator.settled()
    await simulator.comment(MARIN, issue, "alice", "twice")
    await simulator.settled()
    simulator.hold_deliveries()
    for word in ("one", "two", "three"):
        await simulator.comment(MARIN, issue, "alice", word)
    await simulator.settled()
    assert said(listener) == ["twice", "twice"]
    await simulator.release_deliveries(reverse=True)
    await simulator.settled()
    assert said(listener)[2:] == ["three", "two", "one"]
    doubled = [one.headers["X-GitHub-Delivery"] for one in listener.received if b'"twice"' in one.body]
    assert len(set(doubled)) == 1
