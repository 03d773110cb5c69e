"""Made-up comments said on a real pull request, over HTTP: what speaks to the bot is answered once."""

from __future__ import annotations

import asyncio
import re
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


async def says(w: World, place: Place, login: str, body: str) -> tuple[int, list[str]]:
    """Say it there; its number, and the bot's reactions."""
    if place == "comment":
        comment = await w.says(login, body)
        return comment.id, w.reactions(comment)
    if place == "review":
        review = await w.sim.review(w.repository, w.pull.number, login, body)
        await w.settle()
        return review.id, []
    remark = await w.sim.review_comment(w.repository, w.pull.number, login, body, path=SHUFFLE)
    await w.settle()
    return remark.id, [reaction.content for reaction in remark.reactions]


def every_word(w: World) -> list[str]:
    threads = w.sim.review_comments(w.repository, w.pull.number, by=BOT)
    return [comment.body for comment in w.comments()] + [remark.body for remark in threads]


def answers_to(w: World, number: int) -> int:
    """Replies in words to this comment, which their hidden marker names."""
    return sum(bool(re.search(rf"<!-- perf-gate:reply (?:[a-z]+ )?{number}\b", body)) for body in every_word(w))


async def play(folder: Path, said: list[tuple[Written, Place]]) -> None:
    """Somebody without any permission says all of it: whatever is understood is denied, so that nothing ever runs."""
    async with world(folder) as w:
        w.sim.account("eve")
        for written, place in said:
            before = len(every_word(w))
            _, signs = await says(w, place, "eve", written.body)
            new = len(every_word(w)) - before
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


async def play_with_permission(folder: Path, said: list[tuple[Written, Place, str]]) -> None:
    """Reviewer and author say all of it, so that runs begin, end and are asked about meanwhile."""
    async with world(folder) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        for written, place, login in said:
            number, signs = await says(w, place, login, written.body)
            words = answers_to(w, number)
            if written.said is None:
                assert (signs, words) == ([], 0), (written, place, login)
            elif place == "review":
                assert (signs, words) == ([], 1), (written, place, login)
            else:
                assert signs[0] == "eyes", (written, place, login)
                assert len(signs) == 2, (written, place, login)
                assert signs[1] in SETTLED, (written, place, login)
                assert words <= 1, (written, place, login)
        w.new_comments()


@given(st.lists(st.tuples(comments(), st.sampled_from(["comment", "review", "thread"])), min_size=30, max_size=30))
@settings(deadline=None, max_examples=1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_every_addressed_comment_is_answered_once_on_github(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[Written, Place]]
) -> None:
    asyncio.run(play(tmp_path_factory.mktemp("fuzz"), said))


@given(
    st.lists(
        st.tuples(comments(), st.sampled_from(["comment", "review", "thread"]), st.sampled_from(["rev", "rev", "ada"])),
        min_size=30,
        max_size=30,
    )
)
@settings(deadline=None, max_examples=1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_commands_that_do_run_are_answered_once_too(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[Written, Place, str]]
) -> None:
    asyncio.run(play_with_permission(tmp_path_factory.mktemp("fuzz"), said))
