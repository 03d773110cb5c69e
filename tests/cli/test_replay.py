"""A saved delivery, sent again to the door of a running server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from tests.conversations.world import SECRET, World, world


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
        refused = await replay(w, tmp_path / "delivery.json", {"comment": {}})
        assert refused.exit_code == 1
        assert refused.output.startswith("401 ")
        assert "does not match the body" in refused.output
        unknown = await replay(w, tmp_path / "delivery.json", {"zen": "Keep it"})
        assert (unknown.exit_code, "give --event" in unknown.output) == (2, True)


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.json").write_text('{"comment": {}}')
    monkeypatch.setenv("PERF_GATE_PORT", "1")
    without = CliRunner().invoke(main, ["replay", str(tmp_path / "one.json")])
    assert "set PERF_GATE_WEBHOOK_SECRET" in without.output
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", "a webhook secret")
    result = CliRunner().invoke(main, ["replay", str(tmp_path / "one.json")])
    assert result.exit_code == 2
    assert "nobody answers at http://127.0.0.1:1/webhook" in result.output
