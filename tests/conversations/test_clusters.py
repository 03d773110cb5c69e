"""A cluster that is taken away, or silent for good, while a ferry is on it: an end is reached all the same, and the
tier goes to whoever waits for it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.effects.context import ClusterUnset, Rooms
from bot.gating.model import Run
from bot.gating.states import RunState
from bot.iris.adapter import Iris
from bot.iris.controller import Unknown
from tests.conversations.world import golden, world


def unset(rooms: Rooms, run: Run) -> Iris:
    raise ClusterUnset("spare")


async def nobody_knows(iris: Iris, job_id: str) -> Unknown:
    return Unknown(job_id, "no healthy upstream")


async def test_a_ferry_on_a_cluster_that_is_gone_is_told_and_given_up_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.effects.ferry._UNSET_FOR", timedelta(minutes=30))
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        monkeypatch.setattr(Rooms, "iris_of", unset)
        await w.live_through(timedelta(minutes=25))
        golden("clusters/gone", w.canonical())
        await w.live_through(timedelta(minutes=15))
        golden("clusters/given_up", w.canonical())
        assert (await w.run()).state is RunState.stuck
        assert list((await w.app.engine.overview()).slots) == []
        # Nothing is submitted there either.
        await w.says("rev", "@perf-gate retry")
        assert "**Why:** the cluster `spare` is not set up any more\n" in w.canonical()
        assert (await w.run()).state is RunState.stuck
        assert w.iris.submissions == 1


async def test_a_stop_ends_a_run_whose_cluster_is_gone_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        monkeypatch.setattr(Rooms, "iris_of", unset)
        await w.says("rev", "@perf-gate stop")
        assert "once more" in w.reply()
        await w.says("rev", "@perf-gate stop")
        assert "only a person can stop it now" in w.canonical()
        assert (await w.run()).state is RunState.stuck


@pytest.mark.parametrize("takes_the_stop", [False, True])
async def test_a_stop_is_let_go_after_a_long_while_without_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, takes_the_stop: bool
) -> None:
    monkeypatch.setattr("bot.effects.submit._SILENT_FOR", timedelta(minutes=20))
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        if takes_the_stop:
            w.iris.stops_slowly = 10**6
            monkeypatch.setattr(Iris, "state", nobody_knows)
        w.iris.silent = not takes_the_stop
        await w.says("rev", "@perf-gate stop")
        assert "once more" in w.reply()
        await w.says("rev", "@perf-gate stop")
        await w.live_through(timedelta(minutes=15))
        assert (await w.run()).state is RunState.ferrying
        await w.live_through(timedelta(minutes=10))
        assert "only a person can stop it now" in w.canonical()
        assert (await w.run()).state is RunState.stuck
