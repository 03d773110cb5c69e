"""The main job as a conversation: a mention, a question, `go`, and one comment that is kept true to the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conversations.heard import SENTINEL
from tests.conversations.world import golden, world
from tests.engine import postgres_server


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str | None]:
    """Where the bot keeps its state; nobody on GitHub can tell."""
    if request.param == "sqlite":
        yield None
        return
    yield postgres_server.empty(tmp_path)
    postgres_server.drop(tmp_path)


async def test_from_a_mention_to_a_verdict(tmp_path: Path, database_url: str | None) -> None:
    async with world(tmp_path, database_url=database_url) as w:
        await w.scheduled_run()
        said = await w.says("rev", "@perf-gate")
        assert w.reactions(said) == ["eyes", "rocket"]
        golden("main_job/1_awaiting", w.canonical())
        golden("main_job/2_question", w.reply())
        await w.says("rev", "@perf-gate go")
        assert w.iris.submissions == 1
        golden("main_job/3_submitted", w.canonical())
        w.iris.start(download=300.0)
        await w.live_through(timedelta(minutes=4))
        golden("main_job/4_ferrying", w.canonical())
        await w.ferry_ends()
        golden("main_job/5_pass", w.canonical())
        assert w.iris.submissions == 1
        assert list((tmp_path / "state" / "perf-gate-trees").iterdir()) == []


async def test_a_slower_stage_fails_and_is_named(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.ferry_ends(normalize=1100.0)
        verdict = w.canonical()
        golden("main_job/fail", verdict)
        assert "❌" in verdict.splitlines()[2]
        assert "normalize" in "\n".join(verdict.splitlines()[:6])


async def test_a_second_mention_replaces_no_comment_and_starts_no_second_run(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        await w.says("rev", "@perf-gate go")
        golden("main_job/already", w.reply())
        await w.ferry_ends()
        assert w.canonical().startswith(SENTINEL)
        assert w.iris.submissions == 1
