"""A saved delivery, sent again to the door of a running server."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from bot.cli.replay import _here
from tests.conversations.world import SECRET, SHUFFLE, World, world


async def replay(w: World, file: Path, content: Any, *words: str) -> Result:
    door = str(w.door.make_url("/webhook"))

    def play() -> Result:
        file.write_text(json.dumps(content))
        return CliRunner().invoke(main, ["replay", str(file), "--to", door, *words])

    return await asyncio.to_thread(play)


async def test_a_saved_delivery_is_heard_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", SECRET)
    async with world(tmp_path) as w:
        w.sim.lose_deliveries(event="issue_comment")
        await w.says("rev", "@perf-gate")
        assert w.says_nothing()
        lost = next(one for one in w.sim.delivery_log() if one.event == "issue_comment")
        saved = {"guid": lost.guid, "event": lost.event, "request": {"headers": {}, "payload": json.loads(lost.body)}}
        heard = await replay(w, tmp_path / "delivery.json", saved, "--same-id")
        assert (heard.exit_code, heard.output) == (0, f'202 {{"status": "accepted"}}\nperf-gate trace {lost.guid}\n')
        await w.settle()
        assert "Proposed max_gate" in w.reply()
        w.canonical()
        assert '"seen before"' in (await replay(w, tmp_path / "again.json", saved, "--same-id")).output
        bare = await replay(w, tmp_path / "bare.json", json.loads(lost.body))
        assert bare.output.startswith('202 {"status": "accepted"}')
        await w.settle()


async def test_a_wrong_secret_is_told_in_the_servers_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", "another secret")
    async with world(tmp_path) as w:
        refused = await replay(w, tmp_path / "delivery.json", {"comment": {}, "issue": {}})
        assert refused.exit_code == 1
        assert refused.output.startswith("401 ")
        assert "does not match the body" in refused.output
        unknown = await replay(w, tmp_path / "delivery.json", {"zen": "Keep it"})
        assert (unknown.exit_code, "give --event" in unknown.output) == (2, True)


async def test_a_bare_comment_on_the_diff_is_sent_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", SECRET)
    # A proxy that is not there: nothing on this machine is reached through it.
    monkeypatch.setattr(urllib.request, "getproxies", lambda: {"http": "http://127.0.0.1:1"})
    async with world(tmp_path) as w:
        w.sim.lose_deliveries(event="pull_request_review_comment")
        await w.sim.review_comment(w.repository, w.pull.number, "rev", "@perf-gate", path=SHUFFLE, in_reply_to=None)
        await w.settle()
        lost = next(one for one in w.sim.delivery_log() if one.event == "pull_request_review_comment")
        sent = await replay(w, tmp_path / "bare.json", json.loads(lost.body))
        assert sent.output.startswith('202 {"status": "accepted"}')
        await w.settle()
        assert any("Proposed max_gate" in body for body in w.new_comments())


def test_what_cannot_be_sent_or_answered_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", SECRET)
    file = tmp_path / "one.json"
    file.write_text('{"guid": "g", "event": "issue_comment\\r\\nX: y", "request": {"payload": {}}}')
    forged = CliRunner().invoke(main, ["replay", str(file)])
    assert (forged.exit_code, "is no event's name" in forged.output) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def gibberish() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-OpenSSH\r\n")

        answering = threading.Thread(target=gibberish)
        answering.start()
        door = f"http://127.0.0.1:{server.getsockname()[1]}/webhook"
        odd = CliRunner().invoke(main, ["replay", str(file), "--event", "ping", "--to", door])
        answering.join()
    assert odd.exit_code == 2
    assert "speaks no HTTP (BadStatusLine)" in odd.output


@pytest.mark.parametrize(
    ("host", "door"),
    [("0.0.0.0", "http://127.0.0.1:1/"), ("::", "http://[::1]:1/"), ("10.0.0.7", "http://10.0.0.7:1/")],  # noqa: S104
)
def test_the_door_is_where_serve_listens(monkeypatch: pytest.MonkeyPatch, host: str, door: str) -> None:
    monkeypatch.setenv("PERF_GATE_HOST", host)
    monkeypatch.setenv("PERF_GATE_PORT", "1")
    assert _here() == f"{door}webhook"


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.json").write_text('{"comment": {}, "issue": {}}')
    monkeypatch.setenv("PERF_GATE_PORT", "1")
    without = CliRunner().invoke(main, ["replay", str(tmp_path / "one.json")])
    assert "set PERF_GATE_WEBHOOK_SECRET" in without.output
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", "a webhook secret")
    result = CliRunner().invoke(main, ["replay", str(tmp_path / "one.json")])
    assert result.exit_code == 2
    assert "nobody answers at http://127.0.0.1:1/webhook" in result.output
