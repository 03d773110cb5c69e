"""Looking up and listing over HTTP, against a controller that misbehaves in every way one can."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.faults import Fault
from bot.iris.controller import Absent, Controller, Found, Unknown
from bot.iris.http import HttpTransport

JOB = "/gate/name"
Handler = Callable[[web.Request], Awaitable[web.Response]]


class Answers:
    """A controller whose answers a test sets: method → JSON, a status with JSON, or a handler."""

    def __init__(self) -> None:
        self.by_method: dict[str, Any] = {}
        self.asked: list[tuple[str, Any]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method, body = request.path.rpartition("/")[2], await request.json()
        self.asked.append((request.path, body))
        answer = self.by_method.get(request.path, self.by_method.get(method))
        if answer is None:
            return web.Response(status=404, text="Not Found")
        if callable(answer):
            handled: web.StreamResponse = await answer(request)
            return handled
        status, data = answer if isinstance(answer, tuple) else (200, answer)
        return web.json_response(data, status=status)


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
async def transport(answers: Answers) -> AsyncIterator[HttpTransport]:
    application = web.Application()
    application.router.add_post("/{path:.*}", answers.handle)
    server = TestServer(application)
    await server.start_server()
    async with aiohttp.ClientSession() as session:
        yield HttpTransport(session, str(server.make_url("/")), timeout=timedelta(seconds=5))
    await server.close()


@pytest.fixture
def controller(transport: HttpTransport) -> Controller:
    return Controller(transport)


def job(job_id: str, state: str = "JOB_STATE_RUNNING", submitted: int = 1) -> dict[str, Any]:
    return {"jobId": job_id, "state": state, "submittedAt": {"epochMs": str(submitted)}}


async def test_a_known_job_is_found_in_whatever_state(answers: Answers, controller: Controller) -> None:
    answers.by_method["GetJobState"] = {"states": {JOB: "JOB_STATE_WORKER_FAILED"}}
    assert await controller.look_up(JOB) == Found(JOB, "worker_failed")


async def test_absent_is_said_only_when_the_listing_agrees(answers: Answers, controller: Controller) -> None:
    answers.by_method = {"GetJobState": {}, "ListJobs": {"totalCount": 0, "hasMore": False}}
    assert await controller.look_up(JOB) == Absent(JOB)
    answers.by_method["ListJobs"] = {"jobs": [job(f"{JOB}10")], "totalCount": 1, "hasMore": False}
    assert await controller.look_up(JOB) == Absent(JOB)
    answers.by_method["ListJobs"] = {"jobs": [job(JOB)], "totalCount": 1, "hasMore": False}
    assert await controller.look_up(JOB) == Found(JOB, "running")


@pytest.mark.parametrize(
    "by_method",
    [
        {},
        {"GetJobState": (503, {"code": "unavailable", "message": "starting"})},
        {"GetJobState": (500, {})},
        {"GetJobState": (401, {"code": "unauthenticated"})},
        {"GetJobState": {}, "ListJobs": {}},
        {"GetJobState": {}, "ListJobs": (502, {})},
        {"GetJobState": {"states": []}, "ListJobs": {"jobs": {}, "totalCount": 0}},
        {"GetJobState": {}, "ListJobs": {"jobs": [{"state": "JOB_STATE_RUNNING"}], "totalCount": 1}},
        {"GetJobState": [], "ListJobs": {"totalCount": 0}},
    ],
    ids=lambda by_method: json.dumps(by_method),
)
async def test_anything_else_is_unknown(answers: Answers, controller: Controller, by_method: dict[str, Any]) -> None:
    answers.by_method = by_method
    assert isinstance(await controller.look_up(JOB), Unknown)


async def test_silence_and_a_dropped_connection_are_unknown(answers: Answers) -> None:
    async def drop(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    async def never(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    application = web.Application()
    application.router.add_post("/{path:.*}", answers.handle)
    server = TestServer(application)
    await server.start_server()
    async with aiohttp.ClientSession() as session:
        quick = Controller(HttpTransport(session, str(server.make_url("/")), timeout=timedelta(milliseconds=300)))
        for handler in (drop, never):
            answers.by_method["GetJobState"] = handler
            assert isinstance(await quick.look_up(JOB), Unknown)
        await server.close()
        assert isinstance(await quick.look_up(JOB), Unknown)


async def test_a_tree_of_many_pages_is_read_to_its_end(answers: Answers, controller: Controller) -> None:
    everything = [
        job(JOB, submitted=1),
        *(job(f"{JOB}/child-{i}", submitted=2 + i) for i in range(1100)),
        job(f"{JOB}2"),
    ]

    async def page(request: web.Request) -> web.Response:
        query = (await request.json())["query"]
        first = query["offset"]
        jobs = everything[first : first + query["limit"]]
        more = first + len(jobs) < len(everything)
        return web.json_response({"jobs": jobs, "totalCount": len(everything), "hasMore": more})

    answers.by_method["ListJobs"] = page
    tree = await controller.jobs(JOB)
    assert [found.id for found in tree] == [JOB, *(f"{JOB}/child-{i}" for i in range(1100))]
    assert [body["query"]["offset"] for _, body in answers.asked] == [0, 500, 1000]


async def test_a_listing_without_end_is_not_followed_for_ever(answers: Answers, controller: Controller) -> None:
    answers.by_method["ListJobs"] = {"jobs": [job(JOB)] * 500, "totalCount": 10**6, "hasMore": True}
    assert len(await controller.jobs(JOB)) == 1
    assert len(answers.asked) == 11


async def test_stopping(answers: Answers, controller: Controller) -> None:
    answers.by_method["TerminateJob"] = {}
    assert await controller.terminate(JOB)
    answers.by_method["TerminateJob"] = (404, {"code": "not_found", "message": f"Job {JOB} not found"})
    assert not await controller.terminate(JOB)
    answers.by_method["TerminateJob"] = (403, {"code": "permission_denied", "message": "not yours"})
    with pytest.raises(Fault, match="refused") as caught:
        await controller.terminate(JOB)
    assert not caught.value.retryable
    # Without the controller's code a 404 is a proxy's.
    del answers.by_method["TerminateJob"]
    with pytest.raises(Fault) as caught:
        await controller.terminate(JOB)
    assert caught.value.retryable


async def test_logs_are_found_at_either_address(answers: Answers, transport: HttpTransport) -> None:
    proxied = "/proxy/system.log-server/finelog.logging.LogService/FetchLogs"
    entries = {"entries": [{"data": "one"}, {"data": "two"}, "odd"], "cursor": "2"}
    answers.by_method[proxied] = entries
    assert await transport.logs(f"{JOB}/coordinator", " complete, ", 20) == ["one", "two"]
    assert answers.asked[-1][1] == {
        "source": f"{JOB}/coordinator/",
        "matchScope": "MATCH_SCOPE_PREFIX",
        "substring": " complete, ",
        "tail": True,
        "maxLines": 20,
    }
    await transport.logs(JOB, "x", 1)
    assert [path for path, _ in answers.asked].count(proxied) == 2
    assert len(answers.asked) == 3
    answers.by_method = {"/finelog.logging.LogService/FetchLogs": {}}
    assert await transport.logs(JOB, "x", 1) == []
    answers.by_method = {}
    with pytest.raises(Fault, match="logs"):
        await transport.logs(JOB, "x", 1)
