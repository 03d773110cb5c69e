"""Made-up comments said on a real pull request, over HTTP: what speaks to the bot is answered once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conversation.markdown import Written, comments
from tests.conversations.heard import BOT
from tests.conversations.world import SHUFFLE, World, world

SETTLED = {"+1", "confused", "rocket"}
Place = Literal["comment", "review", "thread"]


async def says(w: World, place: Place, body: str) -> list[str]:
    """Say it there; the bot's reactions."""
    if place == "comment":
        return w.reactions(await w.says("eve", body))
    if place == "review":
        await w.sim.review(w.repository, w.pull.number, "eve", body)
        await w.settle()
        return []
    remark = await w.sim.review_comment(w.repository, w.pull.number, "eve", body, path=SHUFFLE)
    await w.settle()
    return [reaction.content for reaction in remark.reactions]


def answers(w: World) -> int:
    threads = w.sim.review_comments(w.repository, w.pull.number, by=BOT)
    return len(w.comments()) + len(threads)


async def play(folder: Path, said: list[tuple[Written, Place]]) -> None:
    """Somebody without any permission says all of it: whatever is understood is denied, so that nothing ever runs."""
    async with world(folder) as w:
        w.sim.account("eve")
        for written, place in said:
            before = answers(w)
            signs = await says(w, place, written.body)
            new = answers(w) - before
            assert new == (0 if written.said is None else 1), (written, place)
            if written.said is None or place == "review":
                assert signs == [], (written, place)
            else:
                assert signs[0] == "eyes", (written, place)
                assert len(signs) == 2, (written, place)
                assert signs[1] in SETTLED, (written, place)
        w.new_comments()
        stored = await w.app.engine.read(w.key)
        assert stored is None or stored.run is None


@given(st.lists(st.tuples(comments(), st.sampled_from(["comment", "review", "thread"])), min_size=30, max_size=30))
@settings(deadline=None, max_examples=1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_every_addressed_comment_is_answered_once_on_github(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[Written, Place]]
) -> None:
    asyncio.run(play(tmp_path_factory.mktemp("fuzz"), said))
