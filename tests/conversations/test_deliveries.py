"""What comes to the webhook door: what is refused there leaves no trace, and what comes twice counts once."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest

from bot.gating.states import RunState
from bot.server.checks import LARGEST_BODY
from simulator.deliveries import Delivery, headers, signature
from tests.conversations.world import SECRET, World, world


async def knock(w: World, body: bytes, **changes: str | None) -> int:
    """Send `body` as GitHub would, with headers changed or (None) left out; the HTTP status."""
    sent: dict[str, str | None] = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": "0b989ba4-242f-11e5-81e1-c7b6966d2516",
        "X-Hub-Signature-256": f"sha256={signature(SECRET, body)}",
    }
    sent |= {name.replace("_", "-"): value for name, value in changes.items()}
    given = {name: value for name, value in sent.items() if value is not None}
    skipped = {"Content-Type"} if sent["Content-Type"] is None else set()
    async with (
        aiohttp.ClientSession(skip_auto_headers=skipped) as session,
        session.post(w.door.make_url("/webhook"), data=io.BytesIO(body), headers=given) as answer,
    ):
        await answer.read()
        return answer.status


def mention(w: World) -> Delivery:
    """The last delivery of a comment."""
    return next(one for one in reversed(w.sim.delivery_log()) if one.event == "issue_comment")


async def nothing_stored(w: World) -> None:
    await w.settle()
    overview = await w.app.engine.overview()
    assert (overview.deliveries, overview.effects) == ((), ())
    assert await w.app.engine.log(w.key) == ()
    assert w.says_nothing()


WRONG: tuple[tuple[int, dict[str, str | None]], ...] = (
    (401, {"X_Hub_Signature_256": None}),
    (401, {"X_Hub_Signature_256": "sha256=" + "0" * 64}),
    (401, {"X_Hub_Signature_256": "sha1=" + "0" * 40}),
    (400, {"X_GitHub_Event": None}),
    (400, {"X_GitHub_Event": "../../etc"}),
    (400, {"X_GitHub_Delivery": None}),
    (415, {"Content_Type": None}),
    (415, {"Content_Type": "application/x-www-form-urlencoded"}),
    (415, {"Content_Type": "application/json; charset=utf-16"}),
)


async def test_a_real_mention_with_wrong_headers_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.lose_deliveries(event="issue_comment")
        await w.says("rev", "@perf-gate")
        body = mention(w).body
        for status, changes in WRONG:
            assert await knock(w, body, **changes) == status, changes
            await nothing_stored(w)
        # The very same body is welcome when nothing is wrong with it: no refusal burnt its GUID.
        assert await knock(w, body) == 202
        await w.settle()
        assert "waiting for an answer" in w.canonical()
        w.reply()


async def test_a_signed_body_that_is_no_event_is_refused(tmp_path: Path) -> None:
    bodies = (b"", b"[]", b"{", b'"@perf-gate"', b"\xff\xfe", b'{"a":' * 100_000, b'{"a": "@perf-gate", "a": }')
    async with world(tmp_path) as w:
        for body in bodies:
            assert await knock(w, body) == 400, body[:20]
            await nothing_stored(w)


async def test_a_signed_body_of_another_shape_is_kept_for_the_operator_and_answers_nobody(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        odd = {"action": "created", "comment": {"id": "one", "body": "@perf-gate go"}, "issue": 5, "repository": []}
        assert await knock(w, json.dumps(odd).encode()) == 202
        await w.settle()
        (kept,) = (await w.app.engine.overview()).deliveries
        assert kept.attempts == 1
        assert not kept.dead
        assert w.says_nothing()


async def test_a_body_over_githubs_limit_is_not_read(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        assert await knock(w, b" " * (LARGEST_BODY + 1)) == 413
        await nothing_stored(w)


async def test_a_repository_that_is_not_served_is_acknowledged_and_dropped(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        other = await w.sim.create_repository("somebody/else")
        (app,) = w.sim.world.apps.values()
        await w.sim.install(app, other)
        pull = await w.sim.open_pull(other, author="rev", files={"README.md": "# Else\n"})
        before = w.asked_github()
        await w.sim.comment(other, pull.number, "rev", "@perf-gate go")
        await w.settle()
        assert mention(w).status_code == 202
        assert w.asked_github() == before


async def test_a_delivery_that_comes_twice_counts_once(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        w.sim.duplicate_deliveries(times=2, event="issue_comment")
        await w.to_question()
        w.sim.duplicate_deliveries(event="issue_comment")
        await w.says("rev", "@perf-gate go")
        assert "watching the ferry" in w.canonical()
        assert (await w.run()).ordinal == 1
        assert w.iris.submissions == 1


async def test_redelivering_what_was_handled_does_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        question = mention(w)
        await w.says("rev", "@perf-gate go")
        assert "watching the ferry" in w.canonical()
        for one in [
            known for known in w.sim.delivery_log() if known.id >= question.id or known.event == "issue_comment"
        ]:
            await w.sim.redeliver(one)
        await w.settle()
        assert all(one.status_code == 202 for one in w.sim.delivery_log())
        assert w.says_nothing()
        assert w.iris.submissions == 1


async def test_a_lost_go_counts_when_it_is_redelivered(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        w.sim.lose_deliveries(event="issue_comment")
        said = await w.says("rev", "@perf-gate go")
        assert w.reactions(said) == []
        lost = next(one for one in w.sim.delivery_log() if one.status_code == 0)
        await w.sim.redeliver(lost)
        await w.settle()
        assert w.reactions(said) == ["eyes", "rocket"]
        assert "watching the ferry" in w.canonical()
        assert headers(lost)["X-GitHub-Delivery"] == lost.guid


async def test_the_order_of_arrival_is_not_the_order_of_events(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        w.sim.hold_deliveries()
        await w.sim.comment(w.repository, w.pull.number, "rev", "@perf-gate")
        await w.sim.comment(w.repository, w.pull.number, "ada", "@perf-gate status")
        await w.sim.push(w.repository, w.pull.number, {"docs/index.md": "# M\n"})
        await w.sim.comment(w.repository, w.pull.number, "rev", "go")
        await w.sim.release_deliveries(reverse=True)
        await w.settle()
        # The bare `go` came before any question and is ignored; the question is about the head as it is now.
        assert "waiting for an answer" in w.canonical()
        status, question = sorted(w.new_comments(), key=len)
        assert "There is no run" in status
        assert w.pull.head_sha[:10] in question
        assert (await w.run()).state is RunState.awaiting_reviewer
        assert w.iris.submissions == 0


async def test_a_comment_that_the_bot_fails_at_is_answered_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("a bug")

    async with world(tmp_path) as w:
        with monkeypatch.context() as patched:
            patched.setattr("bot.gating.deliveries.parse_comment", broken)
            await w.says("rev", "@perf-gate status")
            await w.live_through(timedelta(hours=1))
            assert (await w.app.engine.overview()).dead == 1
            assert "a mistake of my own" in w.reply()
        # An operator who mended the bug tries again: what was answered stays answered.
        await w.app.engine.revive()
        await w.settle()
        assert w.says_nothing()
