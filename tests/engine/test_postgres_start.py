"""What the PostgreSQL shell needs of its database, and says where it does not find it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from procrastinate.schema import SchemaManager

from bot.engine.port import CannotStart
from bot.engine.postgres import schema
from bot.engine.postgres.database import prepared
from tests.engine import postgres_server

Run = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a database without tables."""
    yield postgres_server.empty(tmp_path)
    postgres_server.drop(tmp_path)


@pytest.fixture
def run(address: str) -> Iterator[Run]:
    with psycopg.connect(address, autocommit=True) as connection:

        def execute(statement: str) -> list[tuple[Any, ...]]:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

        yield execute


async def test_an_empty_database_gets_its_tables_once(address: str, run: Run) -> None:
    for _ in range(2):
        await prepared(address, 1)
    meta: dict[str, int] = dict(run("SELECT name, value FROM meta"))
    assert meta == {"format": 2, "state_schema": 1, "procrastinate": max(schema.migrations())}


async def test_somebody_elses_database_is_refused(address: str, run: Run) -> None:
    run("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(CannotStart, match="tables of something else; give the bot a database of its own"):
        await prepared(address, 1)
    assert run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("recipes",)]


@pytest.mark.parametrize("name", ["format", "state_schema", "procrastinate"])
async def test_tables_of_a_newer_release_are_refused(address: str, run: Run, name: str) -> None:
    await prepared(address, 1)
    run(f"UPDATE meta SET value = 999999 WHERE name = '{name}'")  # noqa: S608
    with pytest.raises(CannotStart, match=rf"newer release \({name} 999999, this release knows"):
        await prepared(address, 1)


async def test_tables_of_an_older_procrastinate_are_brought_up_to_date(
    address: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = SchemaManager.get_schema()
    # As of 3.3: without what a failed job is retried by.
    older = re.sub(r",( -- not a state transition, but recording .*\n) *'retried'.*\n", r"\1", today)
    assert older != today
    with monkeypatch.context() as before:
        before.setattr(SchemaManager, "get_schema", lambda: older)
        await prepared(address, 1)
    run("DROP FUNCTION procrastinate_retry_job_v2; UPDATE meta SET value = 30300 WHERE name = 'procrastinate'")
    await prepared(address, 1)
    assert len(run("SELECT proname FROM pg_proc WHERE proname = 'procrastinate_retry_job_v2'")) == 1
    assert run("SELECT value FROM meta WHERE name = 'procrastinate'") == [(max(schema.migrations()),)]


async def test_a_server_that_is_too_old_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "OLDEST_SERVER", 99)
    with pytest.raises(CannotStart, match=r"PostgreSQL \d+ is too old, perf-gate needs 99 or newer"):
        await prepared(address, 1)


async def test_a_server_that_cannot_be_reached_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(CannotStart) as caught:
        await prepared(f"postgresql://bot:hunter2@/gate?host={tmp_path}", 1)
    assert f"database gate at {tmp_path} cannot be reached: " in str(caught.value)
    assert "is the server running" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_an_address_that_is_none_is_not_repeated() -> None:
    with pytest.raises(CannotStart, match=r"not of the form postgresql://") as caught:
        await prepared("postgresql://bot:hunter2@host/gate?pasword=hunter2", 1)
    assert "hunter2" not in str(caught.value)


async def test_a_role_that_may_not_make_tables_hears_what_it_needs(address: str, run: Run) -> None:
    run("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(CannotStart, match="make the bot's role the owner of the database"):
            await prepared(address.replace("postgres@", "guest@"), 1)
    finally:
        run("DROP ROLE guest")
