"""What is remembered of how things came about: who asked for an effect, every attempt, and what its performer noted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from bot.engine.port import Effect, EffectContext, Outcome
from bot.engine.views import History
from tests.engine import postgres_server
from tests.engine.script import Act, Do, Noted
from tests.engine.stage import MINUTE, Flaky, Hands, Shell, Stage, playing
from tests.engine.test_crash import kill_after


class Noting(Hands):
    async def __call__(self, effect: Effect, context: EffectContext[Noted]) -> Outcome[Do]:
        context.notes.append({"looked": effect.attempt})
        return await super().__call__(effect, context)


async def tried_twice(stage: Stage) -> History:
    stage.hands.errors["x"] = [Flaky()]
    await stage.do("a", Do("placed", effects=(Act("x"),)))
    await stage.clock.pass_time(stage.engine, 2 * MINUTE)
    return await stage.engine.history("a")


async def test_each_attempt_stands_with_its_time_its_end_and_its_notes(shell: Shell) -> None:
    async with playing(shell, hands=Noting()) as stage:
        found = await tried_twice(stage)
        assert [(one.effect, one.attempt, one.ended_as, one.error, one.notes) for one in found.attempts] == [
            ("x", 1, "broke", "Flaky: flaky", [{"looked": 1}]),
            ("x", 2, "done", None, [{"looked": 2}]),
        ]
        first, second = found.attempts
        assert second.began_at - first.ended_at == MINUTE


async def test_an_effect_names_the_move_that_asked_for_it(shell: Shell) -> None:
    async with playing(shell) as stage:
        found = await tried_twice(stage)
        (act,) = found.acts
        placed, told = found.moves
        assert (act.id, act.status, act.attempts, act.asked_by) == ("x", "done", 2, placed.seq)
        assert (placed.cause, told.cause) == ("test", "effect:x")
        assert b"placed" in placed.event


async def test_an_attempt_that_died_with_its_process_is_remembered(
    shell: Shell, shell_name: str, tmp_path: Path
) -> None:
    kill_after(shell_name, tmp_path, "before-act")
    async with playing(shell) as stage:
        await stage.engine.idle()
        found = await stage.engine.history("a")
        assert [(one.attempt, one.ended_as) for one in found.attempts] == [(1, "died"), (2, "done")]


_AS_BEFORE = (
    "DROP TABLE attempts",
    "DROP TABLE moments",
    "ALTER TABLE effects DROP COLUMN asked_by",
    "UPDATE meta SET value = 1 WHERE name = 'format'",
)


async def test_a_store_of_the_release_before_is_brought_up_to_date(
    shell: Shell, shell_name: str, tmp_path: Path
) -> None:
    async with playing(shell) as stage:
        await stage.do("a", Do("placed", effects=(Act("x"),)))
    if shell_name == "sqlite":
        with closing(sqlite3.connect(tmp_path / "engine.db")) as connection, connection:
            for statement in _AS_BEFORE:
                connection.execute(statement)
    else:
        with psycopg.connect(postgres_server.address(tmp_path), autocommit=True) as server:
            for statement in _AS_BEFORE:
                server.execute(statement.encode())
    async with playing(shell) as stage:
        await stage.do("a", Do("again", effects=(Act("y"),)))
        found = await stage.engine.history("a")
        assert [(act.id, act.asked_by is None) for act in found.acts] == [("x", True), ("y", False)]
        assert [one.effect for one in found.attempts] == ["y"]
