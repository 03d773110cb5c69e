"""The door: what GitHub signed is stored before it hears 202; all else is turned away with a reason, unstored."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import ClientSession

from bot.engine.port import Delivery, StoreError
from bot.server.checks import DEEPEST_NESTING, LARGEST_BODY
from bot.server.webhook import door as way_in
from tests.server.door import BODY, GUID, SECRET, Door, Serving, headers, sign


async def test_signed_delivery_is_stored_and_acknowledged(door: Door) -> None:
    assert await door.post() == (202, {"status": "accepted"})
    assert door.stored == [Delivery(GUID, "issue_comment", BODY)]


async def test_redelivery_is_acknowledged_and_stored_once(door: Door) -> None:
    await door.post()
    assert await door.post() == (202, {"status": "seen before"})
    assert len(door.stored) == 1


async def test_event_that_nobody_needs_keeps_only_its_guid(door: Door) -> None:
    status, _ = await door.post(X_GitHub_Event="ping")
    assert status == 202
    assert door.stored == [Delivery(GUID, "ping", None)]


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        "sha256=" + "0" * 64,
        sign(BODY).upper(),
        sign(BODY)[len("sha256=") :],
        sign(BODY, b"another secret"),
        sign(b"another body"),
        sign(BODY) + "0",
        "sha256=ſ" + "0" * 63,
        "sha1=" + hmac.new(SECRET, BODY, hashlib.sha1).hexdigest(),
    ],
)
async def test_what_is_not_signed_right_is_never_stored(door: Door, signature: str | None) -> None:
    status, answer = await door.post(X_Hub_Signature_256=signature)
    assert status == 401
    assert "PERF_GATE_WEBHOOK_SECRET" in answer["error"]
    assert door.stored == []


REFUSED: list[tuple[bytes, dict[str, str | None], int, str]] = [
    (BODY, {"X_GitHub_Event": None}, 400, "X-GitHub-Event"),
    (BODY, {"X_GitHub_Event": "Issue Comment"}, 400, "X-GitHub-Event"),
    (BODY, {"X_GitHub_Event": "x" * 65}, 400, "X-GitHub-Event"),
    (BODY, {"X_GitHub_Delivery": None}, 400, "X-GitHub-Delivery"),
    (BODY, {"X_GitHub_Delivery": "../../etc/passwd"}, 400, "X-GitHub-Delivery"),
    (BODY, {"X_GitHub_Delivery": "0" * 65}, 400, "X-GitHub-Delivery"),
    (BODY, {"Content_Type": "application/x-www-form-urlencoded"}, 415, "choose application/json"),
    (BODY, {"Content_Type": "text/plain"}, 415, "choose application/json"),
    (BODY, {"Content_Type": "application/json; charset=utf-7"}, 415, "in UTF-8"),
    (BODY, {"Content_Type": "application/json; charset=ü"}, 415, "in UTF-8"),
    (b"", {}, 400, "JSON object"),
    (b"null", {}, 400, "JSON object"),
    (b"[1]", {}, 400, "JSON object"),
    (b'"text"', {}, 400, "JSON object"),
    (b'{"a": 1', {}, 400, "JSON object"),
    (b'{"a": NaN}', {}, 400, "JSON object"),
    (b'{"a": "\xff"}', {}, 400, "JSON object"),
    (b'{"a": 1} x', {}, 400, "JSON object"),
    (b'{"@perf-gate": "\\ud800"}', {}, 400, "JSON object"),
    ("{}".encode("utf-16"), {}, 400, "JSON object"),
    (b'{"a": ' * 100_000 + b"1" + b"}" * 100_000, {}, 400, "JSON object"),
    (b'{"@perf-gate": ' + b"[" * DEEPEST_NESTING + b"]" * DEEPEST_NESTING + b"}", {}, 400, "nests deeper"),
]


@pytest.mark.parametrize(("body", "changes", "status", "sentence"), REFUSED)
async def test_what_is_no_delivery_is_refused_with_a_reason(
    door: Door, body: bytes, changes: dict[str, str | None], status: int, sentence: str
) -> None:
    got, answer = await door.post(body, **changes)
    assert got == status
    assert sentence in answer["error"]
    assert door.stored == []


async def test_nesting_up_to_the_limit_is_taken(door: Door) -> None:
    depth = DEEPEST_NESTING - 1
    status, _ = await door.post(b'{"@perf-gate": ' + b"[" * depth + b"]" * depth + b"}")
    assert status == 202


async def test_charset_is_allowed_to_be_utf8(door: Door) -> None:
    status, _ = await door.post(Content_Type="application/json; charset=UTF-8")
    assert status == 202


async def test_body_that_is_encoded_is_refused_before_it_is_expanded(door: Door) -> None:
    status, answer = await door.post(Content_Encoding="gzip")
    assert status in {400, 415}
    assert door.stored == []
    assert answer["error"]


async def speak(door: Door, *lines: bytes, hang_up: bool = False) -> bytes:
    """A client that says exactly this; the first line of the answer, empty where there is none."""
    host, _, port = door.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.writelines(lines)
    if hang_up:
        writer.write_eof()
    answer = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return answer


def spoken(**changes: str | None) -> bytes:
    lines = [f"{name}: {value}\r\n" for name, value in headers(BODY, Host="bot", Connection="close", **changes).items()]
    return ("POST /webhook HTTP/1.1\r\n" + "".join(lines)).encode() + b"\r\n"


async def test_body_announced_over_25_mb_is_refused_unread(door: Door) -> None:
    answer = await speak(door, spoken(Content_Length=str(LARGEST_BODY + 1)))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert door.stored == []


async def test_body_that_grows_over_25_mb_is_cut_off(door: Door) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(26):
            yield b" " * 1024 * 1024

    status, answer = await door.post(pieces())
    assert status == 413
    assert "larger than" in answer["error"]
    assert door.stored == []


async def test_body_of_just_25_mb_is_taken(door: Door) -> None:
    body = b'{"a": "' + b"x" * (LARGEST_BODY - 9) + b'"}'
    assert len(body) == LARGEST_BODY
    status, _ = await door.post(io.BytesIO(body), X_Hub_Signature_256=sign(body))
    assert status == 202


async def test_body_that_breaks_off_is_not_stored(door: Door) -> None:
    assert await speak(door, spoken(Content_Length="500"), BODY, hang_up=True) == b""
    assert door.stored == []


async def test_chunk_that_lies_about_its_size_is_not_stored(door: Door) -> None:
    answer = await speak(door, spoken(Transfer_Encoding="chunked"), b"5\r\n{}\r\nzz\r\n", BODY)
    assert b" 400 " in answer
    assert door.stored == []


async def test_body_that_does_not_come_is_not_waited_for(serving: Serving) -> None:
    """Neither is one whose later chunks cannot be parsed: aiohttp would wait for them as long as the client stays."""
    async with serving(patience=timedelta(0)) as door:
        answer = await speak(door, spoken(Content_Length="500"), BODY)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert door.stored == []


@pytest.mark.parametrize(
    "trouble", [OSError("disk full"), StoreError("database is locked", transient=True), TimeoutError()]
)
async def test_store_that_fails_is_said_so_that_github_can_redeliver(door: Door, trouble: Exception) -> None:
    door.trouble = trouble
    status, answer = await door.post()
    assert status == 503
    assert "redeliver" in answer["error"]
    door.trouble = None
    assert await door.post() == (202, {"status": "accepted"})


async def test_secret_can_be_rotated_without_losing_a_delivery(serving: Serving) -> None:
    async with serving([b"new secret", SECRET]) as door:
        assert (await door.post())[0] == 202
        assert (await door.post(X_Hub_Signature_256=sign(BODY, b"new secret")))[0] == 202
        assert (await door.post(X_Hub_Signature_256=sign(BODY, b"older secret")))[0] == 401


@pytest.mark.parametrize("secret", [b"", [], [b"good", b""]])
def test_empty_secret_is_no_secret(secret: Any) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        way_in(secret, Door().take, Door().keep)


async def test_health_is_answered(door: Door) -> None:
    async with ClientSession() as session, session.get(f"{door.url}/healthz") as response:
        assert (response.status, await response.json()) == (200, {"status": "ok"})
